"""Counts as levels of heat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.web.views.heat import LEVELS, scale_of, short


@pytest.mark.parametrize(
    ("counts", "legend"),
    [
        ([], ()),
        ([0, 0], ()),
        ([7, 7, 0], ((1, "7"),)),
        ([1, 3], ((1, "1"), (2, "2"), (3, "3"))),
        (
            [1, 100_000],
            ((1, "1–10"), (2, "11–100"), (3, "101–1,000"), (4, "1,001–10,000"), (5, "10,001–100,000")),
        ),
        ([250, 0, 750], ((1, "250–311"), (2, "312–388"), (3, "389–483"), (4, "484–602"), (5, "603–750"))),
    ],
)
def test_the_legend_names_the_counts_of_each_level(counts: list[int], legend: object) -> None:
    assert scale_of(counts).legend == legend


@given(st.lists(st.integers(1, 10**9), min_size=1))
def test_more_is_never_cooler_and_the_most_is_hottest(counts: list[int]) -> None:
    scale = scale_of(counts)
    levels = [scale.level(count) for count in sorted(counts)]
    assert levels == sorted(levels)
    assert levels[0] == 1
    assert levels[-1] == len(scale.tops) <= LEVELS
    assert scale.level(0) == 0


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_each_count_has_the_level_whose_words_hold_it(one: int, other: int) -> None:
    scale = scale_of([one, other])
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
