"""Next instants, reading, size and never-dates, beside croniter, cronsim and APScheduler in the same run.

Times are processor time of this thread, the best of several rounds, so that a busy machine shows less.
Needs croniter, cronsim and apscheduler; `python bench/next_instants.py` exits 1 when a bar is missed.
"""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from time import perf_counter, thread_time
from typing import NamedTuple
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]
from croniter import croniter  # type: ignore[import-untyped]
from cronsim import CronSim

from onebeat.schedules.cron import cron
from onebeat.schedules.fields import read_field

_START = datetime(2026, 5, 5, 12, 3, 4, tzinfo=UTC)
_ZONES = ("UTC", "America/New_York")
_TEXTS = (
    "* * * * *",
    "*/15 * * * *",
    "0 * * * *",
    "*/10 9-17 * * MON-FRI",
    "30 2 * * *",
    "0 9 * * MON-FRI",
    "0 0 * * SUN",
    "0 0 1,15 * *",
    "0 0 1 * *",
    "0 0 1 1 *",
    "0 0 29 2 *",
)
_NEVER = ("0 0 30 2 *", "0 0 31 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31W 2,4,6 *", "0 0 L-30 2,4,6,9,11 *")
_STEPS = {"onebeat": 400, "croniter": 60, "cronsim": 60, "apscheduler": 60}
_ROUNDS = 5
_BARS = {"croniter": 20.0, "cronsim": 10.0, "apscheduler": 10.0}

Chain = Callable[[str, str, int], None]


def _onebeat(text: str, tz: str, steps: int) -> None:
    schedule, moment = cron(text, tz), _START
    for _ in range(steps):
        due = schedule.next_after(moment)
        assert due is not None
        moment = due


def _croniter(text: str, tz: str, steps: int) -> None:
    instants = croniter(text, _START.astimezone(ZoneInfo(tz)))
    for _ in range(steps):
        instants.get_next(datetime)


def _cronsim(text: str, tz: str, steps: int) -> None:
    instants = CronSim(text, _START.astimezone(ZoneInfo(tz)))
    for _ in range(steps):
        next(instants)


def _apscheduler(text: str, tz: str, steps: int) -> None:
    trigger = CronTrigger.from_crontab(text, timezone=ZoneInfo(tz))
    moment = _START.astimezone(ZoneInfo(tz))
    for _ in range(steps):
        moment = trigger.get_next_fire_time(moment, moment)


_CHAINS: dict[str, Chain] = {
    "onebeat": _onebeat,
    "croniter": _croniter,
    "cronsim": _cronsim,
    "apscheduler": _apscheduler,
}


class Bar(NamedTuple):
    """A promise and what was measured of it."""

    promise: str
    measured: str
    kept: bool


def microseconds(text: str, tz: str) -> dict[str, float]:
    """One next instant of *text*, in a chain of them, for each library; the rounds interleaved."""
    best = dict.fromkeys(_CHAINS, float("inf"))
    for _ in range(_ROUNDS):
        for name, chain in _CHAINS.items():
            steps = _STEPS[name] if "29 2" not in text else 20
            begin = thread_time()
            chain(text, tz, steps)
            best[name] = min(best[name], (thread_time() - begin) / steps * 1e6)
    return best


def next_instants(tz: str) -> Iterator[Bar]:
    """A line a text; the bars are over all of them, each weighing the same number of instants."""
    print(f"\nnext instant in {tz}, microseconds (and how many times as fast onebeat is)")
    print(f"{'':24}" + "".join(f"{name:>20}" for name in _CHAINS))
    totals = dict.fromkeys(_CHAINS, 0.0)
    for text in _TEXTS:
        taken = microseconds(text, tz)
        _print_row(text, taken)
        for name in totals:
            totals[name] += taken[name]
    _print_row("all", totals)
    for name, bar in _BARS.items():
        ratio = totals[name] / totals["onebeat"]
        yield Bar(f"next instant at least {bar:.0f} times {name}, {tz}", f"{ratio:.1f}", ratio >= bar)


def _print_row(label: str, taken: dict[str, float]) -> None:
    cells = (f"{value:8.2f} ({value / taken['onebeat']:6.1f}x)" for value in taken.values())
    print(f"{label:24}" + "".join(f"{cell:>20}" for cell in cells))


def reading() -> Bar:
    """Texts not read before, with no field remembered from another run."""
    chance = random.Random(7)
    texts = [
        f"{chance.randrange(60)},{chance.randrange(60)} {chance.randrange(12)}-{chance.randrange(12, 24)}/3 "
        f"{chance.choice(['*', '1-7', '15', '*/2'])} * {chance.choice(['*', 'MON-FRI', '1,3,5'])}"
        for _ in range(400)
    ]
    taken = {"onebeat": float("inf"), "croniter": float("inf")}
    for _ in range(_ROUNDS):
        read_field.cache_clear()
        for name, read in (("onebeat", cron), ("croniter", croniter)):
            begin = thread_time()
            for text in texts:
                read(text)
            taken[name] = min(taken[name], (thread_time() - begin) / len(texts) * 1e6)
    ratio = taken["croniter"] / taken["onebeat"]
    print(f"\nreading a text: onebeat {taken['onebeat']:.1f} µs, croniter {taken['croniter']:.1f} µs")
    return Bar("reading at least 10 times croniter", f"{ratio:.1f}", ratio >= 10)


def size() -> Bar:
    """Bytes a schedule, over 10,000 different ones; what they share is counted once, with them."""
    texts = [f"{n % 60} {n // 60 % 24} {n // 1440 + 1} * *" for n in range(10_000)]
    read_field.cache_clear()
    gc.collect()
    tracemalloc.start()
    kept = [cron(text, "America/New_York") for text in texts]
    gc.collect()
    each = tracemalloc.get_traced_memory()[0] / len(kept)
    tracemalloc.stop()
    return Bar("at most 400 bytes a schedule", f"{each:.0f}", each <= 400)


def never() -> Bar:
    """The slowest first answer of a date that never comes."""
    slowest = 0.0
    for tz in _ZONES:
        for text in _NEVER:
            schedule = cron(text, tz, extended=True)
            begin = perf_counter()
            assert schedule.next_after(_START) is None
            slowest = max(slowest, (perf_counter() - begin) * 1e3)
    return Bar("every never-date under 1 ms", f"{slowest:.3f} ms", slowest < 1)


def main() -> int:
    bars = [bar for tz in _ZONES for bar in next_instants(tz)]
    bars += [reading(), size(), never()]
    print()
    for bar in bars:
        print(f"{'PASS' if bar.kept else 'FAIL'}  {bar.promise}: {bar.measured}")
    return 0 if all(bar.kept for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
