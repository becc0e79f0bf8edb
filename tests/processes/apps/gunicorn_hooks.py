"""gunicorn's settings: every worker starts a scheduler, from the one that was made before the fork."""

from __future__ import annotations

from tests.processes.apps.flask_app import scheduler


def post_worker_init(_: object) -> None:
    scheduler.start_background()
