"""A job's body: what kind of callable it is, and how it is called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onebeat.engine.run import Run
from onebeat.errors import InvalidJob

if TYPE_CHECKING:
    from onebeat.engine.threads import Threads

Work = Callable[..., Any]
"""An `async def` or a plain function, taking nothing or the Run."""


@dataclass(frozen=True, slots=True)
class Body:
    """A checked callable: whether it is awaited or runs in a thread, and whether it takes the run."""

    work: Work
    is_async: bool
    takes_run: bool

    @classmethod
    def of(cls, work: object) -> Body:
        """Raises InvalidJob for what cannot be called with nothing or with the run alone."""
        if not callable(work):
            raise InvalidJob("work", work, "a function")
        return cls(work, _is_async(work), _takes_run(work))

    async def call(self, run: Run, threads: Threads) -> None:
        """Run it to its end; whatever it raises is raised here, a mistaken return value is TypeError."""
        if self.is_async:
            await self.call_async(run)
        else:
            await threads.call(functools.partial(self.call_plain, run))

    async def call_async(self, run: Run) -> None:
        """As `call`, of an `async def`."""
        _refuse_unrun(await self.work(*self._arguments(run)))

    def call_plain(self, run: Run) -> None:
        """As `call`, of a plain function, in the thread that is here."""
        _refuse_unrun(self.work(*self._arguments(run)))

    def _arguments(self, run: Run) -> tuple[Run, ...]:
        return (run,) if self.takes_run else ()


def _is_async(work: Work) -> bool:
    while isinstance(work, functools.partial):
        work = work.func
    return inspect.iscoroutinefunction(work) or inspect.iscoroutinefunction(
        getattr(work, "__call__", None)  # noqa: B004 - the method is looked at, not called
    )


def _takes_run(work: Work) -> bool:
    try:
        parameters = inspect.signature(work).parameters.values()
    except (ValueError, TypeError):  # some built-in functions do not tell
        return False
    required = [
        p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if len(required) > 1 or any(p.kind is p.KEYWORD_ONLY for p in required):
        raise InvalidJob(
            "work", work, "a function that takes nothing or the run", "functools.partial binds the rest"
        )
    return bool(required)


def _refuse_unrun(returned: object) -> None:
    """A coroutine or generator came back: the code in it has not run, so the run has failed."""
    if inspect.iscoroutine(returned) or inspect.isgenerator(returned):
        returned.close()
    elif not inspect.isasyncgen(returned):
        return
    raise TypeError(
        f"the body returned a {type(returned).__name__} that nobody runs; "
        "register the `async def` itself, or a function without `yield`"
    )
