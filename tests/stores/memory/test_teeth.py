"""The contract has teeth: every store broken on purpose fails the test that is there for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from onebeat.model import Answer, Bid, Release, Replica, Ruling
from onebeat.stores.memory import MemoryStore
from onebeat.stores.ruling import JobRow, TickRow, tick_key
from onebeat.testing.clock import FakeClock
from onebeat.testing.contract import ClaimStoreContract


class Broken(MemoryStore):
    """Sound as it stands; each store below breaks one thing."""

    def change(self, app: str, bid: Bid | Release, **columns: object) -> None:
        key = tick_key(app, bid.tick)[:2]
        if key in self._jobs:
            self._jobs[key] = replace(self._jobs[key], **columns)  # type: ignore[arg-type]


class ForgetsTheWatermark(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        self.change(replica.app, bid, watermark=None)
        return super()._rule(bid, replica, expired)


class ForgetsTicks(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        if bid.lease is None:
            self._ticks.pop(tick_key(replica.app, bid.tick), None)
        return super()._rule(bid, replica, expired)


class LooksBeforeItTakes(Broken):
    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        jobs, ticks = dict(self._jobs), dict(self._ticks)
        await asyncio.sleep(0)
        self._jobs, self._ticks = jobs, ticks
        return await super().claim(bids, replica=replica, timeout=timeout)


class IgnoresLeases(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        self.change(replica.app, bid, lease_until=None)
        return super()._rule(bid, replica, expired)


class NeverEndsALease(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        return super()._rule(
            bid if bid.lease is None else replace(bid, lease=timedelta(days=9)), replica, expired
        )


class LeasesWhatMayOverlap(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        return super()._rule(replace(bid, lease=bid.lease or timedelta(hours=1)), replica, expired)


class ForgetsTokens(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        tick = self._ticks.get(tick_key(replica.app, bid.tick))
        if tick is not None and tick.token == bid.token:
            bid = replace(bid, token=bid.token + " again")
        return super()._rule(bid, replica, expired)


class TakesTheLeaseAgain(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        answer = super()._rule(bid, replica, expired)
        if answer.won and bid.lease is not None:
            self.change(replica.app, bid, lease_until=self._now() + 10**10, released_at=None)
        return answer


class AnswersOnlyTheNewestToken(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        job = self._jobs.get(tick_key(replica.app, bid.tick)[:2], JobRow())
        if job.token != bid.token and bid.lease is not None:
            self._ticks.pop(tick_key(replica.app, bid.tick), None)
        return super()._rule(bid, replica, expired)


class AnswersTheNewestFence(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        answer = super()._rule(bid, replica, expired)
        if not answer.won:
            return answer
        return replace(answer, fence=self._jobs[tick_key(replica.app, bid.tick)[:2]].fence)


class ReleasesWhateverTheToken(Broken):
    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        held = [self._ticks.get(tick_key(replica.app, release.tick), TickRow()).token for release in releases]
        named = [replace(release, token=token or "") for release, token in zip(releases, held, strict=True)]
        await super().release(named, replica=replica)


class ReleasesWhateverTheTick(Broken):
    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        for release in releases:
            job = self._jobs.get(tick_key(replica.app, release.tick)[:2])
            if job is not None and job.token == release.token:
                self.change(replica.app, release, released_at=self._now())


class ReleasesWhateverTheClaim(Broken):
    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        await super().release(releases, replica=replica)
        for release in releases:
            if tick_key(replica.app, release.tick) in self._ticks:
                self.change(replica.app, release, released_at=self._now())


class MakesRowsOnRelease(Broken):
    async def release(self, releases: Sequence[Release], *, replica: Replica) -> None:
        for release in releases:
            app, job_id, scheduled_at = tick_key(replica.app, release.tick)
            self._jobs.setdefault((app, job_id), JobRow(watermark=scheduled_at))
        await super().release(releases, replica=replica)


class PrunesWithoutAFloor(Broken):
    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        pruned = await super().prune(app=app, keep=keep, limit=limit)
        self._jobs = {key: replace(job, floor=None) for key, job in self._jobs.items()}
        return pruned


class PrunesTheNewestFirst(Broken):
    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        doomed = sorted((key for key in self._ticks if key[0] == app), reverse=True)[:limit]
        for key in doomed:
            del self._ticks[key]
        return len(doomed)


class PrunesTheWatermark(Broken):
    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        pruned = await super().prune(app=app, keep=keep, limit=limit)
        self._jobs = {key: replace(job, watermark=None) for key, job in self._jobs.items()}
        return pruned


class PrunesUnreleasedClaims(Broken):
    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        self._ticks = {key: replace(tick, released_at=1) for key, tick in self._ticks.items()}
        return await super().prune(app=app, keep=keep, limit=limit)


class PrunesTheYoung(Broken):
    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        return await super().prune(app=app, keep=timedelta(0), limit=limit)


class PrunesWithoutLimit(Broken):
    async def prune(self, *, app: str, keep: timedelta, limit: int) -> int:
        return await super().prune(app=app, keep=keep, limit=10_000)


class ResetsTheFence(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        self.change(replica.app, bid, fence=0)
        return super()._rule(bid, replica, expired)


class CountsTheFenceFromOne(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        return replace(super()._rule(bid, replica, expired), fence=len(self._ticks))


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
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        answer = super()._rule(bid, replica, expired)
        if answer.ruling is Ruling.EARLY:
            app, job_id, scheduled_at = tick_key(replica.app, bid.tick)
            self._jobs[app, job_id] = JobRow(watermark=scheduled_at)
        return answer


class WinsAfterItsTime(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        return super()._rule(bid, replica, expired=False)


class SortsItsAnswers(Broken):
    async def claim(self, bids: Sequence[Bid], *, replica: Replica, timeout: timedelta) -> Sequence[Answer]:
        return sorted(
            await super().claim(bids, replica=replica, timeout=timeout), key=lambda answer: answer.tick
        )


class NamesTheLoser(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        return replace(super()._rule(bid, replica, expired), claimed_by=replica.label)


class ForgetsThePreviousTick(Broken):
    def _rule(self, bid: Bid, replica: Replica, expired: bool) -> Answer:
        return replace(super()._rule(bid, replica, expired), previous_at=None)


class RepairsByForgetting(Broken):
    async def repair(self, *, app: str, job_id: str) -> bool:
        repaired = await super().repair(app=app, job_id=job_id)
        self._ticks = {key: tick for key, tick in self._ticks.items() if key[2] <= self._now()}
        return repaired


class RepairsBelowTheFloor(Broken):
    async def repair(self, *, app: str, job_id: str) -> bool:
        repaired = await super().repair(app=app, job_id=job_id)
        self._jobs[app, job_id] = JobRow()
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
