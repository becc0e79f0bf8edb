"""The account of a history convicts: ticks without a verdict, and verdicts that the ledger denies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from onebeat import Tick
from onebeat.history import TickRecord
from onebeat.model import Verdict
from tests.processes.orders import TIMEOUT
from tests.processes.records import Entry, Mark
from tests.processes.verdicts import denied, lost, unaccounted
from tests.rows import record

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def tick(second: int, job_id: str = "quick") -> Tick:
    return Tick(job_id, NOON + timedelta(seconds=second))


def row(second: int, verdict: Verdict | None, *, job_id: str = "quick", replica: str = "r0") -> TickRecord:
    named = tick(second, job_id)
    return record(named.scheduled_at, verdict, tick=named, replica=replica, replica_id=replica)


def history(*rows: TickRecord) -> dict[Tick, TickRecord]:
    return {row.tick: row for row in rows}


def body(second: int, *, replica: str = "r0", cause: str = "", took: float = 0.1) -> list[Entry]:
    """Its start and its end."""
    start = Entry(
        job_id="quick",
        scheduled_at=tick(second).scheduled_at,
        replica=replica,
        mark=Mark.START,
        stamp=tick(second).scheduled_at,
        fence=1,
    )
    return [start, replace(start, mark=Mark.END, cause=cause, stamp=start.stamp + timedelta(seconds=took))]


OWED = [tick(second) for second in (1, 2, 3, 4)]


def test_a_history_that_tells_of_all_that_a_run_has_passed_is_accounted() -> None:
    told = history(row(1, Verdict.RAN), row(2, Verdict.MISSED), row(3, Verdict.RAN))
    assert unaccounted(OWED, told) == []


def test_a_tick_without_a_row_is_found_out() -> None:
    assert unaccounted(OWED, history(row(1, Verdict.RAN), row(3, Verdict.RAN))) == [tick(2)]


def test_a_tick_without_a_verdict_is_found_out() -> None:
    told = history(row(1, Verdict.RAN), row(2, None), row(3, Verdict.FAILED))
    assert unaccounted(OWED, told) == [tick(2)]


def test_a_run_of_another_job_accounts_for_nothing() -> None:
    told = history(row(1, Verdict.RAN), row(4, Verdict.RAN, job_id="plain"))
    assert unaccounted([*OWED[:1], tick(3, "plain")], told) == [tick(3, "plain")]


def test_a_job_that_never_ran_is_not_excused() -> None:
    assert unaccounted(OWED, history(row(1, Verdict.OVERLAPPED))) == [tick(2), tick(3), tick(4)]


@pytest.mark.parametrize("verdict", [Verdict.RAN, Verdict.FAILED, Verdict.TIMED_OUT])
def test_a_run_that_nobody_began_is_denied(verdict: Verdict) -> None:
    assert denied([], history(row(1, verdict))) == [(tick(1), verdict)]


@pytest.mark.parametrize(
    "verdict", [Verdict.MISSED, Verdict.OVERLAPPED, Verdict.PAUSED, Verdict.EARLY, Verdict.CLAIM_ERROR]
)
def test_no_run_of_what_somebody_began_is_denied(verdict: Verdict) -> None:
    told = history(row(1, verdict))
    assert denied(body(1)[:1], told) == [(tick(1), verdict)]
    assert denied(body(2), told) == []


def test_ran_is_denied_of_a_body_that_has_not_ended() -> None:
    told = history(row(1, Verdict.RAN))
    assert denied(body(1)[:1], told) == [(tick(1), Verdict.RAN)]
    assert denied(body(1), told) == []


def test_a_run_is_denied_of_another_replica_than_the_one_that_had_it() -> None:
    assert denied(body(1, replica="r1"), history(row(1, Verdict.RAN))) == [(tick(1), Verdict.RAN)]


@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.TIMED_OUT, Verdict.CANCELLED])
def test_another_end_is_denied_of_a_body_that_ended_by_itself(verdict: Verdict) -> None:
    told = history(row(1, verdict))
    assert denied(body(1), told) == [(tick(1), verdict)]
    assert denied(body(1, cause="TimedOut"), told) == []


def test_a_body_that_took_longer_than_its_timeout_need_not_have_heard_of_it() -> None:
    late = body(1, took=TIMEOUT + 0.1)
    assert denied(late, history(row(1, Verdict.TIMED_OUT))) == []
    assert denied(late, history(row(1, Verdict.CANCELLED))) == [(tick(1), Verdict.CANCELLED)]


def test_lost_is_told_apart_and_never_denied() -> None:
    told = history(row(1, Verdict.LOST), row(2, Verdict.RAN))
    assert denied([*body(1)[:1], *body(2)], told) == []
    assert lost(told) == {tick(1)}
