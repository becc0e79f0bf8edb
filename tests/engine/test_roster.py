"""Who asks first for a tick."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from onebeat.engine.roster import HEAD_START, Roster, head_start
from onebeat.model import Tick

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
IDS = ("6f1b", "02aa", "c9d4")
TICKS = [Tick(f"job-{number}", NOON) for number in range(1_000)]


def roster(own: str, living: tuple[str, ...] = IDS) -> Roster:
    known = Roster()
    known.know(living, own)
    return known


def test_each_tick_has_one_first_and_the_others_wait_in_a_row() -> None:
    """C-FAIR: for every tick one replica has no head start to wait for, the others one and two."""
    rosters = [roster(own) for own in IDS]
    for tick in TICKS:
        assert sorted(known.rank(tick) for known in rosters) == [0, 1, 2]
    assert [head_start(rank) for rank in (0, 1, 2)] == [timedelta(0), HEAD_START, 2 * HEAD_START]


def test_three_replicas_have_even_shares() -> None:
    """C-FAIR: each is first for its share, within 20 % of even, of 1,000 jobs and of 1,000 ticks of one."""
    for ticks in (TICKS, [Tick("one", NOON + timedelta(seconds=number)) for number in range(1_000)]):
        shares = Counter(own for own in IDS for tick in ticks if roster(own).rank(tick) == 0)
        assert all(0.8 * 1_000 / 3 <= share <= 1.2 * 1_000 / 3 for share in shares.values()), shares


def test_when_one_goes_only_its_own_ticks_move() -> None:
    """C-FAIR: rendezvous hashing: whoever stays keeps what was its own."""
    left = roster(IDS[0], IDS[:2])
    assert all(left.rank(tick) == 0 for tick in TICKS if roster(IDS[0]).rank(tick) == 0)


def test_alone_or_before_the_first_beat_nobody_waits() -> None:
    assert Roster().rank(TICKS[0]) == 0
    assert roster(IDS[0], IDS[:1]).rank(TICKS[0]) == 0


def test_the_last_of_many_replicas_does_not_wait_for_long() -> None:
    assert head_start(40) == 3 * HEAD_START


def test_of_very_many_ticks_a_share_has_the_time_that_it_takes() -> None:
    assert head_start(1, 1_000) == HEAD_START
    assert head_start(1, 10_000) == timedelta(seconds=1)
    assert head_start(0, 10_000) == timedelta(0)


def test_a_clock_that_leads_leaves_the_others_their_time() -> None:
    """C-FAIR: it wakes early, and waits by so much longer for whom a tick prefers; never for nobody."""
    known = Roster()
    known.know(IDS, IDS[0], timedelta(seconds=0.2))
    assert known.head_start(1) == HEAD_START + timedelta(seconds=0.2)
    assert known.head_start(0) == timedelta(0)


def test_a_slow_beat_hides_no_lead_and_a_clock_set_back_is_believed() -> None:
    """A slow way makes a lead look smaller: of the last few the largest counts, and none that is old."""
    known = Roster()
    for lead in (0.2, -0.4, 0.1):
        known.know(IDS, IDS[0], timedelta(seconds=lead))
    assert known.head_start(2) == 2 * HEAD_START + timedelta(seconds=0.2)
    for _ in range(4):
        known.know(IDS, IDS[0], timedelta(seconds=-1))
    assert known.head_start(1) == timedelta(0)


def test_a_clock_far_ahead_waits_no_longer_than_seconds() -> None:
    known = Roster()
    known.know(IDS, IDS[0], timedelta(hours=3))
    assert known.head_start(1) == HEAD_START + timedelta(seconds=5)
