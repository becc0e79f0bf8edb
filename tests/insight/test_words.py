"""Spans as people read them."""

from __future__ import annotations

import pytest

from onebeat.insight.words import span


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, "-"),
        (0.25, "0.25s"),
        (12.4, "12s"),
        (185, "3m05s"),
        (7800, "2h10m"),
        (273_600, "3d4h"),
        (-75, "-1m15s"),
    ],
)
def test_spans_are_short(seconds: float | None, told: str) -> None:
    assert span(seconds) == told
