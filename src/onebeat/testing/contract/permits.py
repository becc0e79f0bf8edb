"""Permits of limits that a whole fleet shares."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from onebeat.model import LONGEST
from onebeat.testing.contract.asking import STRANGE, Asking
from onebeat.testing.contract.bidding import A_MOMENT, A_WHILE, HOUR, SHORT


class PermitRules(Asking):
    """J-LIMIT, across a fleet."""

    async def test_no_more_permits_than_there_are(self) -> None:
        """J-LIMIT: the next is refused until one is given back."""
        assert [await self.take(name, most=3) for name in "abcd"] == [True, True, True, False]
        await self.give_back("b")
        assert [await self.take(name, most=3) for name in "de"] == [True, False]

    async def test_of_many_takers_at_once_as_many_get_one_as_there_are(self) -> None:
        """J-LIMIT: through whatever handle, again and again."""
        for most in (1, 3, 7):
            prefix = f"limit-{most}"
            names = [f"taker {n}" for n in range(20)]
            for _ in range(2):
                asked = (self.take(name, most=most, prefix=prefix, handle=n) for n, name in enumerate(names))
                got = await asyncio.gather(*asked)
                assert sum(got) == most
                holders = [name for name, has in zip(names, got, strict=True) if has]
                await asyncio.gather(*(self.give_back(name, prefix=prefix) for name in holders))

    async def test_while_permits_change_hands_there_are_never_too_many(self) -> None:
        """J-LIMIT: whoever has one counts it, before giving it back."""
        self.permits()
        inside: set[str] = set()
        most_inside = 0

        async def taker(n: int) -> None:
            nonlocal most_inside
            for turn in range(4):
                name = f"{n} in turn {turn}"
                if await self.take(name, most=2, handle=n):
                    inside.add(name)
                    most_inside = max(most_inside, len(inside))
                    await asyncio.sleep(0)
                    inside.discard(name)
                    await self.give_back(name)

        await asyncio.gather(*(taker(n) for n in range(8)))
        assert 1 <= most_inside <= 2
        assert [await self.take(name, most=2) for name in "abc"] == [True, True, False]

    async def test_asked_again_a_token_has_the_permit_it_has(self) -> None:
        """J-LIMIT, C-TOKEN: one, not two; and it is given back once."""
        assert [await self.take("a", most=2) for _ in range(3)] == [True, True, True]
        assert [await self.take(name, most=2) for name in "bc"] == [True, False]
        await self.give_back("a")
        await self.give_back("a")
        assert [await self.take(name, most=2) for name in "cd"] == [True, False]

    async def test_giving_back_what_one_has_not_is_harmless(self) -> None:
        """J-LIMIT: of an unknown prefix, of another token, of another app."""
        assert await self.take("a", most=1)
        await self.give_back("b")
        await self.give_back("a", prefix="unknown")
        await self.give_back("a", app=f"{self.app}-other")
        assert not await self.take("c", most=1)

    async def test_a_permit_is_free_again_when_its_lease_ends(self) -> None:
        """J-LIMIT, C-LEASE: its taker may have died; what it gives back later is not another's."""
        assert await self.take("a", most=1, lease=timedelta(seconds=A_WHILE))
        assert not await self.take("b", most=1)
        await self.pass_time(A_WHILE + A_MOMENT)
        assert await self.take("b", most=1)
        assert not await self.take("a", most=1)
        await self.give_back("a")
        assert not await self.take("c", most=1)

    async def test_a_lapsed_token_may_take_a_permit_anew(self) -> None:
        """J-LIMIT: for a whole lease."""
        assert await self.take("a", most=1, lease=SHORT)
        await self.pass_time(2 * A_MOMENT)
        assert await self.take("a", most=1, lease=HOUR)
        await self.pass_time(2 * A_MOMENT)
        assert not await self.take("b", most=1)

    async def test_a_permit_is_free_again_when_its_holder_is_dead(self) -> None:
        """J-LIMIT, F-JUDGE: the living keep theirs."""
        await self.register(by="b")
        assert await self.take("b's", most=2, by="b")
        assert await self.take("mine", most=2, by="judge")
        assert not await self.take("c", most=2, by="judge")
        await self.die("b")
        assert [await self.take(name, most=2, by="judge") for name in "cd"] == [True, False]

    async def test_one_who_was_declared_dead_gets_none(self) -> None:
        """J-LIMIT, F-JUDGE: it would be free for the others at once. Nor has he what he had."""
        await self.register(by="b")
        assert await self.take("b's", most=2, by="b")
        await self.die("b")
        assert [await self.take(name, most=2, by="b") for name in ("b's", "another")] == [False, False]
        assert [await self.take(name, most=2, by="judge") for name in "cde"] == [True, True, False]

    async def test_a_smaller_limit_counts_what_was_taken_under_a_larger(self) -> None:
        """J-LIMIT: while a deploy changes it, nobody loses what he has."""
        assert [await self.take(name, most=3) for name in "abc"] == [True, True, True]
        assert [await self.take(name, most=1) for name in "abcd"] == [True, True, True, False]
        await self.give_back("a")
        await self.give_back("b")
        assert not await self.take("d", most=1)
        assert await self.take("d", most=2)
        await self.give_back("c")
        await self.give_back("d")
        assert [await self.take(name, most=1) for name in "ef"] == [True, False]

    async def test_prefixes_and_apps_have_permits_of_their_own(self) -> None:
        """J-LIMIT, C-APP: however they are spelled."""
        for prefix in ("mail", "mail.", "Mail", *STRANGE):
            assert await self.take("a", most=1, prefix=prefix)
            assert not await self.take("b", most=1, prefix=prefix)
            await self.give_back("a", prefix=prefix)
            assert await self.take("b", most=1, prefix=prefix)
        assert await self.take("a", most=1, prefix="mail", app=f"{self.app}-other")

    async def test_the_longest_lease_of_a_permit_overflows_nothing(self) -> None:
        """C-LEASE: sums are capped."""
        assert await self.take("a", most=1, lease=timedelta.max)
        assert await self.take("b", most=2, lease=LONGEST)
        assert not await self.take("c", most=2)

    async def take(
        self,
        token: str,
        *,
        most: int,
        prefix: str = "mail.",
        lease: timedelta = HOUR,
        by: str = "a",
        app: str | None = None,
        handle: int = 0,
    ) -> bool:
        return await self.permits(handle).take_permit(
            prefix, most=most, token=token, lease=lease, replica=self.replica(by, app)
        )

    async def give_back(self, token: str, *, prefix: str = "mail.", app: str | None = None) -> None:
        await self.permits().return_permit(prefix, token=token, replica=self.replica("a", app))
