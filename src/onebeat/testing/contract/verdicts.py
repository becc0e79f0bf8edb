"""What is written of each tick: one row, whoever says so."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime

from onebeat.control import Target
from onebeat.model import Record, Ruling, Tick, Verdict
from onebeat.testing.contract.bidding import HOUR
from onebeat.testing.contract.living import Living

_PROVISIONAL = (Verdict.OVERLAPPED, Verdict.CLAIM_ERROR, Verdict.EARLY)


class VerdictRules(Living):
    """F-VERDICT: every tick ends with one verdict; one that nobody has won yet is provisional."""

    async def test_a_verdict_on_a_tick_that_nobody_holds_is_kept(self) -> None:
        """F-VERDICT: provisional, but for what was missed; with who says so."""
        ticks = await self.ticks(4)
        for tick, verdict in zip(ticks, (*_PROVISIONAL, Verdict.MISSED), strict=True):
            await self.record(tick, verdict, f"{verdict} at a")
            row = await self.recorded(tick)
            told = (row.verdict, row.provisional, row.note, row.replica)
            assert told == (verdict, verdict is not Verdict.MISSED, f"{verdict} at a", None)

    async def test_a_provisional_verdict_gives_way_but_not_to_missed(self) -> None:
        """F-VERDICT: why it did not run is worth more than that it did not."""
        [tick] = await self.ticks(1)
        for verdict in _PROVISIONAL:
            await self.record(tick, verdict)
            await self.record(tick, Verdict.MISSED)
            row = await self.recorded(tick)
            assert (row.verdict, row.provisional) == (verdict, True)

    async def test_a_final_verdict_is_never_replaced(self) -> None:
        """F-VERDICT: neither that of a run nor that it was missed, nor a run that has no verdict yet."""
        ran, missed, running = await self.ticks(3)
        await self.run(ran)
        await self.record(missed, Verdict.MISSED, "first")
        await self.won(running)
        for verdict in (*_PROVISIONAL, Verdict.MISSED):
            for tick in (ran, missed, running):
                await self.record(tick, verdict, "second")
        rows = [await self.recorded(tick) for tick in (ran, missed, running)]
        assert [row.verdict for row in rows] == [Verdict.RAN, Verdict.MISSED, None]
        assert [row.note for row in rows] == [None, "first", None]
        assert [row.provisional for row in rows] == [False, False, False]

    async def test_a_win_replaces_whatever_verdict_its_tick_had(self) -> None:
        """F-VERDICT: somebody runs it after all; afterwards nobody's verdict counts but the run's."""
        verdicts = (*_PROVISIONAL, Verdict.MISSED)
        for tick, verdict in zip(await self.ticks(4), verdicts, strict=True):
            await self.record(tick, verdict, "nobody was there")
            answer = await self.won(tick)
            row = await self.recorded(tick)
            assert (row.verdict, row.note, row.replica) == (None, None, "a"), verdict
            await self.finish(tick, answer.token, Verdict.RAN)
            assert (await self.recorded(tick)).verdict is Verdict.RAN

    async def test_many_verdicts_are_one_batch(self) -> None:
        """F-VERDICT, C-BATCH: of several on one tick the last that may replace another counts."""
        first, second, third = await self.ticks(3)
        records = [
            Record(second, Verdict.MISSED, "alone"),
            Record(first, Verdict.EARLY),
            Record(third, Verdict.OVERLAPPED, "before"),
            Record(first, Verdict.CLAIM_ERROR, "last"),
            Record(third, Verdict.MISSED),
        ]
        await self.fleet.record(records, replica=self.replica())
        await self.fleet.record([], replica=self.replica())
        told = [await self.recorded(tick) for tick in (first, second, third)]
        assert [(row.verdict, row.note) for row in told] == [
            (Verdict.CLAIM_ERROR, "last"),
            (Verdict.MISSED, "alone"),
            (Verdict.OVERLAPPED, "before"),
        ]

    async def test_verdicts_and_wins_that_race_leave_the_win(self) -> None:
        """F-VERDICT, C-ONE: whatever handle each of them uses."""
        ticks = await self.ticks(6, "overlaps")
        says = [
            self.fleets(n).record([Record(tick, Verdict.EARLY) for tick in ticks], replica=self.replica())
            for n in range(4)
        ]
        wins = [self.bid(tick, lease=None, store=self.handle(n)) for n, tick in enumerate(ticks)]
        _, won = await asyncio.gather(asyncio.gather(*says), asyncio.gather(*wins))
        assert all(answer.won for answer in won)
        rows = [await self.recorded(tick) for tick in ticks]
        assert [(row.verdict, row.replica) for row in rows] == [(None, "a")] * 6

    async def test_a_refused_bid_gives_a_verdict_only_where_there_is_none(self) -> None:
        """F-VERDICT, F-PAUSE: overlapped or paused, provisionally."""
        running, overlapped, missed = await self.ticks(3)
        await self.record(missed, Verdict.MISSED, "before")
        answer = await self.won(running)
        for tick in (overlapped, missed):
            assert await self.ruling(tick) is Ruling.OVERLAPPED
        assert (await self.recorded(overlapped)).verdict is Verdict.OVERLAPPED
        assert (await self.recorded(missed)).note == "before"
        await self.release(running, answer.token)
        await self.pause(Target.app())
        assert await self.ruling(overlapped) is Ruling.PAUSED
        row = await self.recorded(overlapped)
        assert (row.verdict, row.provisional) == (Verdict.OVERLAPPED, True)


class OwedRules(Living):
    """F-VERDICT, C-CATCH: since when each tick of a job is to have a verdict."""

    async def test_a_release_says_what_was_missed(self) -> None:
        """F-VERDICT: ticks that have a row keep it."""
        overlapped, unseen, newest = await self.ticks(3)
        await self.record(overlapped, Verdict.OVERLAPPED)
        await self.release_with(newest, missed=(overlapped, unseen))
        rows = [await self.recorded(tick) for tick in (overlapped, unseen, newest)]
        assert [row.verdict for row in rows] == [Verdict.OVERLAPPED, Verdict.MISSED, Verdict.RAN]
        assert [row.provisional for row in rows] == [True, False, False]

    async def test_a_release_that_ends_nothing_says_nothing(self) -> None:
        """F-VERDICT, C-RELEASE: whoever holds the tick will tell."""
        unseen, tick = await self.ticks(2)
        answer = await self.won(tick)
        wrong = replace(self.ended(tick, token_="wrong"), missed=(unseen.scheduled_at,), accounts=True)
        await self.store.release([wrong], replica=self.replica())
        assert await self.history.tick(unseen, app=self.app) is None
        await self.release(tick, answer.token)
        late = replace(self.ended(tick, answer.token), missed=(unseen.scheduled_at,), accounts=True)
        await self.store.release([late], replica=self.replica())
        assert await self.history.tick(unseen, app=self.app) is None

    async def test_a_job_is_owed_since_it_was_registered(self) -> None:
        """C-CATCH: and every replica is told the same; nothing is owed before."""
        begun = await self.store_time()
        [known] = await self.join("report")
        assert begun <= known.owed_since <= await self.store_time()
        assert (known.job_id, known.watermark) == ("report", None)
        await self.pass_time(0.01)
        assert await self.join("report", by="b") == [known]
        assert (await self.won(Tick("report", await self.store_time()))).owed_since == known.owed_since

    async def test_a_new_schedule_is_owed_since_it_was_changed(self) -> None:
        """C-CATCH, F-DRIFT: one whose text is the same is not new, whatever its digest."""
        [known] = await self.join("report")
        await self.pass_time(0.01)
        assert await self.join("report", digest="of newer zone data") == [known]
        [changed] = await self.join("report", schedule="0 3 * * *")
        assert changed.owed_since > known.owed_since
        [back] = await self.join("report")
        assert back.owed_since >= changed.owed_since

    async def test_what_is_known_of_many_jobs_comes_in_their_order(self) -> None:
        """F-DRIFT: also of those registered by others, and of none."""
        ids = [f"job-{n}" for n in (3, 1, 2, 0)]
        [tick] = await self.ticks(1, "job-2")
        await self.run(tick)
        known = await self.join(*ids)
        assert [one.job_id for one in known] == ids
        assert [one.watermark for one in known] == [None, None, tick.scheduled_at, None]
        assert list(await self.join()) == []

    async def test_one_who_joins_again_has_all_its_jobs(self) -> None:
        """F-DRIFT: those it had and those that were added, each with its newest digest."""
        await self.join("first", "second", digest="old")
        await self.join("second", "third", digest="new")
        [replica] = await self.history.replicas(app=self.app)
        assert replica.jobs == {"first": "old", "second": "new", "third": "new"}

    async def test_a_tick_that_accounts_moves_what_is_owed(self) -> None:
        """F-VERDICT: all before it have a verdict; never backwards, and not without saying so."""
        await self.join("report")
        now = await self.store_time()
        first, second, third = (Tick("report", now + n / 5 * self.tolerance) for n in range(1, 4))
        [known] = await self.join("report")
        await self.release_with(first)
        assert (await self.join("report"))[0].owed_since == known.owed_since
        await self.release_with(second, accounts=True)
        assert (await self.join("report"))[0].owed_since == second.scheduled_at
        assert await self.release_with(third) == second.scheduled_at

    async def test_a_tick_that_accounts_late_takes_nothing_back(self) -> None:
        """F-VERDICT: where runs overlap an older one may end after a newer one."""
        await self.join("overlaps")
        now = await self.store_time()
        older, newer = (Tick("overlaps", now + n / 5 * self.tolerance) for n in range(1, 3))
        claims = [await self.won(tick, lease=None) for tick in (older, newer)]
        for claim in reversed(claims):
            end = replace(self.ended(claim.tick, claim.token), accounts=True)
            await self.store.release([end], replica=self.replica())
        assert (await self.join("overlaps"))[0].owed_since == newer.scheduled_at

    async def test_a_pause_that_is_over_is_not_owed(self) -> None:
        """F-PAUSE, C-CATCH: whoever joins after it is told when it ended; while it lasts nothing is told."""
        [before] = await self.join("report")
        await self.pause(Target(prefix="rep"))
        await self.pass_time(0.01)
        assert await self.join("report") == [before]
        paused = await self.store_time()
        await self.resume(Target(prefix="rep"))
        [known] = await self.join("report")
        assert known.owed_since >= paused

    async def release_with(
        self, tick: Tick, *, missed: tuple[Tick, ...] = (), accounts: bool = False
    ) -> datetime | None:
        """Run *tick*, and release it so; since when the job is owed, as the claim was told."""
        answer = await self.won(tick, lease=HOUR)
        instants = tuple(one.scheduled_at for one in missed)
        end = replace(self.ended(tick, answer.token), missed=instants, accounts=accounts)
        await self.store.release([end], replica=self.replica())
        return answer.owed_since
