"""The contract has teeth: a statement with one word wrong fails the test that is there for it."""

from __future__ import annotations

from types import ModuleType

import pytest

from onebeat.stores.memory import MemoryStore
from onebeat.stores.sqlite import alarms, control, history, permits
from onebeat.testing.clock import FakeClock
from onebeat.testing.contract import ClaimStoreContract

_RUNS = "AND token IS NOT NULL AND released_at IS NULL"


@pytest.mark.parametrize(
    ("module", "statement", "right", "wrong", "test"),
    [
        (control, "_PAUSE", "until = excluded.until,", "", "paused_again_the_newer_end_holds"),
        (control, "_RESUME", "AND name = :name", "", "a_resume_ends_the_pause_of_exactly_its_target"),
        (control, "_RESUME", "scope = :scope", "1", "a_resume_ends_the_pause_of_exactly_its_target"),
        (control, "_RESUME", "app = :app", "1", "a_paused_app_refuses_all_of_its_jobs_and_no_other_apps"),
        (control, "_RESUME", "AND until > :now", "", "a_pause_ends_by_itself_when_its_time_has_come"),
        (control, "_RESUME", "until = :now", "until = 0", "what_passed_in_a_pause_is_never_owed"),
        (control, "_AUDIT", ":reason, :until", ":by, :until", "every_request_leaves_a_row_in_the_audit"),
        (control, "_TRIGGER", "'run'", "NULL", "a_trigger_leaves_a_row_that_waits_for_a_holder"),
        (control, "_CANCEL", _RUNS, "", "what_has_ended_is_not_cancelled"),
        (control, "_CANCEL", "job_id = :job_id", "1", "what_runs_of_a_job_is_to_be_cancelled"),
        (control, "_CANCEL", "scheduled_at = :at", "1", "one_run_of_a_job_is_cancelled_by_its_tick"),
        (control, "_CANCEL", "app = :app", "1", "another_app_is_not_cancelled"),
        (control, "_WITHDRAW", "provisional = 0", "note = NULL", "a_trigger_nobody_took_up_is_withdrawn"),
        (permits, "_FREE", "lease_until <= :now", "0", "a_permit_is_free_again_when_its_lease_ends"),
        (permits, "_FREE", "holder IN", "0 AND 0 IN", "a_permit_is_free_again_when_its_holder_is_dead"),
        (permits, "_FREE", "dead_at IS NOT NULL", "1", "a_permit_is_free_again_when_its_holder_is_dead"),
        (permits, "_DEAD", "dead_at IS NOT NULL", "0", "one_who_was_declared_dead_gets_none"),
        (permits, "_DEAD", "replica_id = :holder", "1", "a_permit_is_free_again_when_its_holder_is_dead"),
        (permits, "_TAKEN", "AND prefix = :prefix", "", "prefixes_and_apps_have_permits_of_their_own"),
        (permits, "_TAKEN", "app = :app", "1", "prefixes_and_apps_have_permits_of_their_own"),
        (permits, "_RETURN", "AND token = :token", "", "giving_back_what_one_has_not_is_harmless"),
        (permits, "_RETURN", "AND prefix = :prefix", "", "giving_back_what_one_has_not_is_harmless"),
        (alarms, "_RAISE", "NOTHING", "UPDATE SET key = key", "an_alarm_is_raised_once_until_it_is_cleared"),
        (alarms, "_CLEAR", "app = ?", "? <> ''", "alarms_are_told_apart_by_key_and_app"),
        (history, "TICK", "app = :app", "1", "a_tick_without_a_row_is_unknown"),
        (
            history,
            "TICK",
            "verdict IS NOT NULL AND ",
            "",
            "a_trigger_leaves_a_row_that_waits_for_a_holder",
        ),
        (history, "JOBS", "lease_until > :now AND", "", "a_lapsed_lease_holds_nothing"),
        (
            history,
            "JOBS",
            "released_at IS NULL",
            "1",
            "a_job_that_runs_names_its_holder_until_it_is_released",
        ),
        (history, "JOBS", "t.token = j.token", "1", "a_job_that_runs_names_its_holder_until_it_is_released"),
        (history, "JOBS", "job_id > :after", "job_id >= :after", "pages_hold_every_job_once"),
        (history, "JOBS", "max(until) FROM", "min(until) FROM", "a_paused_job_says_until_when"),
        (history, "JOBS", "until <= :now)", "1)", "a_paused_job_says_until_when"),
        (history, "JOBS", "p.app = j.app", "1", "a_pause_of_others_leaves_what_a_job_is_owed"),
        (history, "REPLICAS", "dead_at IS NOT NULL,", "", "the_living_come_first_by_when_they_started"),
        (history, "AUDIT", "app = :app", "1", "an_app_has_an_audit_of_its_own"),
        (history, "AUDIT", "number < :before", "number <= :before", "pages_of_the_audit_hold_every_row_once"),
        (history, "AUDIT", "number DESC", "number", "every_request_leaves_a_row_in_the_audit"),
        (history, "COUNTS", ">= :since", "> :since", "ticks_are_counted_by_their_verdicts"),
        (history, "COUNTS", "< :until", "<= :until", "ticks_are_counted_by_their_verdicts"),
    ],
)
async def test_a_wrong_statement_fails_the_contract(
    module: ModuleType, statement: str, right: str, wrong: str, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-SAME: a contract that a wrong store could pass would promise nothing."""
    await getattr(contract(), f"test_{test}")()
    sql = getattr(module, statement)
    assert right in sql
    monkeypatch.setattr(module, statement, sql.replace(right, wrong))
    with pytest.raises((AssertionError, ValueError)):
        await getattr(contract(), f"test_{test}")()


def contract() -> ClaimStoreContract:
    clock = FakeClock()

    class Given(ClaimStoreContract):
        async def pass_time(self, seconds: float) -> None:
            await clock.advance(seconds=seconds)

    given = Given()
    given.store = MemoryStore(clock=clock)
    return given
