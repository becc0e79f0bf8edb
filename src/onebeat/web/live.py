"""What moves on a page, sent to whoever has it open, as it changes."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from onebeat.clock import Clock, SystemClock
from onebeat.errors import ClaimFailed

Fragments = Callable[[Request], Awaitable[Mapping[str, str]]]
"""Element ids and the HTML of each, as it is to be now."""

EVERY = 3.0
"""Seconds between two looks."""

SILENCE = 15.0
"""Seconds after which something is sent though nothing has changed: proxies close what says nothing."""

LONGEST = 300.0
"""Seconds after which a stream ends, for the browser to ask again: whoever may read no more is shut out."""

_A_STEP = 0.5
_RETRY = "retry: 3000\n\n"
_LATER = "retry: 5000\n\n"
_EVENTS = "text/event-stream"
_STILL_HERE = ": still here\n\n"
NO_ANSWER = "The store does not answer. What is shown here is as old as its last answer."


@dataclass(slots=True)
class Stream:
    """One client's stream of events: `parts` with the elements that have changed, `trouble` in words while
    the store does not answer. Ends when the server is to stop."""

    look: Callable[[], Awaitable[Mapping[str, str]]]
    clock: Clock
    stopping: Callable[[], bool]
    _sent: dict[str, str] = field(default_factory=dict)
    _troubled: bool = True  # so that the first answer is told, whatever it is

    def once(self, first: Mapping[str, str] | None) -> str:
        """The whole stream where it may not be held: the browser asks again after five seconds."""
        return _LATER + self._told(first)

    async def events(self, first: Mapping[str, str] | None) -> AsyncIterator[str]:
        """*first* is what the first look saw; None when the store did not answer."""
        began = spoke = self.clock.monotonic()
        yield _RETRY + self._told(first)
        while self.clock.monotonic() - began < LONGEST:
            if not await self._wait():
                return
            event = await self._event()
            if event is None and self.clock.monotonic() - spoke >= SILENCE:
                event = _STILL_HERE
            if event is not None:
                spoke = self.clock.monotonic()
                yield event

    def _told(self, first: Mapping[str, str] | None) -> str:
        return self._trouble() if first is None else self._parts(first) or ""

    async def _wait(self) -> bool:
        """Until the next look; False when the server is to stop before it."""
        until = self.clock.monotonic() + EVERY
        while self.clock.monotonic() < until:
            if self.stopping():
                return False
            await self.clock.sleep(_A_STEP)
        return True

    async def _event(self) -> str | None:
        try:
            return self._parts(await self.look())
        except ClaimFailed:
            return None if self._troubled else self._trouble()

    def _parts(self, seen: Mapping[str, str]) -> str | None:
        changed = {element: html for element, html in seen.items() if self._sent.get(element) != html}
        if not changed and not self._troubled:
            return None
        self._sent |= changed
        self._troubled = False
        return _said("parts", changed)

    def _trouble(self) -> str:
        self._troubled = True
        return _said("trouble", NO_ANSWER)


def live(fragments: Fragments) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint that streams what *fragments* of a page change to."""

    async def endpoint(request: Request) -> Response:
        stream = Stream(lambda: fragments(request), SystemClock(), server_stops)
        # What is wrong with the address is answered as such, before any stream.
        try:
            first: Mapping[str, str] | None = await stream.look()
        except ClaimFailed:
            first = None
        if not request.app.state.settings.streaming:
            return Response(stream.once(first), media_type=_EVENTS)
        headers = {"X-Accel-Buffering": "no"}  # of proxies that would wait for its end
        return StreamingResponse(stream.events(first), media_type=_EVENTS, headers=headers)

    return endpoint


def server_stops() -> bool:
    """Whether the server around us was told to stop: uvicorn then waits for open streams before it tells the
    app. Its handler of the signal knows; other servers end a stream themselves."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return getattr(server, "should_exit", False) is True


def _said(event: str, data: object) -> str:
    """In ASCII, and so in one line whatever the data are."""
    return f"event: {event}\ndata: {json.dumps(data)}\n\n"
