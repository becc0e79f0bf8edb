"""What a replica asks of PostgreSQL when it starts with many jobs, and while nothing is due.

    python -m bench.fleet

Every statement counts that the server counts, a pool's own checks apart: those are listed.
"""

from __future__ import annotations

import subprocess
import sys
import time

from tests.servers.postgres import Postgres

_JOBS = 10_000
_MOST_AT_START = 5
_MOST_A_MINUTE = 5
_IDLE = 120.0


def statements(server: Postgres) -> tuple[int, dict[str, int]]:
    """How many there were since the last reset, and which; without those of the measurement itself."""
    rows = server.run("SELECT query, calls FROM pg_stat_statements WHERE toplevel")
    ours = {query: calls for query, calls in rows if "pg_stat_statements" not in query}
    return sum(ours.values()), ours


def main() -> int:
    with Postgres(shared_preload_libraries="pg_stat_statements") as server:
        server.run("CREATE EXTENSION pg_stat_statements")
        dsn = server.dsn(server.new_database())
        # The tables are there, as on every start but the first.
        subprocess.run(
            [sys.executable, "-m", "onebeat", "migrate", dsn], check=True, stdout=subprocess.DEVNULL
        )
        server.run("SELECT pg_stat_statements_reset()")
        replica = subprocess.Popen(
            [sys.executable, "-m", "bench.fleet_replica", dsn, str(_JOBS)], stdout=subprocess.PIPE, text=True
        )
        assert replica.stdout is not None  # opened as a pipe
        replica.stdout.readline()
        time.sleep(5)
        at_start, which = statements(server)
        server.run("SELECT pg_stat_statements_reset()")
        time.sleep(_IDLE)
        idle, idle_which = statements(server)
        replica.terminate()
        replica.communicate()
    a_minute = idle / (_IDLE / 60)
    good = at_start <= _MOST_AT_START and a_minute <= _MOST_A_MINUTE
    print(f"{_JOBS} jobs: {at_start} statements at start (bar {_MOST_AT_START})")
    print(f"idle: {a_minute:.1f} statements a minute (bar {_MOST_A_MINUTE})")
    for query, calls in (which | idle_which).items():
        print(f"  {calls:3} × {' '.join(query.split())[:90]}")
    print("PASS" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
