"""Cron texts: what is read, and how what is not read is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.errors import InvalidSchedule
from onebeat.schedules.cron import cron
from onebeat.schedules.every import every
from onebeat.schedules.parse import parse, schedule_of

_MOMENT = datetime(2026, 5, 5, 12, 3, 4, tzinfo=UTC)


def _refusal(text: str, **switches: bool) -> InvalidSchedule:
    with pytest.raises(InvalidSchedule) as caught:
        cron(text, **switches)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("5/15 * * * *", "5,20,35,50 * * * *"),
        ("5-59/15 * * * *", "5,20,35,50 * * * *"),
        ("*/99 * * * *", "0 * * * *"),
        ("0 0 ? * ?", "0 0 * * *"),
        ("08 009 * * *", "8 9 * * *"),
        ("0 0 * JAN-Mar MON,tue", "0 0 * 1-3 1-2"),
        ("  0\t0 * * *\n", "0 0 * * *"),
        ("TZ=UTC   @hourly", "0 * * * *"),
        ("CRON_TZ=UTC @daily  ", "@midnight"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "@yearly"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * SUN"),
        ("0 0 */1 * 1", "0 0 * * 1"),
    ],
)
def test_two_ways_to_write_one_schedule_are_equal(text: str, same: str) -> None:
    """S-CRON: names, steps, stars, blanks, descriptors and zones in front are read as robfig/cron does."""
    assert cron(text) == cron(same)
    assert hash(cron(text)) == hash(cron(same))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 1 * 1", [1, 5, 12, 19, 26]),  # both restricted: either
        ("0 0 */10 * 1", [1, 5, 11, 12, 19, 21, 26, 31]),  # a step of more than one restricts
        ("0 0 */1 * 1", [5, 12, 19, 26]),
        ("0 0 1-31 * 1", list(range(1, 32))),  # a range restricts, even when it names every day
        ("0 0 1,* * 1", [5, 12, 19, 26]),  # a star anywhere in the list does not
        ("0 0 1 * */1", [1]),
    ],
)
def test_a_star_decides_whether_the_day_fields_are_joined_by_or(text: str, days: list[int]) -> None:
    """S-CRON: day-of-month OR day-of-week when both are restricted."""
    schedule, due = parse(text), datetime(2025, 4, 30, 12, tzinfo=UTC)
    found = []
    while (following := schedule.next_after(due)) and following.month == 5:
        found.append(following.day)
        due = following
    assert found == days


@pytest.mark.parametrize(
    ("text", "field", "got", "hint"),
    [
        ("0 0 * * 7", "day-of-week (column 9)", "7", "Sunday is 0; or extended=True"),
        ("0 0 * * 1,5-7", "day-of-week (column 13)", "7", "Sunday is 0; or extended=True"),
        ("TZ=UTC 60 * * * *", "minute (column 8)", "60", ""),
        ("* 2-24 * * *", "hour (column 5)", "24", ""),
        ("* * 1,,2 * *", "day-of-month (column 7)", "", ""),
        ("* * , * *", "day-of-month (column 5)", "", ""),
        ("* * * */0 *", "month (column 9)", "0", ""),
        ("* * * * *-5", "day-of-week (column 9)", "*", ""),
        ("+5 * * * *", "minute (column 1)", "+5", ""),
        ("0 0 L * *", "day-of-month (column 5)", "L", "extended=True reads L, W and #"),
        ("0 0 * * 5#2", "day-of-week (column 9)", "5#2", "extended=True reads L, W and #"),
        ("10-5 * * * *", "minute (column 1)", "10-5", "extended=True reads ranges that wrap around"),
        ("0 0 0 * * *", "cron", "0 0 0 * * *", "seconds=True reads six fields, seconds first"),
        ("0 0\u00a0* * *", "cron (column 4)", "0 0\u00a0* * *", ""),
        ("0 0 * * *\x1c", "cron (column 10)", "0 0 * * *\x1c", ""),
    ],
)
def test_a_refusal_names_field_and_column_and_helps(text: str, field: str, got: str, hint: str) -> None:
    """S-CRON: what is refused is refused with the field, the column, what it got and a hint."""
    error = _refusal(text)
    assert (error.field, error.got, error.hint) == (field, got, hint)
    assert error.expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "*",
            "* * * *",
            "0 0 * * * year",
            "@",
            "@ daily",
            "@daily ",
            " @daily",
            "@Daily",
            "@reboot",
        ),
        *("TZ=UTC", "TZ=UTC ", "TZ= * * * * *", "TZ=UTC\t* * * * *", "tz=UTC * * * * *", " TZ=UTC * * * * *"),
        *("TZ=local * * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "*/ * * * *", "/ * * * *", "** * * * *"),
        *("* * * JANUARY *", "* * * * MONDAY", "MON * * * *", "? ?", "0x5 * * * *", "1e1 * * * *"),
        *(
            "@every",
            "@every ",
            "@every 5",
            "@every  5m",
            "@every 5m ",
            "@every 5 m",
            "@every 5M",
            "@every 1d",
        ),
        *(
            "@every 0s",
            "@every -1h",
            "@every 1.5s",
            "@every 999ms",
            "@every .",
            "@every 1h30",
            "@every 1\u00b5s",
        ),
        *("@every 2562048h", "*/9223372036854775808 * * * *", "0 " * 600),
    ],
)
def test_what_robfig_refuses_or_takes_by_accident_is_refused(text: str) -> None:
    """S-CRON: nothing more is read than what was promised."""
    _refusal(text)


@pytest.mark.parametrize("given", [None, 5, b"* * * * *", ["*"] * 5, every])
def test_what_is_no_text_is_refused(given: object) -> None:
    with pytest.raises(InvalidSchedule):
        parse(given)  # type: ignore[arg-type]
    with pytest.raises(InvalidSchedule):
        schedule_of(given)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5m", 30),
        ("5.m", 300),
        ("+5m", 300),
        ("1000ms", 1),
        ("1m1h1m", 3720),
        ("0.1h", 360),
        ("1h0.000s", 3600),
        ("3000000us", 3),
        ("2000000000ns", 2),
    ],
)
def test_every_reads_durations_as_go_writes_them(text: str, seconds: int) -> None:
    """S-EVERY: @every is due at multiples of its duration."""
    assert parse(f"@every {text}") == every(seconds)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0 0 L-31 * *",
            "0 0 0W * *",
            "0 0 32W * *",
            "0 0 W * *",
            "0 0 LL * *",
            "0 0 L/2 * *",
            "0 0 1-5W * *",
        ),
        *("0 0 * * L", "0 0 * * 8", "0 0 * * 8L", "0 0 * * 1#0", "0 0 * * 1#6", "0 0 * * 1#", "0 0 * * #1"),
        *(
            "0 0 * * 1-5#2",
            "0 0 * * 5L#1",
            "0 0 * * *#1",
            "L * * * *",
            "0 0 * L *",
            "0 0 * * FRIDAYL",
            "0 0 * * 5W",
        ),
        *("0 0 L,, * *", "0 0 * * 1L-3", "@EVERY 5m"),
    ],
)
def test_the_wider_grammar_has_its_borders_too(text: str) -> None:
    """S-CRON: extended=True reads L, W and # where they mean something."""
    _refusal(text, extended=True)


