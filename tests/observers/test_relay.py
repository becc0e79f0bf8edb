from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading

import pytest

from onebeat.errors import InvalidSetting
from onebeat.events import ClockStepped, Event, Observer
from onebeat.observers import relay as relay_module
from onebeat.observers.relay import Relay

LOGGER = logging.getLogger("onebeat")
STEP = ClockStepped(60.0)


class Inline:
    inline = True

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self.threads: set[int] = set()

    def __call__(self, event: Event) -> None:
        self.heard.append(event)
        self.threads.add(threading.get_ident())


class Apart(Inline):
    inline = False


class Blocking:
    def __init__(self) -> None:
        self.entered = threading.Event()
        self.gate = threading.Event()
        self.heard = 0

    def __call__(self, event: Event) -> None:
        self.entered.set()
        self.gate.wait()
        self.heard += 1


def relay(*observers: Observer) -> Relay:
    return Relay(observers, LOGGER)


def test_inline_observers_are_called_at_once_and_others_in_a_thread_of_the_relay() -> None:
    """T-EVENT: an observer that blocks never changes a run, so only inline ones are called in place."""
    inline, apart = Inline(), Apart()
    both = relay(inline, apart)
    both(STEP)
    assert inline.heard == [STEP]
    assert inline.threads == {threading.get_ident()}
    both.close(10)
    assert apart.heard == [STEP]
    assert threading.get_ident() not in apart.threads


def test_an_observer_without_the_attribute_is_called_in_the_thread() -> None:
    threads: list[int] = []
    told = relay(lambda event: threads.append(threading.get_ident()))
    told(STEP)
    told.close(10)
    assert len(threads) == 1
    assert threads != [threading.get_ident()]


def test_the_thread_hears_events_in_their_order() -> None:
    apart = Apart()
    told = relay(apart)
    events = [ClockStepped(float(n)) for n in range(1_000)]
    for event in events:
        told(event)
    told.close(10)
    assert apart.heard == events


def test_no_thread_is_started_before_an_event_or_for_inline_observers() -> None:
    before = threading.active_count()
    told = relay(Inline())
    told(STEP)
    relay(Apart())
    assert threading.active_count() == before
    told.close(0)


@pytest.mark.parametrize(
    "error", [ValueError("boom"), SystemExit(3), asyncio.CancelledError()], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("inline", [True, False])
def test_what_an_observer_raises_is_logged_once_and_changes_nothing(
    caplog: pytest.LogCaptureFixture, error: BaseException, inline: bool
) -> None:
    """T-EVENT: an observer that raises never changes a run; it is logged once per kind of error."""

    class Raising:
        def __init__(self) -> None:
            self.inline = inline

        def __call__(self, event: Event) -> None:
            raise error

    after = Inline() if inline else Apart()
    told = relay(Raising(), after)
    told(STEP)
    told(STEP)
    told.close(10)
    assert after.heard == [STEP, STEP]
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert "Raising" in record.getMessage()


def test_each_kind_of_error_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [ValueError("a"), KeyError("b"), ValueError("c")]

    class Raising:
        inline = True

        def __call__(self, event: Event) -> None:
            raise errors.pop()

    told = relay(Raising())
    for _ in range(3):
        told(STEP)
    assert len(caplog.records) == 2


def test_an_interrupt_that_arrives_in_an_observer_reaches_the_scheduler() -> None:
    """J-BODY: KeyboardInterrupt stops the scheduler in order; an observer may not swallow it."""

    class Interrupted:
        inline = True

        def __call__(self, event: Event) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        relay(Interrupted())(STEP)


def test_a_log_handler_that_raises_changes_nothing() -> None:
    class Broken(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise OSError("disk full")

    class Raising:
        inline = True

        def __call__(self, event: Event) -> None:
            raise ValueError("boom")

    logger = logging.Logger("broken")
    logger.addHandler(Broken())
    after = Inline()
    Relay([Raising(), after], logger)(STEP)
    assert after.heard == [STEP]


def test_an_observer_that_blocks_costs_itself_events_and_nobody_else(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-EVENT: an observer that blocks never changes a run; what does not fit is dropped and counted."""
    monkeypatch.setattr(relay_module, "MOST_WAITING", 10)
    blocking, inline = Blocking(), Inline()
    told = relay(blocking, inline)
    told(STEP)
    blocking.entered.wait()
    for _ in range(17):
        told(STEP)
    assert len(inline.heard) == 18
    assert len(caplog.records) == 1, "said at once, not when it is over"
    blocking.gate.set()
    told.close(10)
    assert blocking.heard == 11
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.WARNING]
    assert "7 events were dropped" in caplog.records[1].getMessage()


def test_closing_does_not_wait_for_ever_for_an_observer_that_blocks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """J-CANCEL: no thread of ours keeps the interpreter from exiting."""
    blocking = Blocking()
    told = relay(blocking)
    for _ in range(4):
        told(STEP)
    blocking.entered.wait()
    told.close(0)
    assert "3 events were dropped" in caplog.records[0].getMessage()
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "onebeat-observers")
    blocking.gate.set()


def test_after_closing_only_inline_observers_hear_of_events() -> None:
    inline, apart = Inline(), Apart()
    told = relay(inline, apart)
    told(STEP)
    told.close(10)
    told(STEP)
    told.close(10)
    assert len(inline.heard) == 2
    assert len(apart.heard) == 1


def test_events_from_many_threads_all_arrive() -> None:
    apart = Apart()
    told = relay(apart)

    def tell() -> None:
        for _ in range(200):
            told(STEP)

    threads = [threading.Thread(target=tell, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.close(10)
    assert len(apart.heard) == 1_600
    assert len(apart.threads) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_starts_a_thread_of_its_own() -> None:
    program = """
import logging, os, sys, threading
from onebeat.events import ClockStepped
from onebeat.observers.relay import Relay

heard, gate = [], threading.Event()

def slow(event):
    heard.append(event.seconds)
    if os.getpid() == parent:
        gate.wait()

parent = os.getpid()
told = Relay([slow], logging.getLogger("onebeat"))
told(ClockStepped(1.0))
told(ClockStepped(2.0))  # waits behind the first, and is the parent's to hear
while not heard:
    pass
child = os.fork()
if child == 0:
    heard.clear()
    told(ClockStepped(3.0))
    told.close(10)
    os._exit(0 if heard == [3.0] else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
gate.set()
told.close(10)
sys.exit(status if heard == [1.0, 2.0] else 2)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=30, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("observer", [None, "print"])
def test_an_observer_that_cannot_be_called_is_refused(observer: Observer) -> None:
    with pytest.raises(InvalidSetting, match="observers"):
        relay(observer)


def test_an_observer_that_would_have_to_be_awaited_is_refused() -> None:
    async def observer(event: Event) -> None: ...

    with pytest.raises(InvalidSetting, match="await"):
        relay(observer)
