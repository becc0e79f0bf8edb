"""The contract has teeth: a statement of the heartbeat with one word wrong fails the test there for it."""

from __future__ import annotations

from types import ModuleType

import pytest

from onebeat.stores.sqlite import claiming, fleet_rows, pruning
from tests.stores.memory.test_statements_teeth import contract

_SILENT = "AND beat_at < :since"


@pytest.mark.parametrize(
    ("module", "statement", "right", "wrong", "test"),
    [
        (claiming, "_DEAD", "dead_at IS NOT NULL", "0", "the_dead_win_nothing"),
        (claiming, "_DEAD", "app = ? AND", "? <> '' AND", "the_dead_of_one_app_hold_up_nobody_elsewhere"),
        (claiming, "_MISSED", "'missed', 0", "'missed', 1", "a_release_says_what_was_missed"),
        (claiming, "_MISSED", "NOTHING", "UPDATE SET verdict = 'missed'", "a_release_says_what_was_missed"),
        (fleet_rows, "_BEAT", "WHEN beat_at < :since", "WHEN 0", "a_beat_after_a_gap_starts_health_anew"),
        (fleet_rows, "_BEAT", "ELSE healthy_since", "ELSE :now", "one_who_beats_all_along_becomes_healthy"),
        (fleet_rows, "_HEALTHY_SINCE", "AND dead_at IS NULL", "", "one_who_falls_silent_is_declared_dead"),
        (fleet_rows, "_DECLARE_DEAD", _SILENT, "AND 1 OR :since", "one_who_falls_silent_is_declared_dead"),
        (fleet_rows, "_DECLARE_DEAD", "app = :app", "1", "the_dead_of_one_app_are_nobodys_elsewhere"),
        (fleet_rows, "_LIVING", "AND dead_at IS NULL", "", "one_who_has_left_lives_no_more"),
        (fleet_rows, "_LIVING", "app = ?", "? <> ''", "a_beat_tells_who_lives"),
        (fleet_rows, "_LEFT_BEHIND", "released_at IS NULL", "1", "what_the_dead_held_is_lost_and_no_more"),
        (fleet_rows, "_LEFT_BEHIND", "holder IN", "1 OR 1 IN", "what_the_dead_held_is_lost_and_no_more"),
        (fleet_rows, "_BURIED", "= :now", "= NULL AND :now", "the_dead_are_no_suspects_for_ever"),
        (fleet_rows, "_WANTED", "tick.holder = :replica_id", "1", "a_cancellation_reaches_the_holder_alone"),
        (fleet_rows, "_WANTED", "= tick.scheduled_at", "> 0", "a_lost_tick_is_over_once_a_later_was_claimed"),
        (fleet_rows, "_WANTED", "ORDER BY tick.scheduled_at", "", "what_was_asked_for_first_comes_first"),
        (fleet_rows, "_RECORD", "AND provisional", "", "a_final_verdict_is_never_replaced"),
        (fleet_rows, "_RECORD", "AND verdict IS NOT NULL", "", "a_trigger_that_waits_has_no_verdict_yet"),
        (fleet_rows, "_RECORD", "<> 'missed'", "<> ''", "a_provisional_verdict_gives_way_but_not_to_missed"),
        (pruning, "_OLD", "wanted = 'rerun'", "0", "pruning_takes_a_lost_tick_whose_job_has_gone_on"),
        (pruning, "_BEYOND", "DESC", "", "pruning_by_count_leaves_the_newest_of_each_job"),
        (pruning, "_RAISE_FLOOR", "job_id = :job_id", "0", "pruning_by_count_revives_no_tick"),
    ],
)  # fmt: skip
async def test_a_wrong_statement_of_the_heartbeat_fails_the_contract(
    module: ModuleType, statement: str, right: str, wrong: str, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-SAME, F-BEAT, F-JUDGE, F-VERDICT, D-PRUNE: what a wrong store could pass would promise nothing."""
    await getattr(contract(), f"test_{test}")()
    sql = getattr(module, statement)
    assert right in sql
    monkeypatch.setattr(module, statement, sql.replace(right, wrong))
    with pytest.raises((AssertionError, ValueError)):
        await getattr(contract(), f"test_{test}")()