def test_seconds_asks_for_six_fields() -> None:
    """S-CRON: seconds=True reads six fields, the seconds first."""
    due = cron("15 */5 * * * *", seconds=True).next_after(_MOMENT)
    assert due == datetime(2026, 5, 5, 12, 5, 15, tzinfo=UTC)
    assert "six fields" in _refusal("* * * * *", seconds=True).expected


@given(st.text(max_size=40) | st.text("0123456789*/-,?LW# @TZ=UCevrymon", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """S-VALUE: a wrong schedule is an InvalidSchedule at construction, never another error."""
    for extended in (False, True):
        try:
            schedule = cron(text, extended=extended)
        except InvalidSchedule:
            continue
        assert text.isascii()
        assert schedule == cron(text, extended=extended)
        due = schedule.next_after(_MOMENT)
        assert due is None or due > _MOMENT


@pytest.mark.parametrize(
    ("text", "field", "hint"),
    [
        ("@Daily", "cron (column 1)", "lower case"),
        ("TZ=UTC  @EVERY 5m", "cron (column 9)", "lower case"),
        (" @daily", "cron", "no blank"),
        ("tz=UTC * * * * *", "cron", "in capitals"),
        (" TZ=UTC 0 9 * * *", "cron", "stands first"),
        ("@every 1d", "@every", "ns, us, ms, s, m, h"),
        ("@every 1000000\u00b5s", "cron (column 15)", "write us"),
    ],
)
def test_a_likely_slip_is_answered_with_a_hint(text: str, field: str, hint: str) -> None:
    """S-CRON: what is refused is refused with a hint."""
    error = _refusal(text)
    assert error.field == field
    assert hint in error.hint


def test_the_wider_grammar_names_what_it_adds() -> None:
    """S-CRON: what is refused is refused with a hint."""
    assert "LW" in _refusal("0 0 L-31 * *", extended=True).hint
    assert "FRI#2" in _refusal("0 0 * * L", extended=True).hint


@pytest.mark.parametrize("switch", ["extended", "seconds"])
@pytest.mark.parametrize("given", [[], None, 1, "yes"])
def test_a_switch_is_true_or_false(switch: str, given: Any) -> None:
    """S-VALUE: a wrong schedule is an InvalidSchedule at construction, never another error."""
    with pytest.raises(InvalidSchedule, match=switch):
        cron("* * * * *", **{switch: given})
