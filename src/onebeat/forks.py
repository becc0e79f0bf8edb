"""What has to happen when this process forks."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable

Method = Callable[[], None]


def at_fork(
    *, before: Method | None = None, in_parent: Method | None = None, in_child: Method | None = None
) -> None:
    """Have these bound methods called around every fork, for as long as their object lives.

    Nothing at all where no process can fork.
    """
    if hasattr(os, "register_at_fork"):
        methods = {"before": before, "after_in_parent": in_parent, "after_in_child": in_child}
        os.register_at_fork(
            **{when: _weakly(method) for when, method in methods.items() if method is not None}
        )


def _weakly(method: Method) -> Method:
    """A hook can never be taken back: one that held its object would keep it for ever."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        bound = reference()
        if bound is not None:
            bound()

    return call
