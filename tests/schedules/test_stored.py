"""A schedule read back from the text its job was registered with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.schedule import Schedule, for_job
from onebeat.schedules.closed import dates, weekdays
from onebeat.schedules.cron import cron
from onebeat.schedules.daily import daily
from onebeat.schedules.every import every
from onebeat.schedules.fingerprint import text_of
from onebeat.schedules.hourly import hourly
from onebeat.schedules.stored import stored
from tests.schedules.expressions import CHANGES, folds, gaps, specs

_END = datetime(2027, 1, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30)))
_ZONES = st.sampled_from(sorted(CHANGES))
_SETTINGS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"tz": _ZONES, "gap": gaps, "fold": folds}),
    st.fixed_dictionaries({"tz": _ZONES, "policy": st.just("vixie")}),
    st.just({}),
)


def _crons(*, extended: bool, seconds: bool) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda spec, settings: cron(spec.text, extended=extended, seconds=seconds, **settings),
        specs(extended=extended, seconds=seconds),
        _SETTINGS,
    )


def _leaves() -> st.SearchStrategy[Any]:
    hashed = st.sampled_from(["H H * * *", "H/15 * * * *", "H(0-29)/10 3 * * mon-fri", "0 H 1 * *"])
    minutes = st.lists(st.integers(0, 59), min_size=1, max_size=5, unique=True)
    return st.one_of(
        _crons(extended=True, seconds=True),
        _crons(extended=True, seconds=False),
        _crons(extended=False, seconds=False),
        st.builds(lambda text, settings: cron(text, extended=True, **settings), hashed, _SETTINGS),
        st.sampled_from(["@daily", "@every 90s", "TZ=Asia/Kathmandu 0 9 * * 1"]).map(cron),
        st.integers(1, 10**9).map(every),
        st.builds(lambda minutes, settings: hourly(*minutes, **settings), minutes, _SETTINGS),
        st.builds(
            lambda hour, minute, settings: daily(hour, minute, **settings),
            st.integers(0, 23),
            st.integers(0, 59),
            _SETTINGS,
        ),
    )


def _days_off() -> st.SearchStrategy[Any]:
    names = st.lists(st.sampled_from(["sun", "mon", "TUE", "sat"]), min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda days, tz: dates(*days, tz=tz), st.lists(st.dates(), min_size=1, max_size=3), _ZONES),
        st.builds(lambda names, tz: weekdays(*names, tz=tz), names, _ZONES),
    )


def _made_of(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    instants = st.datetimes(timezones=st.just(UTC)).map(
        lambda moment: max(moment, datetime(9, 1, 1, tzinfo=UTC))
    )
    return st.one_of(
        # A union of one is another value than its part, and shown alike.
        st.builds(lambda left, right: left if left == right else left | right, parts, parts),
        st.builds(lambda left, right: left - right, parts, st.one_of(parts, _days_off())),
        st.builds(lambda part, end: part.until(end), parts, instants),
        st.builds(lambda part, end: part.between(end - timedelta(microseconds=7), end), parts, instants),
    )


@given(st.recursive(_leaves(), _made_of, max_leaves=5), st.text(max_size=3))
def test_every_schedule_of_ours_is_read_back_as_what_it_was(schedule: Any, job_id: str) -> None:
    registered = for_job(schedule, job_id)
    text = text_of(registered)
    assert stored(text) == (None if text.endswith("…") else registered)


def test_hashed_parts_that_are_drawn_alike_count_once() -> None:
    hashed = cron("H 3 * * *", extended=True) | cron("H 3-3 * * *", extended=True) | daily(9)
    bound = for_job(hashed, "report")
    assert bound == for_job(cron("H 3 * * *", extended=True), "report") | daily(9)
    assert stored(text_of(bound)) == bound


def test_days_off_and_bounds_are_read_back() -> None:
    for schedule in (
        daily(9) - dates("2026-12-25", "2027-01-01", tz="Europe/Berlin") - weekdays("sat", "sun"),
        (hourly(5, 35) | every(minutes=7)).until(_END),
        cron("0 9 * * 1-5", tz="Europe/Berlin", gap="after").between(_END, _END + timedelta(days=1)),
        every(1) - (cron("* * * * *") - daily(2, 30, policy="vixie", tz="Europe/Berlin")),
    ):
        assert stored(text_of(schedule)) == schedule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None",
        "1",
        "'0 9 * * *'",
        "0 9 * * *",
        "<tests.Elsewhere object>",
        "Elsewhere(5)",
        "every",
        "every()",
        "every(minutes=0)",
        "every(minutes=1, seconds=0)",  # not as it is written by us
        "every(**{'minutes': 1})",
        "every(*[60])",
        "every(minutes=1.5)",
        "every(minutes=1e999)",
        f"every(seconds={'9' * 400})",
        "every(nothing=1)",
        "every(minutes=1) ",
        "every(minutes=1)  # so be it",
        "every(minutes=1) | '0 9 * * *'",
        "every(minutes=1) | 5",
        "every(minutes=1) - 5",
        "every(minutes=1) & every(minutes=2)",
        "every(minutes=1).until",
        "every(minutes=1).until(5)",
        "every(minutes=1).until(datetime.datetime(2026, 1, 1))",
        "every(minutes=1).until(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc, fold=1))",
        "every(minutes=1).until(datetime.datetime(2026, 13, 1, 0, 0, tzinfo=datetime.timezone.utc))",
        "every(minutes=1).until(datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.min))",
        "every(minutes=1).until(datetime.datetime('2026', 1, 1, 0, 0, tzinfo=datetime.timezone.utc))",
        "every(minutes=1).for_job('a')",
        "every(minutes=1).__class__",
        "every.__class__(minutes=1)",
        "cron('0 9 * * *', tz='local')",
        "cron('0 9 * * *', tz='Atlantis')",
        "cron('0 9 * * *', 'Europe/Berlin')",
        "cron('0 9 * * *', policy='vixie')",  # shown as what it says
        "cron('H 9 * * *', extended=True)",  # unbound
        "cron('H 9 * * *', extended=True) | every(minutes=1)",
        "every(minutes=1) - cron('H 9 * * *', extended=True)",
        "cron('0 9 * *…",
        "cron('\\x30 9 * * *')",
        "cron(every(minutes=1))",
        "dates('2026-01-01')",
        "dates('2026-01-01') - every(minutes=1)",
        "__import__('os').getpid()",
        "(lambda: every(minutes=1))()",
        "[every(minutes=1) for _ in ()]",
        "(" * 249 + "1" + ")" * 249,
        "-" * 499 + "1",
        "every(minutes=1)" + ".until(1)" * 50,
        "9" * 500,
        "9**9**9**9",
        "every(minutes=9**9**9)",
        "every(minutes=1)\0",
        "every(minutes=1)\ud800",
        "every(minutes=1) | " * 1_000_000 + "every(minutes=1)",
    ],
)
def test_what_no_schedule_of_ours_is_shown_as_is_none(text: str) -> None:
    assert stored(text) is None


@given(st.text(max_size=60) | st.text("cronevy(minutes=1)|-.'* \\", max_size=60))
def test_whatever_is_read_is_what_is_written_there(text: str) -> None:
    schedule: Schedule | None = stored(text)
    assert schedule is None or text_of(schedule) == text
