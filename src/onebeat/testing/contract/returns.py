"""What becomes of the runs of those who were declared dead, and come back."""

from __future__ import annotations

from onebeat.fleet import Held
from onebeat.model import Ruling, Verdict
from onebeat.testing.contract.bidding import HOUR, token
from onebeat.testing.contract.living import Living


class ReturnRules(Living):
    """F-LOST: one who was declared dead comes back under a new name, and keeps what is still its own."""

    async def test_one_who_comes_back_takes_its_claim_up_again(self) -> None:
        """F-LOST: as if nothing had been; it blocks again, and is released under its token."""
        first, second = await self.ticks(2)
        lost = await self.lost(first)
        assert await self.reassert(Held(first, lost.token, HOUR)) == [True]
        await self.join("report")
        assert await self.orders() == ()
        row = await self.recorded(first)
        assert (row.verdict, row.replica, row.note) == (None, "returned", None)
        assert await self.ruling(second) is Ruling.OVERLAPPED
        assert not (await self.bid_attempt(first)).won
        assert (await self.state()).failures == 0
        await self.finish(first, lost.token, Verdict.RAN, by="returned")
        assert (await self.recorded(first)).verdict is Verdict.RAN
        await self.won(second)

    async def test_a_claim_taken_up_again_is_lost_with_its_new_holder(self) -> None:
        """F-LOST, C-CRASH: should that one die as well."""
        [tick] = await self.ticks(1)
        lost = await self.lost(tick)
        assert await self.reassert(Held(tick, lost.token, HOUR)) == [True]
        [buried] = await self.death_of("returned")
        assert (buried.tick, buried.attempt) == (tick, 1)
        assert (await self.bid_attempt(tick)).won

    async def test_a_claim_is_gone_once_a_later_tick_was_won(self) -> None:
        """F-LOST: two would run at once."""
        first, second = await self.ticks(2)
        lost = await self.lost(first, rerun=False)
        later = await self.won(second)
        assert await self.reassert(Held(first, lost.token, HOUR)) == [False]
        assert (await self.recorded(first)).verdict is Verdict.LOST
        await self.release(second, later.token)
        assert await self.reassert(Held(first, lost.token, HOUR)) == [False]

    async def test_a_claim_is_gone_once_its_tick_is_run_again(self) -> None:
        """F-LOST: the next attempt is somebody's."""
        [tick] = await self.ticks(1)
        lost = await self.lost(tick)
        again = await self.bid_attempt(tick)
        for lease in (HOUR, None):
            assert await self.reassert(Held(tick, lost.token, lease)) == [False]
        await self.finish(tick, again.token, Verdict.RAN)
        assert await self.reassert(Held(tick, lost.token, HOUR)) == [False]
        assert (await self.recorded(tick)).verdict is Verdict.RAN

    async def test_claims_that_may_overlap_are_taken_up_whatever_else_was_won(self) -> None:
        """F-LOST: each by its own tick; asked for together, each has its answer."""
        ticks = await self.ticks(3, "overlaps")
        gone, other = await self.ticks(2)
        await self.join("report", "overlaps", by="b")
        mine = [await self.won(tick, by="b", lease=None) for tick in ticks[:2]]
        blocked = await self.won(gone, by="b")
        await self.death_of("b")
        await self.won(ticks[2], lease=None)
        await self.won(other)
        held = [
            Held(mine[0].tick, mine[0].token, None),
            Held(gone, blocked.token, HOUR),
            Held(mine[1].tick, mine[1].token, None),
        ]
        assert await self.reassert(*held) == [True, False, True]
        assert await self.reassert(*held) == [True, False, True]
        assert await self.reassert() == []

    async def test_a_claim_that_was_never_lost_stays_its_own(self) -> None:
        """F-LOST: of one who was away, but not for long enough; under its old or a new name."""
        first, second = await self.ticks(2)
        await self.join("report", by="returned")
        mine = await self.won(first, by="returned")
        assert await self.reassert(Held(first, mine.token, HOUR)) == [True]
        assert await self.ruling(second) is Ruling.OVERLAPPED

    async def test_a_claim_that_the_store_never_heard_of_is_taken_anew(self) -> None:
        """F-LOST: a server that took over may have missed it; unless its job has gone on."""
        first, second = await self.ticks(2)
        mine, elsewhere = token(), token()
        assert await self.reassert(Held(second, mine, HOUR)) == [True]
        assert (await self.bid(second, mine, by="returned")).won
        assert await self.reassert(Held(first, elsewhere, HOUR)) == [False]

    async def reassert(self, *claims: Held) -> list[bool]:
        await self.join("report", by="returned")
        return list(await self.fleet.reassert(claims, replica=self.replica("returned")))
