"""The contract has teeth: every store broken on purpose fails the test that is there for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from sqlite3 import Connection

import pytest

from onebeat.model import Answer, Bid, Release, Replica, Ruling
from onebeat.stores.memory import MemoryStore
from onebeat.stores.ruling import Circumstances, JobRow, tick_key
from onebeat.stores.sqlite import rows
from onebeat.testing.clock import FakeClock
from onebeat.testing.contract import ClaimStoreContract

_TABLES = ("onebeat_jobs", "onebeat_ticks")
_FORGET = "DELETE FROM onebeat_ticks WHERE app = ? AND job_id = ? AND scheduled_at = ?"
_PRUNE_NEWEST = """
DELETE FROM onebeat_ticks
 WHERE (app, job_id, scheduled_at) IN (SELECT app, job_id, scheduled_at
                                         FROM onebeat_ticks
                                        WHERE app = ?
                                        ORDER BY scheduled_at DESC
                                        LIMIT ?)
"""


class Broken(MemoryStore):
    """Sound as it stands; each store below breaks one thing."""

    def change(self, db: Connection, app: str, bid: Bid | Release, **columns: object) -> None:
        key = tick_key(app, bid.tick)[:2]
        job = rows.read_job(db, key)
        if job is not None:
            rows.write_job(db, key, replace(job, **columns))  # type: ignore[arg-type]

    async def also(self, *statements: str) -> None:
        """Do to the tables what nobody asked for."""
        await self._write(lambda db: [db.execute(statement) for statement in statements])


class ForgetsTheWatermark(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        self.change(db, given.replica.app, bid, watermark=None)
        return super()._rule(db, bid, given)


class ForgetsTicks(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        if bid.lease is None:
            db.execute(_FORGET, tick_key(given.replica.app, bid.tick))
        return super()._rule(db, bid, given)


class LooksBeforeItTakes(Broken):
    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        seen = await self._read(
            lambda db: [db.execute(f"SELECT * FROM {table}").fetchall() for table in _TABLES]
        )
        await asyncio.sleep(0)
        await self._write(lambda db: _restore(db, seen))
        return await super().claim(bids, replica=replica, timeout=timeout)


def _restore(db: Connection, seen: Sequence[Sequence[Sequence[object]]]) -> None:
    for table, found in zip(_TABLES, seen, strict=True):
        db.execute(f"DELETE FROM {table}")
        for row in found:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in row)})", row)


class IgnoresLeases(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        self.change(db, given.replica.app, bid, lease_until=None)
        return super()._rule(db, bid, given)


class NeverEndsALease(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        return super()._rule(db, bid if bid.lease is None else replace(bid, lease=timedelta(days=9)), given)


class LeasesWhatMayOverlap(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        return super()._rule(db, replace(bid, lease=bid.lease or timedelta(hours=1)), given)


class ForgetsTokens(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        tick = rows.read_tick(db, tick_key(given.replica.app, bid.tick))
        if tick is not None and tick.token == bid.token:
            bid = replace(bid, token=bid.token + " again")
        return super()._rule(db, bid, given)


class TakesTheLeaseAgain(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        answer = super()._rule(db, bid, given)
        if answer.won and bid.lease is not None:
            self.change(db, given.replica.app, bid, lease_until=self._now() + 10**10, released_at=None)
        return answer


class AnswersOnlyTheNewestToken(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        job = rows.read_job(db, tick_key(given.replica.app, bid.tick)[:2]) or JobRow()
        if job.token != bid.token and bid.lease is not None:
            db.execute(_FORGET, tick_key(given.replica.app, bid.tick))
        return super()._rule(db, bid, given)


class AnswersTheNewestFence(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        answer = super()._rule(db, bid, given)
        job = rows.read_job(db, tick_key(given.replica.app, bid.tick)[:2])
        return replace(answer, fence=job.fence) if answer.won and job is not None else answer


class ReleasesWhateverTheToken(Broken):
    def _release(self, db: Connection, releases: Iterable[Release], replica: Replica) -> None:
        held = [(release, rows.read_tick(db, tick_key(replica.app, release.tick))) for release in releases]
        named = [replace(release, token=(tick and tick.token) or "") for release, tick in held]
        super()._release(db, named, replica)


class ReleasesWhateverTheTick(Broken):
    def _release(self, db: Connection, releases: Iterable[Release], replica: Replica) -> None:
        for release in releases:
            job = rows.read_job(db, tick_key(replica.app, release.tick)[:2])
            if job is not None and job.token == release.token:
                self.change(db, replica.app, release, released_at=self._now())


class ReleasesWhateverTheClaim(Broken):
    def _release(self, db: Connection, releases: Iterable[Release], replica: Replica) -> None:
        super()._release(db, releases, replica)
        for release in releases:
            if rows.read_tick(db, tick_key(replica.app, release.tick)) is not None:
                self.change(db, replica.app, release, released_at=self._now())


class MakesRowsOnRelease(Broken):
    def _release(self, db: Connection, releases: Iterable[Release], replica: Replica) -> None:
        for release in releases:
            *key, scheduled_at = tick_key(replica.app, release.tick)
            if rows.read_job(db, (key[0], key[1])) is None:
                rows.write_job(db, (key[0], key[1]), JobRow(watermark=scheduled_at))
        super()._release(db, releases, replica)


class PrunesWithoutAFloor(Broken):
    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        pruned = await super().prune(app=app, keep=keep, most=most, limit=limit)
        await self.also("UPDATE onebeat_jobs SET floor = NULL")
        return pruned


class PrunesTheNewestFirst(Broken):
    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        return await self._write(lambda db: db.execute(_PRUNE_NEWEST, (app, limit)).rowcount)


class PrunesTheWatermark(Broken):
    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        pruned = await super().prune(app=app, keep=keep, most=most, limit=limit)
        await self.also("UPDATE onebeat_jobs SET watermark = NULL")
        return pruned


class PrunesUnreleasedClaims(Broken):
    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        await self.also("UPDATE onebeat_ticks SET released_at = 1")
        return await super().prune(app=app, keep=keep, most=most, limit=limit)


class PrunesTheYoung(Broken):
    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        return await super().prune(app=app, keep=timedelta(0), limit=limit)


class PrunesWithoutLimit(Broken):
    async def prune(self, *, app: str, keep: timedelta, most: int | None = None, limit: int) -> int:
        return await super().prune(app=app, keep=keep, limit=10_000)


class ResetsTheFence(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        self.change(db, given.replica.app, bid, fence=0)
        return super()._rule(db, bid, given)


class CountsTheFenceFromOne(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        count = db.execute("SELECT count(*) FROM onebeat_ticks").fetchone()[0]
        return replace(super()._rule(db, bid, given), fence=count)


class MixesApps(Broken):
    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        return await super().claim(bids, replica=replace(replica, app="one for all"), timeout=timeout)


class TakesAnyTickHoweverEarly(Broken):
    def __init__(self, *, clock: FakeClock) -> None:
        super().__init__(clock=clock, tolerance=timedelta(days=1))


class TakesNoTickAheadOfItsClock(Broken):
    def __init__(self, *, clock: FakeClock) -> None:
        super().__init__(clock=clock, tolerance=timedelta(microseconds=1))


class EarlyBidsMoveTheWatermark(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        answer = super()._rule(db, bid, given)
        if answer.ruling is Ruling.EARLY:
            app, job_id, scheduled_at = tick_key(given.replica.app, bid.tick)
            rows.write_job(db, (app, job_id), JobRow(watermark=scheduled_at))
        return answer


class WinsAfterItsTime(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        return super()._rule(db, bid, replace(given, expired=False))


class SortsItsAnswers(Broken):
    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        return sorted(
            await super().claim(bids, replica=replica, timeout=timeout), key=lambda answer: answer.tick
        )


class NamesTheLoser(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        return replace(super()._rule(db, bid, given), claimed_by=given.replica.label)


class ForgetsThePreviousTick(Broken):
    def _rule(self, db: Connection, bid: Bid, given: Circumstances) -> Answer:
        return replace(super()._rule(db, bid, given), previous_at=None)


class RepairsByForgetting(Broken):
    async def repair(self, *, app: str, job_id: str) -> bool:
        repaired = await super().repair(app=app, job_id=job_id)
        await self.also(f"DELETE FROM onebeat_ticks WHERE scheduled_at > {self._now()}")
        return repaired


class RepairsBelowTheFloor(Broken):
    async def repair(self, *, app: str, job_id: str) -> bool:
        repaired = await super().repair(app=app, job_id=job_id)
        await self.also("UPDATE onebeat_jobs SET floor = NULL, watermark = NULL")
        return repaired


class RepairsWhatIsSound(Broken):
    async def repair(self, *, app: str, job_id: str) -> bool:
        await super().repair(app=app, job_id=job_id)
        return True


@pytest.mark.parametrize(
    ("store", "test"),
    [
        (ForgetsTheWatermark, "a_tick_older_than_the_newest_claim_is_refused"),
        (ForgetsTheWatermark, "a_tick_is_refused_whatever_its_age"),
        (ForgetsTicks, "where_overlap_is_allowed_ticks_are_won_one_by_one"),
        (ForgetsTicks, "of_twenty_rivals_exactly_one_wins_a_tick_that_may_overlap"),
        (LooksBeforeItTakes, "of_twenty_rivals_exactly_one_wins_a_tick"),
        (LooksBeforeItTakes, "each_job_has_one_winner_when_batches_race_in_random_order"),
        (IgnoresLeases, "an_unreleased_claim_blocks_the_jobs_later_ticks"),
        (IgnoresLeases, "a_claim_that_allows_overlap_leaves_anothers_lease_alone"),
        (NeverEndsALease, "a_claim_stops_blocking_when_its_lease_ends"),
        (LeasesWhatMayOverlap, "a_claim_that_allows_overlap_takes_no_lease"),
        (ForgetsTokens, "a_token_asked_again_gets_its_answer_again"),
        (ForgetsTokens, "a_token_asked_again_where_overlap_is_allowed_gets_its_answer_again"),
        (TakesTheLeaseAgain, "a_token_asked_again_does_not_extend_its_lease"),
        (TakesTheLeaseAgain, "a_token_asked_again_after_its_release_gets_its_answer_again"),
        (AnswersOnlyTheNewestToken, "a_token_asked_again_after_a_later_claim_gets_its_answer_again"),
        (AnswersTheNewestFence, "a_token_asked_again_after_a_later_claim_gets_its_answer_again"),
        (ReleasesWhateverTheToken, "a_release_by_another_token_frees_nothing"),
        (ReleasesWhateverTheToken, "one_release_statement_ends_only_what_it_names_rightly"),
        (ReleasesWhateverTheTick, "a_release_of_another_tick_frees_nothing"),
        (ReleasesWhateverTheClaim, "a_late_release_never_frees_a_newer_claim"),
        (ReleasesWhateverTheClaim, "releasing_twice_is_harmless"),
        (MakesRowsOnRelease, "releasing_a_claim_that_never_landed_is_harmless"),
        (PrunesWithoutAFloor, "pruning_never_revives_a_tick"),
        (PrunesWithoutAFloor, "repair_revives_no_pruned_tick"),
        (PrunesTheNewestFirst, "pruning_in_small_steps_never_revives_a_tick"),
        (PrunesTheWatermark, "pruning_leaves_the_watermark_and_the_fence"),
        (PrunesUnreleasedClaims, "pruning_keeps_an_unreleased_claim"),
        (PrunesTheYoung, "pruning_keeps_what_is_young"),
        (PrunesWithoutLimit, "pruning_deletes_old_ticks_and_no_more_than_it_may"),
        (ResetsTheFence, "the_fence_grows_with_every_claim_of_a_job"),
        (CountsTheFenceFromOne, "the_fence_grows_with_every_claim_of_a_job"),
        (MixesApps, "apps_do_not_see_each_other"),
        (TakesAnyTickHoweverEarly, "a_tick_later_than_the_stores_clock_is_refused_as_early"),
        (EarlyBidsMoveTheWatermark, "a_tick_later_than_the_stores_clock_is_refused_as_early"),
        (TakesNoTickAheadOfItsClock, "a_tick_within_the_tolerance_is_not_early"),
        (WinsAfterItsTime, "a_claim_whose_time_is_spent_wins_nothing"),
        (SortsItsAnswers, "answers_come_in_the_order_of_the_bids"),
        (NamesTheLoser, "a_loser_learns_who_has_the_tick"),
        (ForgetsThePreviousTick, "a_win_tells_the_watermark_it_moved"),
        (RepairsByForgetting, "repair_takes_a_watermark_back_to_the_stores_clock"),
        (RepairsBelowTheFloor, "repair_revives_no_pruned_tick"),
        (RepairsWhatIsSound, "there_is_nothing_to_repair_where_no_watermark_is_ahead"),
    ],
)
async def test_a_broken_store_fails_the_contract(store: type[Broken], test: str) -> None:
    """D-SAME: a contract that a wrong store could pass would promise nothing."""
    with pytest.raises(AssertionError):
        await getattr(contract_for(store), f"test_{test}")()
    await getattr(contract_for(Broken), f"test_{test}")()


def contract_for(store: type[Broken]) -> ClaimStoreContract:
    clock = FakeClock()

    class Given(ClaimStoreContract):
        async def pass_time(self, seconds: float) -> None:
            await clock.advance(seconds=seconds)

    given = Given()
    given.store = store(clock=clock)
    return given
