"""What the pages read from the store, and how long it may be remembered."""

from __future__ import annotations

from typing import cast

from onebeat.claims import ClaimStore
from onebeat.history import MOST_ROWS, JobState, RunHistory


class Reader:
    """The store's history of one *app*. All raise ClaimFailed when the store cannot answer."""

    def __init__(self, store: ClaimStore, app: str) -> None:
        self.store = store
        self.history = cast(RunHistory, store)
        self.app = app

    async def jobs(self) -> list[JobState]:
        """All of them, by id."""
        found: list[JobState] = []
        after = None
        while True:
            page = await self.history.jobs(app=self.app, limit=MOST_ROWS, after=after)
            found += page.rows
            if page.next is None:
                return found
            after = page.next
