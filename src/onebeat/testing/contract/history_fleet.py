"""What is told of jobs and of replicas, as they stand."""

from __future__ import annotations

from datetime import timedelta

from onebeat.control import Target
from onebeat.fleet import Facts, Registration
from onebeat.history import END_OF_TIME, JobState, TickFilter
from onebeat.model import Ruling, Verdict
from onebeat.testing.contract.asking import STRANGE, WILD, Asking, walked
from onebeat.testing.contract.bidding import A_MOMENT, A_WHILE, HOUR, SHORT

RUNNING = TickFilter(running=True)
BAD = (Verdict.FAILED, Verdict.TIMED_OUT, Verdict.LOST)


class JobHistoryRules(Asking):
    """Jobs, as the store knows them."""

    async def test_a_registered_job_is_known_before_it_ever_ran(self) -> None:
        """F-DRIFT, C-CATCH: its schedule, and since when it is owed."""
        begun = await self.store_time()
        await self.register("report")
        state = await self.state()
        assert (state.job_id, state.schedule, state.watermark) == ("report", "0 2 * * *", None)
        assert begun <= state.first_seen == state.owed_since <= await self.store_time()
        assert (state.holder, state.lease_until, state.paused_until) == (None, None, None)
        assert (state.last_verdict, state.last_success_at, state.failures) == (None, None, 0)

    async def test_a_job_is_known_once_it_was_claimed(self) -> None:
        """C-ORDER: though no replica registered it; by its whole id, and in its app alone."""
        [tick] = await self.ticks(1)
        assert await self.history.job("report", app=self.app) is None
        await self.won(tick)
        state = await self.state()
        assert (state.watermark, state.schedule) == (tick.scheduled_at, None)
        for other in ("repor", "reports", "Report", "%", ""):
            assert await self.history.job(other, app=self.app) is None
        assert await self.history.job("report", app=f"{self.app}-other") is None

    async def test_a_job_that_runs_names_its_holder_until_it_is_released(self) -> None:
        """C-LEASE: and until when it blocks, at most; an overlapping run blocks nothing and is not named."""
        first, second, third = await self.ticks(3)
        answer = await self.won(first, by="b", lease=HOUR)
        assert await self.ruling(second, by="c") is Ruling.OVERLAPPED
        await self.won(third, by="c", lease=None)
        state = await self.state()
        assert state.holder == "b"
        assert state.lease_until is not None
        assert abs(state.lease_until - answer.store_time - HOUR) < timedelta(seconds=1)
        await self.release(first, answer.token, by="b")
        state = await self.state()
        assert (state.holder, state.lease_until) == (None, None)
        assert (await self.history.ticks(RUNNING, app=self.app, limit=9)).rows[0].replica == "c"

    async def test_a_lapsed_lease_holds_nothing(self) -> None:
        """C-LEASE, C-CRASH: the store's clock decides."""
        [tick] = await self.ticks(1)
        await self.won(tick, lease=SHORT)
        await self.pass_time(2 * A_MOMENT)
        state = await self.state()
        assert (state.holder, state.lease_until) == (None, None)
        assert state.watermark == tick.scheduled_at

    async def test_the_dead_hold_nothing(self) -> None:
        """F-JUDGE: whatever lease they had."""
        [tick] = await self.ticks(1)
        await self.register("report", by="b")
        await self.won(tick, by="b")
        assert (await self.state()).holder == "b"
        await self.die("b")
        state = await self.state()
        assert (state.holder, state.lease_until) == (None, None)
        assert (state.last_verdict, state.failures) == (Verdict.LOST, 1)

    async def test_failures_are_counted_until_a_run_ends_well(self) -> None:
        """F-SILENT: what was cancelled changes nothing."""
        await self.register("report")
        ticks = iter(await self.ticks(9))
        seen = []
        for verdict in (Verdict.CANCELLED, *BAD, Verdict.CANCELLED, Verdict.RAN, Verdict.FAILED):
            tick = next(ticks)
            await self.finish(tick, (await self.won(tick)).token, verdict)
            state = await self.state()
            seen.append((state.failures, state.last_success_at is not None))
            assert state.last_verdict is verdict
        never, once = False, True
        counts = [(0, never), (1, never), (2, never), (3, never), (3, never), (0, once), (1, once)]
        assert seen == counts

    async def test_the_last_success_is_when_it_ended(self) -> None:
        """F-SILENT: later failures leave it, a later success moves it."""
        successes = []
        for tick, verdict in zip(
            await self.ticks(3), (Verdict.RAN, Verdict.FAILED, Verdict.RAN), strict=True
        ):
            await self.finish(tick, (await self.won(tick)).token, verdict)
            successes.append((await self.state()).last_success_at)
            await self.pass_time(0.01)
        assert None not in successes
        assert successes[0] == successes[1] != successes[2]

    async def test_a_paused_job_says_until_when(self) -> None:
        """F-PAUSE: by the latest of the pauses that cover it."""
        await self.register("report", "another")
        now = await self.store_time()
        owed_since = (await self.state()).owed_since
        assert (await self.state()).paused_until is None
        await self.pause(Target(job_id="report"), now + HOUR)
        assert (await self.state()).paused_until == now + HOUR
        await self.pause(Target(prefix="rep"), now + 3 * HOUR)
        assert (await self.state()).paused_until == now + 3 * HOUR
        await self.pause(Target.app(), now + 2 * HOUR)
        assert (await self.state()).paused_until == now + 3 * HOUR
        assert (await self.state("another")).paused_until == now + 2 * HOUR
        await self.pause(Target.app())
        assert (await self.state()).paused_until == END_OF_TIME
        assert (await self.state()).owed_since == owed_since  # until one has ended
        for target in (Target.app(), Target(prefix="rep")):
            assert await self.resume(target)
        assert (await self.state()).paused_until == now + HOUR
        assert await self.resume(Target(job_id="report"))
        assert (await self.state()).paused_until is None

    async def test_a_pause_that_has_ended_by_itself_is_over(self) -> None:
        """F-PAUSE: what is owed begins at its end."""
        await self.register("report")
        until = await self.store_time() + timedelta(seconds=A_WHILE)
        await self.pause(Target(job_id="report"), until)
        await self.pass_time(A_WHILE + A_MOMENT)
        state = await self.state()
        assert (state.paused_until, state.owed_since) == (None, until)

    async def test_prefixes_of_pauses_are_taken_literally(self) -> None:
        """F-PAUSE: wildcards are letters like any other."""
        await self.register(*WILD.values(), *(f"{prefix}1" for prefix in WILD))
        for prefix, other in WILD.items():
            await self.pause(Target(prefix=prefix))
            assert (await self.state(f"{prefix}1")).paused_until == END_OF_TIME
            assert (await self.state(other)).paused_until is None, prefix
            await self.resume(Target(prefix=prefix))

    async def test_jobs_come_in_the_order_of_their_ids(self) -> None:
        """J-ADD: by code points; by prefix, taken literally."""
        ids = {*STRANGE, *WILD.values(), *(f"{prefix}1" for prefix in WILD)}
        await self.register(*ids)
        await self.register("elsewhere", app=f"{self.app}-other")
        assert await self.walk_jobs(limit=1000) == sorted(ids)
        assert await self.walk_jobs(limit=3) == sorted(ids)
        for prefix in (*WILD, *STRANGE):
            begun = sorted(job_id for job_id in ids if job_id.startswith(prefix))
            assert await self.walk_jobs(prefix, limit=2) == begun, prefix
        for job_id in ids:
            assert (await self.state(job_id)).job_id == job_id

    async def test_pages_hold_every_job_once(self) -> None:
        """F-DRIFT: whatever joins while they are read."""
        there = [f"job-{n}" for n in range(7)]
        await self.register(*there)
        for limit in (1, 2, 3, 7):
            rows = await self.walk_jobs(limit=limit, join=True)
            assert [job_id for job_id in rows if job_id in there] == there
            assert rows == sorted(set(rows))
        page = await self.history.jobs(app=self.app, prefix="job-", limit=7)
        assert page.next is None or len(page.rows) == 7
        assert (await self.history.jobs(app=self.app, prefix="nothing", limit=7)).rows == ()

    async def walk_jobs(self, prefix: str = "", *, limit: int, join: bool = False) -> list[str]:
        joined: list[str] = []

        async def meanwhile() -> None:
            if join:
                joined.append(f"{'zj'[len(joined) % 2]}-{limit}-{len(joined)}")
                await self.register(joined[-1])

        rows: list[JobState] = await walked(
            lambda after: self.history.jobs(app=self.app, prefix=prefix, limit=limit, after=after), meanwhile
        )
        return [row.job_id for row in rows]


