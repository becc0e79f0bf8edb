"""Jobs that share a limit with the fleet: `python -m tests.processes.limited STORE LABEL LEDGER`."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from onebeat import Limit, Run, Scheduler
from onebeat.cli.replicas import stop_with_parent
from tests.processes.records import recorded

MOST = 2
JOBS = 6


def main(store: str, label: str, ledger: Path) -> None:
    # A timeout of an hour: what a killed replica held comes back because it is dead, or not in this test.
    limits = [Limit("mail.", MOST, fleet=True)]
    scheduler = Scheduler(store, replica=label, ttl=2, timeout=3600, limits=limits)

    def body(run: Run) -> None:
        with recorded(ledger, run, label):
            run.wait(0.4)

    for number in range(JOBS):
        scheduler.every(1, job_id=f"mail.{number}")(body)
    stop_with_parent()
    scheduler.run()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
