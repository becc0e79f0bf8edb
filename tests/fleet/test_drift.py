"""What replicas disagree about, from what they said of themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from onebeat.drift import TOLERATED_SPAN, Drift, disagreements
from onebeat.history import ReplicaState

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)


def replica(label: str, *, age: timedelta = timedelta(hours=1), **facts: object) -> ReplicaState:
    fields: dict[str, object] = {
        "id": label * 2, "label": label, "version": "1", "zone_data": "2026a", "pid": 1,
        "started_at": NOW - age, "beat_at": NOW, "healthy_since": NOW - age, "dead_at": None, "skew": 0.0,
        "jobs": {"nightly": "aa"},
    }  # fmt: skip
    return ReplicaState(**(fields | facts))  # type: ignore[arg-type]


def test_replicas_that_agree_have_nothing_to_say() -> None:
    assert disagreements([replica("a"), replica("b", jobs={"other": "bb"})], now=NOW) == ()


def test_a_job_with_two_schedules_is_told_with_who_holds_which() -> None:
    """F-DRIFT: replicas whose schedules disagree are reported."""
    (told,) = disagreements([replica("a"), replica("b", jobs={"nightly": "bb"}), replica("c")], now=NOW)
    assert (told.about, told.job_id) == (Drift.SCHEDULE, "nightly")
    assert told.sides == (("aa", ("a", "c")), ("bb", ("b",)))
    assert "nightly" in str(told)


def test_a_rolling_deploy_is_tolerated_for_a_while() -> None:
    """F-DRIFT: the overlap of two versions is no disagreement until it lasts."""
    young = replica("b", jobs={"nightly": "bb"}, age=TOLERATED_SPAN - timedelta(seconds=1))
    assert disagreements([replica("a"), young], now=NOW) == ()
    assert disagreements([replica("a"), young], now=NOW + timedelta(seconds=1))


def test_the_dead_have_no_opinion() -> None:
    assert disagreements([replica("a"), replica("b", jobs={"nightly": "bb"}, dead_at=NOW)], now=NOW) == ()


def test_zone_data_and_clocks_are_compared_too() -> None:
    """F-DRIFT: zone data that differ and clocks that are off are reported, at once for clocks."""
    told = disagreements(
        [replica("a"), replica("b", zone_data="2024b"), replica("c", skew=-3.25, age=timedelta(0))], now=NOW
    )
    assert [one.about for one in told] == [Drift.ZONE_DATA, Drift.CLOCK]
    assert told[1].sides == (("-3.2 s", ("c",)),)
    assert "zone data" in str(told[0])
    assert "-3.2 s on c" in str(told[1])
