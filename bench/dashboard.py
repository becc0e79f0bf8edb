"""What the dashboard costs whoever opens it: a server of its own over PostgreSQL, filled.

    python -m bench.dashboard

First bytes of Overview over 1,000 jobs and a million ticks: the very first, then one after the other, then
after pauses in which all that is remembered grows old. The size of the page, with its stylesheets and its
script. And over 10,000 jobs: the page, the search, the last page.
"""

from __future__ import annotations

import http.client
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.browser.filled import fill
from tests.browser.programs import Server
from tests.servers.postgres import Postgres

_FIRST_BYTE = 150.0  # ms
_SIZE = 150_000  # bytes
_ROUNDS = 20
_PAUSES = 8
_PAUSE = 7.0  # seconds: longer than anything is remembered
_APP = "bench"
_LINKED = re.compile(r'<(?:link rel="stylesheet" href|script src)="([^"]+)"')


class Visit:
    """One answer: milliseconds to its first byte and to its last, and the page."""

    def __init__(self, url: str, path: str) -> None:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=60)
        connection.connect()
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        self.first = (time.perf_counter() - began) * 1_000
        self.text = answer.read().decode()
        self.whole = (time.perf_counter() - began) * 1_000
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered with {answer.status}:\n{self.text[:2000]}")


@contextmanager
def served(postgres: Postgres, *, jobs: int, each: int) -> Iterator[str]:
    """The address of a dashboard that nobody has looked at yet."""
    dsn = postgres.dsn(postgres.new_database())
    fill(dsn, app=_APP, jobs=jobs, each=each)
    with tempfile.TemporaryDirectory() as folder, Server(dsn, Path(folder), _APP) as server:
        yield server.url


def told(what: str, times: list[float], bar: float | None) -> bool:
    """Whether the slowest of them is within *bar*, printed."""
    good = bar is None or max(times) <= bar
    verdict = "" if bar is None else "PASS" if good else "FAIL"
    print(
        f"{what:58} median {statistics.median(times):7.1f} ms, worst {max(times):7.1f} ms  {verdict}",
        flush=True,
    )
    return good


def first_bytes(url: str) -> bool:
    good = told("the very first", [Visit(url, "/").first], _FIRST_BYTE)
    good &= told(
        f"{_ROUNDS}, one after the other", [Visit(url, "/").first for _ in range(_ROUNDS)], _FIRST_BYTE
    )
    after_pauses = []
    for _ in range(_PAUSES):
        time.sleep(_PAUSE)
        after_pauses.append(Visit(url, "/").first)
    return good & told(f"{_PAUSES}, {_PAUSE:g} s apart", after_pauses, _FIRST_BYTE)


def others(url: str) -> None:
    """The other pages, which have no bar: the first time, and then."""
    for path in ("/job?id=team+7%2Fjob+00007", "/calendar", "/fleet", "/audit"):
        told(f"{path}, the first time", [Visit(url, path).first], None)
        told(f"{path}, then", [Visit(url, path).first for _ in range(_ROUNDS)], None)


def size(url: str) -> bool:
    page = Visit(url, "/").text
    linked = [Visit(url, path).text for path in _LINKED.findall(page)]
    total = sum(len(text.encode()) for text in (page, *linked))
    good = total <= _SIZE
    print(
        f"{'a full page with its styles and script':58} {total / 1_000:.0f} kB  {'PASS' if good else 'FAIL'}"
    )
    return good


def crowd(url: str) -> None:
    told("the very first of 10,000 jobs", [Visit(url, "/").first], None)
    for what, path in (
        ("a page of 10,000 jobs", "/"),
        ("a search among them", "/?search=09876"),
        ("a prefix of them, sorted", "/?prefix=team+7/&sort=next"),
    ):
        told(what, [Visit(url, path).whole for _ in range(_ROUNDS)], None)


def main() -> int:
    with Postgres() as postgres:
        with served(postgres, jobs=1_000, each=1_000) as url:
            good = first_bytes(url) & size(url)
            others(url)
        with served(postgres, jobs=10_000, each=20) as url:
            crowd(url)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
