"""Alerts on their way: none of them holds up a run, and none is lost in silence."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence

from onebeat.alerts.alert import Alert
from onebeat.alerts.outbox import LAST_SECONDS, Outbox, close_all
from onebeat.alerts.webhook import Webhook
from onebeat.events import AlertUndelivered, Event, Observer, SchedulerStopped

_MOST_AWAITED = 100


class Deliveries:
    """Webhooks and plain functions are served from threads, one each; async functions on the running loop.

    An observer too: when the scheduler has stopped, what waits gets a moment to be sent.
    """

    inline = False

    def __init__(self, observe: Observer) -> None:
        self._observe = observe
        self._outboxes: dict[object, Outbox[Alert]] = {}
        self._awaited: set[asyncio.Task[None]] = set()

    def deliver(self, destinations: Sequence[object], alert: Alert) -> None:
        """Send *alert* to each of these, once. On the loop's thread, without waiting."""
        for to in dict.fromkeys(destinations):
            if _is_async(to):
                self._await(to, alert)
            else:
                self._outbox(to).put(alert)

    def __call__(self, event: Event) -> None:
        if isinstance(event, SchedulerStopped):
            close_all(list(self._outboxes.values()))

    async def close(self) -> None:
        """Give the async functions that were called a moment to return; then cancel them."""
        if self._awaited:
            await asyncio.wait(self._awaited, timeout=LAST_SECONDS)
        for task in self._awaited:
            task.cancel()
        await asyncio.gather(*self._awaited, return_exceptions=True)

    def _outbox(self, to: object) -> Outbox[Alert]:
        outbox = self._outboxes.get(to)
        if outbox is None:
            send: Callable[[Alert], object] = to.send if isinstance(to, Webhook) else to  # type: ignore[assignment]
            outbox = self._outboxes[to] = Outbox(
                send, lambda alert, error: self._undelivered(alert, to, error)
            )
        return outbox

    def _await(self, to: object, alert: Alert) -> None:
        if len(self._awaited) >= _MOST_AWAITED:
            self._undelivered(alert, to, RuntimeError(f"{_MOST_AWAITED} before it have not returned"))
            return
        task = asyncio.get_running_loop().create_task(self._call(to, alert), name="onebeat alert")
        self._awaited.add(task)
        task.add_done_callback(self._awaited.discard)

    async def _call(self, to: object, alert: Alert) -> None:
        try:
            await to(alert)  # type: ignore[operator]
        except (Exception, SystemExit) as error:
            self._undelivered(alert, to, error)

    def _undelivered(self, alert: Alert, to: object, error: BaseException) -> None:
        self._observe(AlertUndelivered(alert.job_id, alert.text, _name(to), error))


def _is_async(to: object) -> bool:
    call = vars(type(to)).get("__call__")
    return inspect.iscoroutinefunction(to) or inspect.iscoroutinefunction(call)


def _name(to: object) -> str:
    return repr(to) if isinstance(to, Webhook) else str(getattr(to, "__qualname__", type(to).__qualname__))
