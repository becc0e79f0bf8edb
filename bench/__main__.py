"""Every measurement behind the figures in the docs, one after the other; fails if a bar is missed."""

from __future__ import annotations

import sys

from bench import boundary, dashboard, fleet, history, idle, import_time, next_instants


def main() -> int:
    missed = 0
    for measurement in (import_time, next_instants, idle, fleet, history, boundary, dashboard):
        print(f"\n== {measurement.__name__}", flush=True)
        missed += measurement.main()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
