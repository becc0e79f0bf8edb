"""How the contract's tests ask for what a store may have beside claims. Without it they are skipped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import TypeVar, cast
from unittest import SkipTest

from onebeat.alarms import AlarmBook
from onebeat.control import FleetControl, Target
from onebeat.errors import InvalidJob, InvalidSetting
from onebeat.fleet import Facts, FleetStore, Registration
from onebeat.history import AuditRecord, JobState, Page, RunHistory, TickFilter, TickRecord
from onebeat.model import Answer, Bid, Release, Tick, Verdict
from onebeat.permits import Permits
from onebeat.testing.contract.bidding import Bidding, token

T = TypeVar("T")

EASTERN = timezone(timedelta(hours=-5))
EVERYTHING = TickFilter()
STRANGE = ("it's", 'a "b"', "100%", "a_b", "a\\b", "größe", "日本語", "🙂", " ", "--", "x" * 200, "é" * 200)
"""Ids, prefixes and texts that a careless statement would read as something else."""

NO_TEXTS = ("", "x" * 201, "two\nlines", "\0", "\ud800", None)
"""Neither ids nor texts."""

WILD = {"a%": "axy", "a_": "abc", "%": "x", "_": "y", "a\\": "a%", "[a]": "a", "é": "e", "A": "ab", "*": "z"}
"""Prefixes that look like patterns, and what the pattern would match."""


async def walked(
    ask: Callable[[str | None], Awaitable[Page[T]]], meanwhile: Callable[[], Awaitable[object]] | None = None
) -> list[T]:
    """The rows of all pages; *meanwhile* is called between two of them."""
    rows: list[T] = []
    after = None
    while True:
        page = await ask(after)
        rows += page.rows
        if page.next is None:
            return rows
        assert page.rows, "a page that has a next one is not empty"
        assert page.next != after, "a cursor leads on"
        after = page.next
        if meanwhile is not None:
            await meanwhile()


async def refused(asked: Awaitable[object]) -> InvalidJob | InvalidSetting:
    """The error with which what makes no sense is refused."""
    try:
        await asked
    except (InvalidJob, InvalidSetting) as error:
        return error
    raise AssertionError("it was not refused")


class Asking(Bidding):
    """The sides of a store, and short words for what the tests say often."""

    def side(self, *methods: str, of: object = None) -> object:
        store = of or self.store
        for method in methods:
            if not callable(getattr(store, method, None)):
                raise SkipTest(f"{type(store).__name__} has no {method}")
        return store

    @property
    def control(self) -> FleetControl:
        return cast(FleetControl, self.side("pause", "resume", "trigger", "cancel"))

    @property
    def history(self) -> RunHistory:
        return cast(
            RunHistory,
            self.side("ticks", "tick", "jobs", "job", "replicas", "audit", "counts", "marks", "tally"),
        )

    @property
    def fleet(self) -> FleetStore:
        return cast(FleetStore, self.side("join", "beat", "bury", "record", "leave"))

    def controls(self, n: int) -> FleetControl:
        """That of the *n*-th rival's handle."""
        return cast(FleetControl, self.side("trigger", of=self.handle(n)))

    def histories(self, n: int) -> RunHistory:
        return cast(RunHistory, self.side("tick", of=self.handle(n)))

    def permits(self, n: int = 0) -> Permits:
        """Those of the *n*-th rival's handle."""
        return cast(Permits, self.side("take_permit", "return_permit", of=self.handle(n)))

    def alarms(self, n: int = 0) -> AlarmBook:
        return cast(AlarmBook, self.side("raise_alarm", "clear_alarm", "sounding", of=self.handle(n)))

    async def store_time(self) -> datetime:
        """As always, but asked in an app of its own: in the app under test it leaves no row."""
        long_ago = Tick("what time is it", datetime(2001, 1, 1, tzinfo=UTC))
        return (await self.bid(long_ago, app=f"{self.app}-clock")).store_time

    async def register(self, *job_ids: str, by: str = "a", app: str | None = None) -> None:
        """Let the replica *by* join with these jobs."""
        registrations = [Registration(job_id, "0 2 * * *", f"digest of {job_id}") for job_id in job_ids]
        facts = Facts("2.0", "2026a", 42)
        await self.fleet.join(
            registrations, replica=self.replica(by, app), facts=facts, now=await self.store_time()
        )

    async def die(self, by: str) -> None:
        """Have the fleet declare the replica *by* dead: it has stopped beating."""
        ttl = timedelta(seconds=0.5)
        judge = self.replica("judge")
        await self.register(by="judge")
        for _ in range(100):
            pulse = await self.fleet.beat(replica=judge, now=await self.store_time(), ttl=ttl)
            if pulse.healthy and self.replica(by).id not in pulse.living:
                return
            if pulse.healthy and pulse.suspects:
                await self.fleet.bury(replica=judge, ttl=ttl)
            await self.pass_time(0.1)
        raise AssertionError(f"{by} never died")

    async def pause(
        self, target: Target, until: datetime | None = None, *, app: str | None = None, by: str = "ada"
    ) -> None:
        await self.control.pause(target, app=app or self.app, by=by, reason="repairs", until=until)

    async def resume(self, target: Target, *, app: str | None = None) -> bool:
        return await self.control.resume(target, app=app or self.app, by="ada", reason="repaired")

    async def trigger(self, job_id: str = "report", *, force: bool = False, app: str | None = None) -> Tick:
        return await self.control.trigger(
            job_id, app=app or self.app, by="ada", reason="asked for", force=force
        )

    async def cancel(
        self, job_id: str = "report", at: datetime | None = None, *, app: str | None = None
    ) -> list[Tick]:
        return list(
            await self.control.cancel(
                job_id, app=app or self.app, by="ada", reason="too slow", scheduled_at=at
            )
        )

    async def bid_triggered(self, tick: Tick, lease: timedelta | None, *, by: str = "a") -> Answer:
        return (await self.bid_all([Bid(tick, token(), lease, triggered=True)], by=by))[0]

    async def finish(self, tick: Tick, token_: str, verdict: Verdict, *, by: str = "a") -> None:
        at = tick.scheduled_at
        end = Release(tick, token_, verdict, started_at=at, finished_at=at + timedelta(seconds=5))
        await self.store.release([end], replica=self.replica(by))

    async def found(self, which: TickFilter = EVERYTHING, limit: int = 1000) -> list[Tick]:
        """The ticks of one page."""
        page = await self.history.ticks(which, app=self.app, limit=limit)
        return [record.tick for record in page.rows]

    async def recorded(self, tick: Tick) -> TickRecord:
        record = await self.history.tick(tick, app=self.app)
        assert record is not None, tick
        return record

    async def state(self, job_id: str = "report") -> JobState:
        state = await self.history.job(job_id, app=self.app)
        assert state is not None, job_id
        return state

    async def audit(self, limit: int = 1000) -> Sequence[AuditRecord]:
        return (await self.history.audit(app=self.app, limit=limit)).rows
