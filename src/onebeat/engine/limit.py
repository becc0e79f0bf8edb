"""How many runs may go on at a time among ids with a common prefix, as a setting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from onebeat.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class Limit:
    """At most *n* runs at a time among job ids that begin with *prefix*, in this scheduler or, with *fleet*,
    on all replicas of the app together (J-LIMIT)."""

    prefix: str
    n: int
    fleet: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.prefix, str) or not self.prefix:
            raise InvalidSetting("limit prefix", self.prefix, "a prefix of job ids, not empty")
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            raise InvalidSetting("limit n", self.n, "a whole number, one or more")
        if not isinstance(self.fleet, bool):
            raise InvalidSetting("limit fleet", self.fleet, "True or False")


def checked_limits(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """*limits*, no prefix of which is another's beginning: at most one applies to an id."""
    checked = tuple(limits)
    for limit in checked:
        if not isinstance(limit, Limit):
            raise InvalidSetting("limits", limit, "Limit(prefix, n)")
    in_order = sorted(checked, key=lambda limit: limit.prefix)
    for shorter, longer in pairwise(in_order):
        if longer.prefix.startswith(shorter.prefix):
            raise InvalidSetting(
                "limits", longer.prefix, f"prefixes apart from one another, yet {shorter.prefix!r} begins it"
            )
    return checked
