"""What a fork sets off, and whom that keeps alive."""

from __future__ import annotations

import gc
import weakref

from onebeat.forks import at_fork


class Keeper:
    def note(self) -> None: ...


def test_an_object_that_minds_forks_is_let_go() -> None:
    """C-ID: every scheduler and store minds them, and the hooks stay for as long as the process."""
    keeper = Keeper()
    at_fork(before=keeper.note, in_parent=keeper.note, in_child=keeper.note)
    gone = weakref.ref(keeper)
    del keeper
    gc.collect()
    assert gone() is None
