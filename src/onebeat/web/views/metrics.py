"""A fleet in numbers, in Prometheus' text format (0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from onebeat.insight.wellness import Fleet
from onebeat.model import Verdict

LATELY = timedelta(hours=1)
"""Of how long ticks are counted."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """One metric: its samples are pairs of labels and a value."""

    name: str
    means: str
    samples: Sequence[tuple[Mapping[str, str], float]]

    def __str__(self) -> str:
        lines = [f"# HELP {self.name} {self.means}", f"# TYPE {self.name} gauge"]
        lines += [f"{self.name}{_labels(labels)} {_number(value)}" for labels, value in self.samples]
        return "\n".join(lines) + "\n"


def metrics_text(gauges: Iterable[Gauge]) -> str:
    """All of them."""
    return "".join(map(str, gauges))


def store_gauge(app: str, answers: bool) -> Gauge:
    return _one("onebeat_store_up", "Whether the store answers.", app, answers)


def fleet_gauges(fleet: Fleet, counts: Mapping[Verdict, int], app: str) -> list[Gauge]:
    """Those of the whole fleet, however many jobs it has."""
    skews = [abs(replica.skew) for replica in fleet.living]
    replicas = [({"app": app, "state": "living"}, len(fleet.living))]
    replicas.append(({"app": app, "state": "silent"}, len(fleet.silent)))
    ticks = [({"app": app, "verdict": verdict.value}, counts.get(verdict, 0)) for verdict in Verdict]
    return [
        _one(
            "onebeat_fleet_troubles", "Why the fleet is not well: how many reasons.", app, len(fleet.troubles)
        ),
        _one("onebeat_jobs", "Jobs that some replica has registered.", app, len(fleet.jobs)),
        _one("onebeat_jobs_failing", "Jobs whose last runs did not end well.", app, len(fleet.failing)),
        _one("onebeat_jobs_paused", "Jobs that a pause covers.", app, len(fleet.paused)),
        _one("onebeat_runs", "Ticks that are claimed and not released.", app, len(fleet.running)),
        Gauge("onebeat_replicas", "Replicas that beat, and those fallen silent.", replicas),
        _one("onebeat_clock_skew_seconds", "The largest of a living replica.", app, max(skews, default=0)),
        Gauge("onebeat_ticks_last_hour", "Ticks scheduled within the last hour, by verdict.", ticks),
    ]


def job_gauges(fleet: Fleet, app: str) -> list[Gauge]:
    """Those of each job. A job that never succeeded has no last success."""
    named = [({"app": app, "job_name": job.job_id}, job) for job in fleet.jobs]
    return [
        Gauge(
            "onebeat_job_failures",
            "Runs in a row that did not end well.",
            [(labels, job.failures) for labels, job in named],
        ),
        Gauge(
            "onebeat_job_last_success_timestamp_seconds",
            "When a run last ended well.",
            [
                (labels, job.last_success_at.timestamp())
                for labels, job in named
                if job.last_success_at is not None
            ],
        ),
        Gauge(
            "onebeat_job_paused",
            "Whether a pause covers it.",
            [(labels, job.paused_until is not None) for labels, job in named],
        ),
    ]


def _one(name: str, means: str, app: str, value: float) -> Gauge:
    return Gauge(name, means, [({"app": app}, value)])


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return repr(float(value)) if isinstance(value, float) else str(int(value))
