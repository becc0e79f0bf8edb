"""Answers that are not free, asked for once by many and kept for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from onebeat.clock import Clock, SystemClock

T = TypeVar("T")

A_MINUTE = 60.0
_MOST_KEYS = 100


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    task: asyncio.Task[T]
    until: float


class Remembered(Generic[T]):
    """The answer to each key, made when it is first asked for and kept for *seconds*; an error is not kept.

    Who asks while it is made waits for the same one; who gives up waiting does not end it for the others.
    Used on one loop.
    """

    def __init__(self, seconds: float = A_MINUTE, *, clock: Clock | None = None) -> None:
        self._seconds = seconds
        self._clock = clock or SystemClock()
        self._answers: dict[Hashable, _Answer[T]] = {}

    async def get(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """The answer kept for *key*, or what *make* answers now."""
        answer = self._answers.get(key)
        if answer is None or not self._holds(answer, self._clock.monotonic()):
            return await self.anew(key, make)
        return await asyncio.shield(answer.task)

    async def anew(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """What *make* answers now, whatever was kept: whoever asks from now on is given that."""
        now = self._clock.monotonic()
        self._forget(now)
        answer = self._answers[key] = _Answer(asyncio.ensure_future(_of(make)), now + self._seconds)
        answer.task.add_done_callback(_looked_at)
        return await asyncio.shield(answer.task)

    def _holds(self, answer: _Answer[T], now: float) -> bool:
        if not answer.task.done():
            return True
        return now < answer.until and not answer.task.cancelled() and answer.task.exception() is None

    def _forget(self, now: float) -> None:
        """Keys come from whoever asks: no more of them are kept than a page could need."""
        for key in [key for key, answer in self._answers.items() if not self._holds(answer, now)]:
            del self._answers[key]
        for key in list(self._answers)[: max(0, len(self._answers) - _MOST_KEYS + 1)]:
            del self._answers[key]


class Lagging(Generic[T]):
    """An answer that takes long: asked for anew after *seconds*, and waited for *patience* seconds at most.
    Meanwhile, and when it cannot be had, the one before stands; *before* that, none came yet.

    Used on one loop.
    """

    def __init__(self, before: T, *, seconds: float, patience: float, clock: Clock | None = None) -> None:
        self._answer = before
        self._seconds = seconds
        self._patience = patience
        self._clock = clock or SystemClock()
        self._task: asyncio.Task[T] | None = None
        self._until = 0.0

    async def get(self, make: Callable[[], Awaitable[T]]) -> T:
        now = self._clock.monotonic()
        if self._task is None or (self._task.done() and now >= self._until):
            self._until = now + self._seconds
            self._task = asyncio.ensure_future(_of(make))
            self._task.add_done_callback(self._note)
        if not self._task.done():
            await asyncio.wait({self._task}, timeout=self._patience)
        return self._answer

    def _note(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._answer = task.result()


async def _of(make: Callable[[], Awaitable[T]]) -> T:
    return await make()


def _looked_at(task: asyncio.Task[T]) -> None:
    """An error that comes when all have given up waiting is nobody's: asyncio is not to complain of it."""
    if not task.cancelled():
        task.exception()
