"""Which of many bids a replica makes first."""

from __future__ import annotations

from hypothesis import given as for_all
from hypothesis import strategies as st

from onebeat.engine.shares import own_share_first

ids = st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}")


@for_all(st.integers(0, 25_000), ids)
def test_every_bid_is_made_once_and_no_share_is_more_than_a_statement(count: int, replica: str) -> None:
    """C-BATCH: whatever a replica begins with, it leaves nothing out."""
    bids = list(range(count))
    own, rest = own_share_first(bids, replica, most=1_000)
    assert sorted(own + rest) == bids
    assert len(own) <= 1_000


@for_all(st.integers(100, 25_000), st.lists(ids, min_size=12, max_size=12, unique=True))
def test_replicas_begin_in_different_places_or_in_the_same(count: int, replicas: list[str]) -> None:
    """C-BATCH: shares either coincide or have nothing in common, so few rivals wait for one another."""
    shares = [set(own_share_first(list(range(count)), replica, most=1_000)[0]) for replica in replicas]
    assert all(one == other or not one & other for one in shares for other in shares)


def test_a_few_bids_are_not_worth_sharing() -> None:
    """C-BATCH: one statement is cheaper than two."""
    assert own_share_first(list(range(99)), "ff" * 16, most=1_000) == (list(range(99)), [])
