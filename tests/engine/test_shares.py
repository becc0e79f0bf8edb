"""In which order a replica takes many ticks."""

from __future__ import annotations

from hypothesis import given as for_all
from hypothesis import strategies as st

from onebeat.engine.shares import own_share_first

ids = st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}")


@for_all(st.integers(0, 25_000), ids)
def test_wherever_a_replica_begins_it_comes_round_to_every_tick(count: int, replica: str) -> None:
    """C-BATCH: the order of all is the same, only the beginning differs."""
    ticks = list(range(count))
    turned = own_share_first(ticks, replica)
    start = turned[0] if turned else 0
    assert turned == ticks[start:] + ticks[:start]


@for_all(st.lists(ids, min_size=50, max_size=50, unique=True))
def test_replicas_begin_at_four_places_far_apart(replicas: list[str]) -> None:
    """C-BATCH: so that few rivals wait for one another."""
    assert {own_share_first(list(range(1_000)), one)[0] for one in replicas} <= {0, 250, 500, 750}
