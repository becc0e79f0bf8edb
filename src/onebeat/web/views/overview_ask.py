"""Which jobs are asked for, and in which order: the query of the list of all jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar
from urllib.parse import quote, urlencode

from onebeat.errors import InvalidSetting
from onebeat.model import Verdict

E = TypeVar("E", bound=StrEnum)

_LONGEST_PAGE = 6  # digits


class State(StrEnum):
    """What may hold of a job right now."""

    FAILING = "failing"
    RUNNING = "running"
    PAUSED = "paused"


class Sort(StrEnum):
    """By what the jobs are sorted: the next due, the worst verdict, the most failures come first."""

    ID = "id"
    NEXT = "next"
    VERDICT = "verdict"
    FAILURES = "failures"


@dataclass(frozen=True, slots=True)
class OverviewAsk:
    """`search` is a part of the id, `prefix` its beginning. Empty, and None, leave nothing out."""

    search: str = ""
    prefix: str = ""
    verdict: Verdict | None = None
    state: State | None = None
    sort: Sort = Sort.ID
    page: int = 1

    @property
    def all(self) -> bool:
        """Whether no job is left out."""
        return not (self.search or self.prefix or self.verdict or self.state)

    @property
    def query(self) -> str:
        """With its question mark; empty when nothing is asked for."""
        given = {
            "search": self.search,
            "prefix": self.prefix,
            "verdict": self.verdict,
            "state": self.state,
            "sort": None if self.sort is Sort.ID else self.sort,
            "page": None if self.page == 1 else self.page,
        }
        named = {name: str(value) for name, value in given.items() if value}
        return f"?{urlencode(named, quote_via=quote)}" if named else ""

    def at(self, page: int) -> str:
        """The query of another page of the same."""
        return replace(self, page=page).query

    def by(self, sort: Sort) -> str:
        """The query of the same jobs in another order."""
        return replace(self, sort=sort, page=1).query


def overview_ask(query: Mapping[str, str]) -> OverviewAsk:
    """Raises InvalidSetting for a value that cannot be."""
    return OverviewAsk(
        search=query.get("search", ""),
        prefix=query.get("prefix", ""),
        verdict=_one_of(Verdict, "verdict", query),
        state=_one_of(State, "state", query),
        sort=_one_of(Sort, "sort", query) or Sort.ID,
        page=_page(query.get("page") or "1"),
    )


def _one_of(kind: type[E], name: str, query: Mapping[str, str]) -> E | None:
    text = query.get(name)
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        raise InvalidSetting(name, text, f"one of {', '.join(kind)}") from None


def _page(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_PAGE and int(text):
        return int(text)
    raise InvalidSetting("page", text, "the number of a page")
