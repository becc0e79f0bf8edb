"""Texts of anybody, and addresses that hold them."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebeat.errors import InvalidSetting
from onebeat.model import Tick, Verdict
from onebeat.web.views.addresses import job_path, tick_path, trace_address
from onebeat.web.views.job_ask import MOST_DRAWN, JobAsk, job_ask
from onebeat.web.views.text import block, cut, first_line, shown

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


@given(st.text())
def test_nothing_that_is_shown_hides_or_turns_the_text_around_it(text: str) -> None:
    assert shown(text).isprintable()
    assert all(line.isprintable() for line in block(text).split("\n"))
    assert len(cut(text, 50)) <= 50
    assert len(first_line(text)) <= 200


def test_what_hides_is_spelled_out() -> None:
    assert shown("a\0b\u202ec\x1b[31m") == "a\\x00b\\u202ec\\x1b[31m"
    assert block("one\r\n\ttwo\0\nthree") == "one\n    two\\x00\nthree"
    assert shown("größe 日本 🙂") == "größe 日本 🙂"


def test_the_first_line_that_says_anything_is_told() -> None:
    assert first_line("\n  \n ValueError: x \nmore") == "ValueError: x"
    assert first_line("x" * 201) == "x" * 199 + "…"
    assert first_line(None) == first_line(" \n") == ""


@given(texts.filter(bool))
def test_an_id_comes_back_from_its_address_as_it_was(job_id: str) -> None:
    address = urlsplit(job_path(job_id))
    assert (address.path, address.fragment) == ("/job", "")
    assert parse_qs(address.query, keep_blank_values=True) == {"id": [job_id]}
    at = datetime(2027, 3, 1, 12, 0, 0, 250_000, UTC)
    query = parse_qs(urlsplit(tick_path(Tick(job_id, at))).query, keep_blank_values=True)
    assert query["id"] == [job_id]
    assert datetime.fromisoformat(query["at"][0]) == at


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("https://traces.example/{trace_id}?x=1", "https://traces.example/a%2F%22b?x=1"),
        ("http://127.0.0.1/{trace_id}", "http://127.0.0.1/a%2F%22b"),
        ("javascript:alert('{trace_id}')", None),
        ("JavaScript:alert('{trace_id}')", None),
        ("data:text/html,{trace_id}", None),
        ("{trace_id}", None),
        (None, None),
    ],
)
def test_a_trace_is_linked_only_where_a_browser_fetches(template: str | None, address: str | None) -> None:
    assert trace_address(template, 'a/"b') == address
    assert trace_address(template, None) is None


@given(
    texts.filter(bool),
    st.sampled_from(("1h", "6h", "24h", "7d", "last1", f"last{MOST_DRAWN}")),
    st.none() | st.sampled_from(Verdict),
    st.none() | texts.filter(bool),
)
def test_what_is_asked_comes_back_from_its_address(
    job_id: str, over: str, verdict: Verdict | None, after: str | None
) -> None:
    ask = JobAsk(job_id, over, verdict, after)
    query = parse_qs(urlsplit(ask.path).query, keep_blank_values=True)
    assert job_ask({name: values[0] for name, values in query.items()}) == ask
    assert ask.newest.after is None
    assert all(path.startswith("/job?id=") for _, path, _ in ask.choices)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "id"),
        ({"id": ""}, "id"),
        ({"id": "a", "over": "2h"}, "over"),
        ({"id": "a", "over": "last0"}, "over"),
        ({"id": "a", "over": f"last{MOST_DRAWN + 1}"}, "over"),
        ({"id": "a", "over": "last٣"}, "over"),
        ({"id": "a", "verdict": "RAN"}, "verdict"),
        ({"id": "a", "verdict": "<script>"}, "verdict"),
    ],
)
def test_what_no_page_is_about_is_refused_by_its_field(query: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        job_ask(query)
    assert refused.value.field == field
