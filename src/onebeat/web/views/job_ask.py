"""What a job's page is asked for, and its address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from onebeat.errors import InvalidSetting
from onebeat.model import Verdict
from onebeat.web.views.addresses import job_path

MOST_DRAWN = 300
"""How many ticks are drawn at most."""

SPANS = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
}
_USUAL = "24h"
_LAST = re.compile(r"last([1-9][0-9]{0,2})", re.ASCII)
_CHOICES = {
    "1h": "1 hour",
    "6h": "6 hours",
    "24h": "24 hours",
    "7d": "7 days",
    "last50": "last 50 ticks",
    f"last{MOST_DRAWN}": f"last {MOST_DRAWN} ticks",
}


@dataclass(frozen=True, slots=True)
class JobAsk:
    """Which job, over which stretch of time (a key of SPANS, or lastN), and of the table of its ticks which
    verdict, if not all, and after which cursor."""

    job_id: str
    over: str = _USUAL
    verdict: Verdict | None = None
    after: str | None = None

    @property
    def last(self) -> int | None:
        """The N of lastN."""
        found = _LAST.fullmatch(self.over)
        return int(found[1]) if found else None

    @property
    def path(self) -> str:
        """Where that page is."""
        over = None if self.over == _USUAL else self.over
        return job_path(self.job_id, over=over, verdict=self.verdict, after=self.after)

    @property
    def choices(self) -> tuple[tuple[str, str, bool], ...]:
        """Of the stretches of time: words, address, and whether it is this one."""
        return tuple(
            (words, replace(self, over=over).path, over == self.over) for over, words in _CHOICES.items()
        )

    @property
    def newest(self) -> JobAsk:
        """Its first page."""
        return replace(self, after=None)

    def older(self, cursor: str) -> JobAsk:
        return replace(self, after=cursor)


def job_ask(query: Mapping[str, str]) -> JobAsk:
    """Raises InvalidSetting for what no page is about, by the name of the field."""
    over = query.get("over") or _USUAL
    asked = JobAsk(query.get("id", ""), over, _verdict(query.get("verdict")), query.get("after") or None)
    if not asked.job_id:
        raise InvalidSetting("id", asked.job_id, "the id of a job")
    if over not in SPANS and not 1 <= (asked.last or 0) <= MOST_DRAWN:
        raise InvalidSetting("over", over, f"one of {', '.join(SPANS)}, or last1 to last{MOST_DRAWN}")
    return asked


def _verdict(word: str | None) -> Verdict | None:
    if not word:
        return None
    try:
        return Verdict(word)
    except ValueError:
        raise InvalidSetting("verdict", word, f"one of {', '.join(Verdict)}") from None
