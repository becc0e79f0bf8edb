"""Counts as levels of heat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.web.views.heat import LEVELS, scale_to, short


@pytest.mark.parametrize(
    ("most", "legend"),
    [
        (0, ()),
        (1, ((1, "1"),)),
        (3, ((1, "1"), (2, "2"), (3, "3"))),
        (100_000, ((1, "1–10"), (2, "11–100"), (3, "101–1,000"), (4, "1,001–10,000"), (5, "10,001–100,000"))),
    ],
)
def test_the_legend_names_the_counts_of_each_level(most: int, legend: object) -> None:
    assert scale_to(most).legend == legend


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_more_is_never_cooler_and_the_most_is_hottest(one: int, other: int) -> None:
    scale = scale_to(max(one, other))
    assert 1 <= scale.level(min(one, other)) <= scale.level(max(one, other)) == len(scale.tops) <= LEVELS
    assert scale.level(0) == 0


@given(st.integers(1, 10**7))
def test_each_count_has_the_level_whose_words_hold_it(most: int) -> None:
    scale = scale_to(most)
    for level, words in scale.legend:
        low, *high = (int(word.replace(",", "")) for word in words.split("–"))
        assert scale.level(low) == level == scale.level(high[0] if high else low)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, ""), (7, "7"), (999, "999"), (1_000, "1.0k"), (9_960, "10k"), (86_400, "86k"),
        (999_600, "1.0M"), (14_400_000, "14M"), (2_000_000_000, "2G"),
    ],
)  # fmt: skip
def test_a_cell_holds_four_characters(count: int, shown: str) -> None:
    assert short(count) == shown
    assert len(shown) <= 4
