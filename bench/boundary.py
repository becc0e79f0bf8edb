"""Many jobs due at one instant, three replicas, PostgreSQL: when bodies begin, with how many statements.

    python -m bench.boundary

Each figure is the median of five runs, each on an empty database of a server that syncs to disk.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.servers.postgres import Postgres

_REPLICAS = 3
_RUNS = 5
_BARS = {1_000: 0.150, 10_000: 1.0}
_MOST_STATEMENTS = 12
_MOST_OF_ANY_KIND = 30


@dataclass(frozen=True)
class Run:
    median: float
    p99: float
    claims: int
    releases: int
    statements: int
    shares: list[int]


def measured(server: Postgres, jobs: int) -> Run:
    database = server.new_database()
    dsn = server.dsn(database)
    lead = 8 + jobs // 2_500
    instant = int(time.time()) + lead
    replicas = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.boundary_replica", dsn, str(jobs), str(instant)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(_REPLICAS)
    ]
    time.sleep(instant - 0.9 - time.time())
    server.run("SELECT pg_stat_statements_reset()")
    answers = [json.loads(replica.communicate(timeout=120)[0]) for replica in replicas]
    began = sorted(start for answer in answers for start in answer)
    assert len(began) == jobs, f"{len(began)} runs of {jobs} jobs"
    return Run(
        statistics.median(began),
        began[int(len(began) * 0.99)],
        _calls(server, "onebeat_claim("),
        _calls(server, "onebeat_release("),
        _calls(server, ""),
        [len(answer) for answer in answers],
    )


def _calls(server: Postgres, told: str) -> int:
    """Of how many statements the text holds *told*; those of the measurement itself apart."""
    rows = server.run("SELECT query, calls FROM pg_stat_statements WHERE toplevel")
    return sum(calls for query, calls in rows if told in query and "pg_stat_statements" not in query)


def fsync_time(folder: Path) -> float:
    """The median time one small write takes to reach the disk, in seconds."""
    times = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(200):
            file.write(b"x" * 8192)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> int:
    settings = {"fsync": "on", "shared_preload_libraries": "pg_stat_statements"}
    good = True
    with Postgres(**settings) as server:
        server.run("CREATE EXTENSION pg_stat_statements")
        fsync = fsync_time(server.folder) * 1_000
        print(
            f"{os.cpu_count()} cores, fdatasync {fsync:.2f} ms, {_REPLICAS} replicas, median of {_RUNS} runs"
        )
        for jobs, bar in _BARS.items():
            runs = [measured(server, jobs) for _ in range(_RUNS)]
            median = statistics.median(run.median for run in runs)
            claims, releases = max(run.claims for run in runs), max(run.releases for run in runs)
            in_all = max(run.statements for run in runs)
            few = max(claims, releases) <= _MOST_STATEMENTS and in_all <= _MOST_OF_ANY_KIND
            met = median <= bar and (jobs > 1_000 or few)
            good &= met
            print(
                f"{jobs:6} jobs: body starts {median * 1_000:.0f} ms after the instant at the median "
                f"(bar {bar * 1_000:.0f}), p99 {statistics.median(run.p99 for run in runs) * 1_000:.0f} ms; "
                f"at most {claims} claim and {releases} release statements, {in_all} of any kind; "
                f"shares {runs[-1].shares}; "
                f"{'PASS' if met else 'FAIL'}"
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
