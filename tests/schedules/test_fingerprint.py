"""What replicas compare of their schedules, and what they show."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from onebeat.schedule import Schedule
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.every import every
from onebeat.schedules.fingerprint import digest_of, text_of
from onebeat.schedules.hourly import hourly
from onebeat.schedules.wall import Wall


class Elsewhere:
    """A schedule of another house: due once, with the default repr."""

    def __init__(self, due: datetime | None, error: BaseException | None = None) -> None:
        self.due, self.error = due, error

    def next_after(self, moment: datetime) -> datetime | None:
        if self.error is not None:
            raise self.error
        return self.due

    def previous_before(self, moment: datetime) -> datetime | None:
        return None

    def matches(self, moment: datetime) -> bool:
        return False


@dataclass(frozen=True)
class Wordy:
    """A schedule whose repr is long, or raises, or cannot be stored."""

    text: str

    def __repr__(self) -> str:
        if not self.text:
            raise RuntimeError
        return self.text

    def next_after(self, moment: datetime) -> datetime | None:
        return None

    previous_before = next_after

    def matches(self, moment: datetime) -> bool:
        return False


DIFFERENT: list[Schedule] = [
    cron("*/15 9-17 * * MON-FRI"),
    cron("0-30/15 9-17 * * MON-FRI"),
    cron("0 9 * * *"),
    cron("0 9 * * *", "Europe/Berlin"),
    cron("0 9 * * *", "Europe/Paris"),
    cron("0 9 * * *", "Europe/Berlin", gap="after"),
    cron("0 9 * * *", "Europe/Berlin", fold="first"),
    cron("0 0 30 2 *"),
    cron("0 0 31 2 *"),
    every(60),
    every(30),
    hourly(0),
    hourly(0, 30),
    daily(3, 30),
    Elsewhere(datetime(2040, 1, 1, tzinfo=UTC)),
    Elsewhere(datetime(2040, 1, 2, tzinfo=UTC)),
]


def test_schedules_that_differ_have_different_digests() -> None:
    """F-DRIFT: a fingerprint tells schedules apart by rule, zone and next instants."""
    digests = {digest_of(schedule) for schedule in DIFFERENT}
    assert len(digests) == len(DIFFERENT)
    assert all(len(digest) == 16 and int(digest, 16) >= 0 for digest in digests)


def test_equal_schedules_have_one_digest_however_they_are_spelled() -> None:
    """F-DRIFT: another spelling is not another schedule."""
    pairs = (("@daily", "0 0 * * *"), ("@every 60s", "@every 1m"), ("0 9 * * 1-5", "0 9 ? * MON-FRI"))
    for one, other in pairs:
        assert digest_of(cron(other)) == digest_of(cron(one))


def test_a_digest_is_the_same_in_every_process() -> None:
    """F-DRIFT: replicas compare digests, so nothing of a process may show in them."""
    program = (
        "from onebeat import cron; from onebeat.schedules.fingerprint import digest_of;"
        "print(digest_of(cron('0 9 * * 5#2', 'Europe/Berlin', extended=True)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(told) == 1


def test_a_digest_changes_with_the_zone_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-DRIFT: a replica whose zone database differs names other instants, and its digest says so."""
    schedule = daily(9, tz="Africa/Cairo")
    plain, window = digest_of(schedule), Wall.window
    monkeypatch.setattr(
        Wall, "window", lambda wall, at: (found := window(wall, at))._replace(offset=found.offset + 3600)
    )
    assert digest_of(schedule) != plain


@pytest.mark.parametrize("error", [RuntimeError(), SystemExit()], ids=repr)
def test_a_schedule_that_raises_has_the_constant_digest(error: BaseException) -> None:
    """F-DRIFT: a schedule written elsewhere may raise; registering it does not."""
    assert digest_of(Elsewhere(None, error)) == "0" * 16


def test_a_text_is_readable_bounded_and_storable() -> None:
    """F-DRIFT: what is registered of a schedule is the same on every replica and fits every store."""
    assert text_of(cron("0 9 * * *", "Europe/Berlin")) == "cron('0 9 * * *', tz='Europe/Berlin')"
    assert "0x" not in text_of(Elsewhere(None))
    assert text_of(Elsewhere(None)) == text_of(Elsewhere(None))
    assert text_of(Wordy("")) == "Wordy"
    assert text_of(Wordy("a\0b\nc\ud800d")) == "a b c d"
    assert text_of(Wordy("x" * 501)) == "x" * 499 + "…"
    assert text_of(Wordy("x" * 500)) == "x" * 500
