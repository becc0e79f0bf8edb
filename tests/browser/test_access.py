"""Whoever reads: with any sight, by keyboard, on a phone, without scripts, in the dark."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.browser.axe import violations
from tests.browser.keyboard import unreached
from tests.browser.places import PLACES, path_of
from tests.browser.visits import Visits

Role = Literal["heading", "columnheader", "term", "caption"]


@pytest.fixture(params=PLACES)
def path(request: pytest.FixtureRequest, visits: Visits) -> str:
    return path_of(request.param, visits)


def test_axe_finds_no_violation_in_the_light_nor_on_a_phone_in_the_dark(visits: Visits, path: str) -> None:
    page = visits.open(path)
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []


def test_on_a_phone_only_what_is_wide_scrolls_sideways(visits: Visits, path: str) -> None:
    page = visits.open(path, width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_keyboard_comes_to_everything_and_shows_where_it_is(visits: Visits, path: str) -> None:
    assert unreached(visits.open(path)) == set()


def test_without_scripts_a_page_reads_the_same(visits: Visits, path: str) -> None:
    with_scripts = visits.open(path)
    without = visits.open(path, javascript=False)
    roles: tuple[Role, ...] = ("heading", "columnheader", "term", "caption")
    for role in roles:
        texts = with_scripts.get_by_role(role).all_inner_texts()
        assert without.get_by_role(role).all_inner_texts() == texts
        assert texts or role != "heading"
