"""What a claim blocks, and what ends it."""

from __future__ import annotations

from datetime import timedelta

from onebeat.model import LONGEST, Ruling
from onebeat.testing.contract.bidding import A_MOMENT, SHORT, Bidding, token


class LeaseRules(Bidding):
    """C-LEASE, C-CRASH and C-RELEASE."""

    async def test_an_unreleased_claim_blocks_the_jobs_later_ticks(self) -> None:
        """C-LEASE: with overlap forbidden, and other jobs are not concerned."""
        first, second = await self.ticks(2)
        await self.won(first)
        assert await self.ruling(second) is Ruling.OVERLAPPED
        [elsewhere] = await self.ticks(1, "another job")
        assert await self.ruling(elsewhere) is Ruling.WON

    async def test_a_refused_bid_leaves_its_tick_to_be_won_later(self) -> None:
        """C-LEASE: a bid that was overlapped has moved nothing."""
        first, second = await self.ticks(2)
        answer = await self.won(first)
        refused = await self.bid(second, by="b")
        assert refused.ruling is Ruling.OVERLAPPED
        assert refused.watermark == first.scheduled_at
        await self.release(first, answer.token)
        assert (await self.won(second)).previous_at == first.scheduled_at

    async def test_a_claim_stops_blocking_when_its_lease_ends(self) -> None:
        """C-LEASE, C-CRASH: the replica died; its tick is lost, the next one runs."""
        first, second = await self.ticks(2)
        await self.won(first, lease=SHORT)
        await self.pass_time(2 * A_MOMENT)
        assert await self.ruling(first) is Ruling.CLAIMED
        assert await self.ruling(second) is Ruling.WON

    async def test_the_longest_lease_overflows_nothing(self) -> None:
        """C-LEASE: sums are capped."""
        first, second, third = await self.ticks(3)
        answer = await self.won(first, lease=LONGEST)
        assert await self.ruling(second) is Ruling.OVERLAPPED
        await self.release(first, answer.token)
        await self.won(third, lease=timedelta.max)

    async def test_a_claim_that_allows_overlap_takes_no_lease(self) -> None:
        """C-LEASE: a later tick may be won while it runs, whatever that one's policy."""
        first, second, third = await self.ticks(3)
        await self.won(first, lease=None)
        assert await self.ruling(second, lease=None) is Ruling.WON
        assert await self.ruling(third) is Ruling.WON

    async def test_a_claim_that_allows_overlap_leaves_anothers_lease_alone(self) -> None:
        """C-LEASE: while a deploy changes the policy, the claim with a lease blocks as before."""
        first, second, third = await self.ticks(3)
        await self.won(first)
        await self.won(second, lease=None)
        assert await self.ruling(third) is Ruling.OVERLAPPED

    async def test_a_release_ends_the_block(self) -> None:
        """C-RELEASE: the next tick can be won at once."""
        first, second = await self.ticks(2)
        await self.run(first)
        assert await self.ruling(second) is Ruling.WON

    async def test_a_release_by_another_token_frees_nothing(self) -> None:
        """C-RELEASE: it names tick and token."""
        first, second = await self.ticks(2)
        await self.won(first)
        await self.release(first, token(), by="b")
        assert await self.ruling(second) is Ruling.OVERLAPPED

    async def test_a_release_of_another_tick_frees_nothing(self) -> None:
        """C-RELEASE: the token alone is not enough."""
        first, second = await self.ticks(2)
        answer = await self.won(first)
        await self.release(second, answer.token)
        assert await self.ruling(second) is Ruling.OVERLAPPED

    async def test_a_late_release_never_frees_a_newer_claim(self) -> None:
        """C-RELEASE: its lease had ended, another replica went on."""
        first, second, third = await self.ticks(3)
        stale = await self.won(first, lease=SHORT)
        await self.pass_time(2 * A_MOMENT)
        await self.won(second, by="b")
        await self.release(first, stale.token)
        assert await self.ruling(third) is Ruling.OVERLAPPED

    async def test_releasing_twice_is_harmless(self) -> None:
        """C-RELEASE: also after the next tick was claimed, which it leaves alone."""
        first, second, third = await self.ticks(3)
        answer = await self.run(first)
        await self.release(first, answer.token)
        await self.won(second)
        await self.release(first, answer.token)
        assert await self.ruling(third) is Ruling.OVERLAPPED

    async def test_releasing_a_claim_that_never_landed_is_harmless(self) -> None:
        """C-RELEASE: neither the job nor the tick is known afterwards."""
        [tick] = await self.ticks(1)
        await self.release(tick, token())
        newcomer = await self.won(tick)
        assert newcomer.previous_at is None

    async def test_one_release_statement_ends_only_what_it_names_rightly(self) -> None:
        """C-RELEASE, C-BATCH: a wrong token among right ones spoils nothing."""
        ticks = {job_id: await self.ticks(2, job_id) for job_id in ("a", "b", "c")}
        tokens = {job_id: (await self.won(first)).token for job_id, (first, _) in ticks.items()}
        tokens["b"] = token()
        ends = [self.ended(ticks[job_id][0], tokens[job_id]) for job_id in ("c", "b", "a")]
        await self.store.release(ends, replica=self.replica())
        rulings = {job_id: await self.ruling(second) for job_id, (_, second) in ticks.items()}
        assert rulings == {"a": Ruling.WON, "b": Ruling.OVERLAPPED, "c": Ruling.WON}
