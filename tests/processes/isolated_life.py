"""A scheduler whose body runs in a child: `python -m tests.processes.isolated_life BODY`.

The child says its process id on the stdout that it shares with its parent.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from onebeat import Scheduler
from onebeat.events import Event, SchedulerStopping


def say(what: object) -> None:
    os.write(1, f"{what}\n".encode())  # in one piece: two processes may speak at once


def sleeps() -> None:
    say(os.getpid())
    time.sleep(600)


def lost_in_foreign_code() -> None:
    """Lets no other thread of its process run, for years."""
    say(os.getpid())
    re.match("(a+)+$", "a" * 64 + "b")


def deaf() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(os.getpid())
    while True:
        with suppress(BaseException):
            time.sleep(600)


def say_stopping(event: Event) -> None:
    if isinstance(event, SchedulerStopping):
        say("stopping")


def main(body: Any) -> None:
    scheduler = Scheduler(shutdown_timeout=3600, observers=[say_stopping])
    scheduler.every(1, job_id="isolated", isolation="process")(body)
    scheduler.run()
    say("returned")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    main({"sleeps": sleeps, "lost": lost_in_foreign_code, "deaf": deaf}[sys.argv[1]])
