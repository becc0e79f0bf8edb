"""In which order a replica takes many ticks."""

from __future__ import annotations

from hypothesis import given as for_all
from hypothesis import strategies as st

from onebeat.engine.shares import own_share_first

places = st.floats(0, 1, exclude_max=True)


@for_all(st.integers(0, 25_000), places)
def test_wherever_a_replica_begins_it_comes_round_to_every_tick(count: int, place: float) -> None:
    """C-BATCH: the order of all is the same, only the beginning differs."""
    ticks = list(range(count))
    turned = own_share_first(ticks, place)
    start = turned[0] if turned else 0
    assert turned == ticks[start:] + ticks[:start]


@for_all(places)
def test_replicas_begin_at_four_places_far_apart(place: float) -> None:
    """C-BATCH: so that few rivals wait for one another."""
    assert own_share_first(list(range(1_000)), place)[0] in {0, 250, 500, 750}
