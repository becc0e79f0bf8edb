"""What onebeat costs a program before anything is served, in processor time on top of asyncio: to import it,
and to write two jobs down. The medians of many fresh interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

_ROUNDS = 15
_BAR = 60.0
_PROGRAM = """
import asyncio, time
begin = time.process_time()
{lines}
print(time.process_time() - begin)
"""
_IMPORT = "import onebeat"
_JOBS = """
from onebeat import Scheduler

scheduler = Scheduler()

@scheduler.cron("0 6 * * *", job_id="report")
async def report():
    pass

@scheduler.every(minutes=5, job_id="poll")
def poll():
    pass
"""
_STEPS = {"import onebeat": _IMPORT, "a scheduler with two jobs, import included": _JOBS}


def milliseconds(lines: str, bytecode: str) -> float:
    """How long one fresh interpreter that has asyncio already takes for *lines*."""
    # Compiled once and kept, as in an installation, whatever this shell says of bytecode.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    program = [sys.executable, "-c", _PROGRAM.format(lines=lines)]
    ran = subprocess.run(program, capture_output=True, text=True, check=True, env=environment)
    return 1000 * float(ran.stdout)


def main() -> int:
    kept = True
    with TemporaryDirectory() as bytecode:
        for what, lines in _STEPS.items():
            milliseconds(lines, bytecode)
            cost = median(milliseconds(lines, bytecode) for _ in range(_ROUNDS))
            verdict = "PASS" if cost < _BAR else "FAIL"
            print(f"{what}: {cost:.0f} ms of processor time on top of asyncio (bar: {_BAR:g}) {verdict}")
            kept = kept and cost < _BAR
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
