"""How pages are cut and continued."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.errors import InvalidJob, InvalidSetting
from onebeat.history import MOST_ROWS, AuditRecord, JobState, TickFilter
from onebeat.model import Tick
from onebeat.paging import (
    audit_after,
    audit_cursor,
    checked_limit,
    job_after,
    job_cursor,
    page,
    prefix_range,
    tick_after,
    tick_cursor,
)
from tests.rows import record

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ids = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=200)
AFTER = (tick_after, job_after, audit_after)


def state_of(job_id: str) -> JobState:
    return JobState(job_id, None, None, NOON, NOON, None, None, None, None, None, 0)


def audit_of(number: int) -> AuditRecord:
    return AuditRecord(number, NOON, "pause", "job a", "ada", "why", None)


@given(ids, st.datetimes(timezones=st.just(UTC)), st.integers(1, 2**63 - 1))
def test_a_cursor_leads_back_to_where_it_was_given(job_id: str, at: datetime, number: int) -> None:
    """F-VERDICT: to the microsecond, whatever the id."""
    assert tick_after(tick_cursor(record(at, tick=Tick(job_id, at)))) == Tick(job_id, at)
    assert job_after(job_cursor(state_of(job_id))) == job_id
    assert audit_after(audit_cursor(audit_of(number))) == number


def test_without_a_cursor_one_begins() -> None:
    """F-VERDICT: at the newest, or the first."""
    assert [after(None) for after in AFTER] == [None, None, None]


def written(*words: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(words).encode()).decode()


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "x",
        "é",
        "\ud800",
        5,
        "W10=",
        written(),
        written("tick"),
        written("tick", "a", "a"),
        written("tick", "2026-03-01T12:00:00", "a"),
        written("tick", "2026-03-01T12:00:00+00:00", ""),
        written("tick", "2026-03-01T12:00:00+00:00", "a", "b"),
        written("tick", "2026-03-01T12:00:00+00:00", 5),
        written("job"),
        written("job", ""),
        written("job", "x" * 201),
        written("job", "a") + "\n",
        " " + written("job", "a"),
        written("audit", "0"),
        written("audit", "-1"),
        written("audit", "x"),
        written("audit", 5),
        written("audit", str(2**63)),
        written("audit", "9" * 5000),
        written("other", "a"),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
    ],
)
def test_what_is_no_cursor_of_ours_is_refused(wrong: str) -> None:
    """F-VERDICT: whatever it holds, and whichever page it is said to continue."""
    for after in AFTER:
        with pytest.raises(InvalidSetting, match="after: expected the `next` of a page"):
            after(wrong)


def test_a_cursor_of_another_kind_is_refused() -> None:
    """F-VERDICT: jobs are not continued after a tick."""
    cursors = (
        tick_cursor(record(NOON)),
        job_cursor(state_of("a")),
        audit_cursor(audit_of(1)),
    )
    for at, cursor in enumerate(cursors):
        for after in AFTER[:at] + AFTER[at + 1 :]:
            with pytest.raises(InvalidSetting):
                after(cursor)


@pytest.mark.parametrize("limit", [0, -1, MOST_ROWS + 1, True, 1.0, "1", None])
def test_a_limit_is_a_number_of_rows(limit: object) -> None:
    """F-VERDICT: from one to the most a page may have."""
    with pytest.raises(InvalidSetting, match="limit: expected 1 to 1000"):
        checked_limit(limit)
    assert (checked_limit(1), checked_limit(MOST_ROWS)) == (1, MOST_ROWS)


def test_a_page_has_a_next_one_only_where_more_was_found() -> None:
    """F-VERDICT: its cursor is that of its last row."""
    found = [state_of(job_id) for job_id in "abc"]
    cut = page(found, 2, job_cursor)
    assert (cut.rows, cut.next) == (tuple(found[:2]), job_cursor(found[1]))
    assert page(found, 3, job_cursor).next is None
    assert page([], 3, job_cursor) == type(cut)((), None)


@given(ids, ids)
def test_a_prefix_begins_exactly_what_lies_in_its_range(prefix: str, job_id: str) -> None:
    """F-PAUSE: in the order of code points, which is that of UTF-8 too."""
    for text in (job_id, (prefix + job_id)[:200]):
        first, last = prefix_range(prefix)
        inside = first <= text <= last
        assert inside == text.startswith(prefix)
        assert inside == (first.encode() <= text.encode() <= last.encode())


def test_a_filters_times_are_kept_in_utc_and_never_naive() -> None:
    """S-KEY: a filter given in any zone is the same filter."""
    eastern = NOON.astimezone(timezone(timedelta(hours=-5)))
    assert TickFilter(since=eastern, until=eastern) == TickFilter(since=NOON, until=NOON)
    since = TickFilter(since=eastern).since
    assert since is not None
    assert since.tzinfo is UTC
    for name in ("since", "until"):
        with pytest.raises(InvalidJob, match=name):
            TickFilter(**{name: NOON.replace(tzinfo=None)})  # type: ignore[arg-type]
