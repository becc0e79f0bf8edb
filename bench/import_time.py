"""What `import onebeat` costs on top of asyncio, in processor time: the median of many fresh interpreters."""

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
import {module}
print(time.process_time() - begin)
"""


def milliseconds(module: str, bytecode: str) -> float:
    """How long one fresh interpreter that has asyncio already takes to import *module*."""
    # Compiled once and kept, as in an installation, whatever this shell says of bytecode.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    program = [sys.executable, "-c", _PROGRAM.format(module=module)]
    ran = subprocess.run(program, capture_output=True, text=True, check=True, env=environment)
    return 1000 * float(ran.stdout)


def main() -> int:
    with TemporaryDirectory() as bytecode:
        milliseconds("onebeat", bytecode)
        taken = [milliseconds("onebeat", bytecode) for _ in range(_ROUNDS)]
    cost = median(taken)
    verdict = "PASS" if cost < _BAR else "FAIL"
    print(f"import onebeat, on top of asyncio: {cost:.0f} ms of processor time (bar: {_BAR:g}) {verdict}")
    return 0 if cost < _BAR else 1


if __name__ == "__main__":
    sys.exit(main())
