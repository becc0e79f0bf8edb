"""One replica: `python -m tests.browser.replica DSN LABEL`; says "ready" when its scheduler has started."""

from __future__ import annotations

import logging
import sys

from onebeat.cli.replicas import stop_with_parent
from onebeat.events import Event, SchedulerStarted
from tests.browser.jobs import scheduler_on


def tell(event: Event) -> None:
    if isinstance(event, SchedulerStarted):
        print("ready", flush=True)


if __name__ == "__main__":
    stop_with_parent(patience=10)
    logging.basicConfig(level=logging.CRITICAL)  # what fails here is meant to
    scheduler_on(sys.argv[1], sys.argv[2], tell).run()