class ReplicaHistoryRules(Asking):
    """Replicas, living and dead."""

    async def test_a_replica_that_has_joined_is_shown_with_what_it_said(self) -> None:
        """F-BEAT, F-DRIFT: its label, version, zone data, process and jobs."""
        begun = await self.store_time()
        jobs = [Registration(job_id, "* * * * *", f"digest of {job_id}") for job_id in ("report", *STRANGE)]
        await self.fleet.join(
            jobs, replica=self.replica("b"), facts=Facts("2.1", "2026b", 77), now=await self.store_time()
        )
        [state] = await self.history.replicas(app=self.app)
        ended = await self.store_time()
        assert (state.id, state.label) == (self.replica("b").id, "b")
        assert (state.version, state.zone_data, state.pid) == ("2.1", "2026b", 77)
        assert state.jobs == {job.job_id: job.instants for job in jobs}
        assert begun <= state.started_at <= state.beat_at <= ended
        assert begun <= state.healthy_since <= ended
        assert state.dead_at is None
        assert await self.history.replicas(app=f"{self.app}-other") == []

    async def test_a_beat_is_seen_with_the_skew_of_its_clock(self) -> None:
        """F-BEAT, F-DRIFT: positive where it leads."""
        await self.register(by="b")
        [before] = await self.history.replicas(app=self.app)
        await self.pass_time(A_MOMENT)
        ahead = await self.store_time() + timedelta(seconds=90)
        await self.fleet.beat(replica=self.replica("b"), now=ahead, ttl=HOUR)
        [state] = await self.history.replicas(app=self.app)
        assert before.beat_at < state.beat_at
        assert 80 < state.skew <= 90.5

    async def test_the_living_come_first_by_when_they_started(self) -> None:
        """F-JUDGE: then those that died of late, with the time of their death."""
        for name in ("z", "dies", "a"):
            await self.register(by=name)
            await self.pass_time(0.01)
        for name in ("z", "a"):
            await self.fleet.leave(replica=self.replica(name))
        assert {row.label for row in await self.history.replicas(app=self.app) if not row.dead_at} == {"dies"}
        await self.die("dies")
        rows = list(await self.history.replicas(app=self.app))
        assert rows[0].label == "judge"
        assert rows[0].dead_at is None
        [dead] = [row for row in rows if row.label == "dies"]
        assert dead.dead_at is not None
        assert dead.beat_at <= dead.dead_at <= await self.store_time()
        assert rows[1:] == sorted(rows[1:], key=lambda row: row.started_at)

    async def test_one_that_left_is_told_from_one_that_died(self) -> None:
        """F-JUDGE: a deploy leaves no dead behind."""
        for name in ("leaves", "dies"):
            await self.register(by=name)
        await self.pass_time(A_MOMENT)
        await self.fleet.leave(replica=self.replica("leaves"))
        await self.die("dies")
        rows = {row.label: row for row in await self.history.replicas(app=self.app)}
        assert {label: row.left for label, row in rows.items()} == {
            "judge": False, "leaves": True, "dies": False,
        }  # fmt: skip
        assert rows["dies"].dead_at is not None
        assert rows["leaves"].dead_at is not None

    async def test_the_stores_clock_is_the_one_that_decides(self) -> None:
        """C-EARLY: aware, and the same as in its answers."""
        before = await self.store_time()
        told = await self.history.store_time()
        assert before <= told <= await self.store_time()
        assert told.utcoffset() == timedelta(0)
