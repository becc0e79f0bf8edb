"""A tick that this replica may ask for, and in which of the ways there are."""

from __future__ import annotations

from dataclasses import dataclass

from onebeat.model import Tick


@dataclass(frozen=True, slots=True)
class Due:
    """*tick*, due by its schedule; or ordered: lost and to be run again as *attempt*, or *triggered*.

    `forced` overlaps what runs elsewhere. `asked_early`: the store has refused it as too early once.
    """

    tick: Tick
    attempt: int = 1
    triggered: bool = False
    forced: bool = False
    asked_early: bool = False

    @property
    def ordered(self) -> bool:
        """Whether somebody asks for it until it is done: a refusal here and now settles nothing."""
        return self.triggered or self.attempt > 1
