"""What a token asked again is told: the stored answer, and nothing changes."""

from __future__ import annotations

from datetime import timedelta

from onebeat.model import Answer, Bid, Ruling, Tick
from onebeat.testing.contract.bidding import A_MOMENT, HOUR, SHORT, Bidding


class TokenRules(Bidding):
    """C-TOKEN: a claim whose answer was lost is asked again with the same token."""

    async def test_a_token_asked_again_gets_its_answer_again(self) -> None:
        """C-TOKEN: "yours", not "taken"; with the same fence, attempt and previous tick."""
        first, second = await self.ticks(2)
        await self.run(first)
        answer = await self.won(second)
        await self.asked_again(answer)

    async def test_a_token_is_asked_again_through_any_handle(self) -> None:
        """C-TOKEN: the connection that broke is not the one that asks again."""
        [tick] = await self.ticks(1)
        answer = await self.won(tick)
        for handle in self.handles():
            again = await self.bid(tick, answer.token, store=handle)
            assert (again.ruling, again.fence) == (Ruling.WON, answer.fence)

    async def test_a_token_asked_again_after_its_release_gets_its_answer_again(self) -> None:
        """C-TOKEN: a duplicate that arrives late takes nothing again: the next tick is free."""
        first, second = await self.ticks(2)
        answer = await self.run(first)
        await self.asked_again(answer)
        assert await self.ruling(second) is Ruling.WON

    async def test_a_token_asked_again_where_overlap_is_allowed_gets_its_answer_again(self) -> None:
        """C-TOKEN: before and after the release, and after an older and a newer tick were won."""
        first, second, third = await self.ticks(3)
        answer = await self.won(second, lease=None)
        await self.asked_again(answer, lease=None)
        await self.won(third, lease=None)
        await self.won(first, lease=None)
        await self.asked_again(answer, lease=None)
        await self.release(second, answer.token)
        await self.asked_again(answer, lease=None)

    async def test_a_token_asked_again_after_a_later_claim_gets_its_answer_again(self) -> None:
        """C-TOKEN: and the later claim keeps its lease, its fence and its previous tick."""
        first, second, third = await self.ticks(3)
        answer = await self.run(first)
        later = await self.won(second)
        await self.asked_again(answer)
        await self.asked_again(later)
        assert await self.ruling(third) is Ruling.OVERLAPPED
        await self.release(second, later.token)
        newest = await self.won(third)
        assert newest.previous_at == second.scheduled_at
        assert newest.fence > later.fence

    async def test_a_token_asked_again_does_not_extend_its_lease(self) -> None:
        """C-TOKEN: not even with a longer one."""
        first, second = await self.ticks(2)
        answer = await self.won(first, lease=SHORT)
        await self.asked_again(answer, lease=HOUR)
        await self.pass_time(2 * A_MOMENT)
        await self.asked_again(answer, lease=HOUR)
        assert await self.ruling(second) is Ruling.WON

    async def test_a_token_asked_again_after_pruning_never_gets_another_win(self) -> None:
        """C-TOKEN, D-PRUNE: the stored answer or none; never a new fence."""
        first, second, third = await self.ticks(3)
        await self.run(first)
        answer = await self.run(second)
        await self.prune()
        again = await self.bid(second, answer.token)
        if again.won:
            assert (again.fence, again.previous_at) == (answer.fence, answer.previous_at)
        else:
            assert again.ruling is Ruling.CLAIMED
        assert await self.ruling(third) is Ruling.WON

    async def test_a_token_that_lost_may_win_when_asked_again(self) -> None:
        """C-TOKEN: only a claim that landed is kept; one that was overlapped or early may be made again."""
        first, second = await self.ticks(2)
        answer = await self.won(first)
        refused = await self.bid(second, by="b")
        assert refused.ruling is Ruling.OVERLAPPED
        await self.release(first, answer.token)
        assert (await self.bid(second, refused.token, by="b")).ruling is Ruling.WON

    async def test_a_batch_asked_again_gets_the_same_answers(self) -> None:
        """C-TOKEN, C-BATCH: those that won have won, those that lost have lost."""
        first = (await self.ticks(1))[0].scheduled_at
        await self.won(Tick("job-3", first), by="rival")
        bids = [Bid(Tick(f"job-{n}", first), f"{self.app}-{n}", HOUR) for n in range(6)]
        once, again = await self.bid_all(bids), await self.bid_all(bids)
        assert [(one.ruling, one.fence) for one in once] == [(one.ruling, one.fence) for one in again]
        assert [one.won for one in once] == [True, True, True, False, True, True]

    async def test_a_claim_whose_time_is_spent_wins_nothing(self) -> None:
        """C-CANCEL: who asked has given up; but a claim that had landed before is told as won."""
        landed, tick = await self.ticks(2)
        answer = await self.run(landed)
        bid = Bid(tick, "late", HOUR)
        [refused] = await self.bid_all([bid], timeout=self.spent)
        assert refused.ruling is Ruling.EXPIRED
        [again] = await self.bid_all([Bid(landed, answer.token, HOUR)], timeout=self.spent)
        assert (again.ruling, again.fence) == (Ruling.WON, answer.fence)
        assert (await self.won(tick)).previous_at == landed.scheduled_at

    async def asked_again(self, answer: Answer, lease: timedelta | None = HOUR) -> None:
        again = await self.bid(answer.tick, answer.token, lease=lease)
        told = (again.ruling, again.fence, again.attempt, again.previous_at)
        assert told == (Ruling.WON, answer.fence, answer.attempt, answer.previous_at)
