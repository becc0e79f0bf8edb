"""The jobs of a scheduler, as a forecast takes them."""

from __future__ import annotations

from onebeat.engine.job import Job
from onebeat.insight.forecast import Coming


def coming_of(job: Job, seconds: float) -> Coming:
    """What *job* will bring where its body takes *seconds*."""
    return Coming(job.id, job.schedule, seconds, overlaps=job.policy.overlap == "allow")
