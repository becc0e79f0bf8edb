"""Random cron texts with their meaning, zones, and instants near the changes of their offsets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from tests.schedules.oracle import (
    Part,
    Spec,
    is_last_weekday,
    is_nearest_workday,
    is_nth_weekday,
    month_length,
)

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_NAMES = {(1, 12): _MONTHS, (0, 6): _WEEKDAYS}

# Half-hour shifts, whole days skipped, shifts at midnight, shifts a week apart, two-hour shifts, 00:01.
CHANGES = {
    "UTC": ["2026-03-29T01:00"],
    "America/New_York": ["2026-03-08T07:00", "2026-11-01T06:00"],
    "Europe/Berlin": ["2027-03-28T01:00", "2027-10-31T01:00"],
    "Europe/Dublin": ["2026-03-29T01:00", "2026-10-25T01:00"],
    "Australia/Lord_Howe": ["2026-04-04T15:00", "2026-10-03T15:30", "1985-10-19T14:00"],
    "Pacific/Apia": ["2011-12-30T10:00", "2012-03-31T14:00"],
    "Pacific/Kwajalein": ["1993-08-21T12:00"],
    "Pacific/Kiritimati": ["1994-12-31T10:40"],
    "Asia/Kathmandu": ["1985-12-31T18:30"],
    "America/Sao_Paulo": ["2018-11-04T03:00", "2019-02-17T02:00"],
    "America/Boa_Vista": ["2000-10-08T04:00", "2000-10-15T03:00"],
    "America/Havana": ["2026-03-08T05:00", "2026-11-01T05:00"],
    "Africa/Cairo": ["2026-04-23T22:00", "2026-10-29T21:00", "2010-09-09T21:00"],
    "Africa/Casablanca": ["2026-02-15T02:00", "2026-03-22T02:00", "2087-05-11T02:00"],
    "Asia/Gaza": ["2040-10-20T22:00", "2040-10-26T23:00"],
    "Asia/Amman": ["2021-10-28T22:00"],
    "Antarctica/Troll": ["2026-03-29T01:00", "2026-10-25T01:00"],
    "Antarctica/Casey": ["2019-03-16T16:00"],
    "America/St_Johns": ["2006-04-02T03:31", "2006-10-29T02:31"],
    "Asia/Pyongyang": ["2015-08-14T15:00", "2018-05-04T15:00"],
    "America/Caracas": ["2007-12-09T07:00", "2016-05-01T07:00"],
}


def _part(low: int, high: int, extended: bool) -> st.SearchStrategy[Part]:
    whole = frozenset(range(low, high + 1))
    names = _NAMES.get((low, high))
    values = st.integers(low, high)
    steps = st.integers(1, (high - low) * 3 // 2)

    def written(value: int, name: bool) -> str:
        return names[value - low].upper() if names and name else f"{value:02d}" if name else str(value)

    def spread(start: int, end: int, step: int, name: bool, with_step: bool) -> Part:
        text = f"{written(start, name)}-{written(end, name)}" + (f"/{step}" if with_step else "")
        run = [*range(start, high + 1), *range(low, end + 1)] if start > end else list(range(start, end + 1))
        return Part(text, frozenset(run[:: step if with_step else 1]))

    spans = st.tuples(values, values).map(lambda pair: pair if extended else (min(pair), max(pair)))
    return st.one_of(
        st.sampled_from("*?").map(lambda star: Part(star, whole, star=True)),
        st.tuples(st.sampled_from("*?"), steps).map(
            lambda found: Part(
                f"{found[0]}/{found[1]}", frozenset(range(low, high + 1, found[1])), star=found[1] == 1
            )
        ),
        st.tuples(values, st.booleans()).map(lambda found: Part(written(*found), frozenset({found[0]}))),
        st.tuples(values, steps).map(
            lambda found: Part(f"{found[0]}/{found[1]}", frozenset(range(found[0], high + 1, found[1])))
        ),
        st.tuples(spans, steps, st.booleans(), st.booleans()).map(
            lambda found: spread(*found[0], found[1], found[2], found[3])
        ),
    )


def _rare_monthdays() -> st.SearchStrategy[Part]:
    return st.one_of(
        st.integers(0, 30).map(
            lambda n: Part(f"L-{n}" if n else "L", day_test=lambda day: day.day == month_length(day) - n)
        ),
        st.integers(1, 31).map(
            lambda n: Part(f"{n}W", day_test=lambda day: is_nearest_workday(day, n)),
        ),
        st.integers(0, 10).map(
            lambda n: Part(
                f"L-{n}W" if n else "lw",
                day_test=lambda day: is_nearest_workday(day, month_length(day) - n),
            )
        ),
    )


def _rare_weekdays() -> st.SearchStrategy[Part]:
    weekdays = st.integers(0, 6)
    return st.one_of(
        weekdays.map(
            lambda day: (
                Part("7", frozenset({0})) if day == 0 else Part(f"{day}-7", frozenset({0, *range(day, 7)}))
            )
        ),
        st.tuples(weekdays, st.integers(1, 5)).map(
            lambda found: Part(
                f"{found[0] or 7}#{found[1]}", day_test=lambda day: is_nth_weekday(day, *found)
            )
        ),
        weekdays.map(
            lambda weekday: Part(f"{_WEEKDAYS[weekday]}L", day_test=lambda day: is_last_weekday(day, weekday))
        ),
    )


def _field(
    low: int, high: int, extended: bool, rare: st.SearchStrategy[Part] | None = None
) -> st.SearchStrategy[tuple[Part, ...]]:
    part = _part(low, high, extended)
    if extended and rare is not None:
        part = st.one_of(part, rare)
    return st.lists(part, min_size=1, max_size=3).map(tuple)


def specs(*, extended: bool, seconds: bool) -> st.SearchStrategy[Spec]:
    """Cron texts with a meaning known apart from reading them."""
    return st.builds(
        Spec,
        seconds=_field(0, 59, extended) if seconds else st.none(),
        minutes=_field(0, 59, extended),
        hours=_field(0, 23, extended),
        monthdays=_field(1, 31, extended, _rare_monthdays()),
        months=_field(1, 12, extended),
        weekdays=_field(0, 6, extended, _rare_weekdays()),
    )


@st.composite
def places(draw: st.DrawFn) -> tuple[str, datetime]:
    """A zone and an instant within a day and a half of one of its changes, or anywhere after 1973."""
    tz = draw(st.sampled_from(sorted(CHANGES)))
    change = datetime.fromisoformat(draw(st.sampled_from(CHANGES[tz]))).replace(tzinfo=UTC)
    near = st.integers(-36 * 60, 12 * 60).map(lambda minutes: change + timedelta(minutes=minutes))
    far = st.integers(53_000, 3_000_000).map(
        lambda hours: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    )
    return tz, draw(st.one_of(near, near, near, far))


gaps = st.sampled_from(["skip", "after"])
folds = st.sampled_from(["both", "first", "second"])
