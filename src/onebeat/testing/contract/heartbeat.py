"""Who is alive, and who says so."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from onebeat.model import Ruling, Verdict
from onebeat.testing.contract.living import A_BREATH, A_WHILE, TTL, Living


class BeatRules(Living):
    """F-BEAT: each replica renews its row, and is told how the fleet stands."""

    async def test_a_beat_tells_who_lives(self) -> None:
        """F-BEAT, C-APP: those of the app, whoever asks, itself included."""
        for name in ("a", "b", "c"):
            await self.join(by=name)
        await self.register(by="elsewhere", app=f"{self.app}-other")
        for name in ("a", "c"):
            pulse = await self.beat(name)
            assert sorted(pulse.living) == [f"id-of-{living}" for living in ("a", "b", "c")]
            assert (pulse.dead, pulse.healthy) == (False, False)

    async def test_a_beat_of_one_who_never_joined_says_that_it_is_dead(self) -> None:
        """F-BEAT: it has to join anew, and nobody else hears of it."""
        await self.join(by="a")
        assert (await self.beat("stranger")).dead
        assert (await self.beat("a")).living == ("id-of-a",)

    async def test_a_beat_tells_by_how_much_a_clock_leads(self) -> None:
        """F-BEAT, F-DRIFT: ahead is positive."""
        await self.join(by="a")
        for ahead in (timedelta(hours=1), timedelta(hours=-1)):
            pulse = await self.beat(now=await self.store_time() + ahead)
            assert abs(pulse.skew - ahead.total_seconds()) < 60

    async def test_one_who_beats_all_along_becomes_healthy(self) -> None:
        """F-JUDGE: after a whole time to live, not before."""
        await self.join(by="a")
        assert not (await self.beat("a")).healthy
        await self.healthy("a")

    async def test_a_beat_after_a_gap_starts_health_anew(self) -> None:
        """F-JUDGE: whoever slept may have slept through the beats of all others."""
        await self.join(by="a")
        await self.healthy("a")
        await self.pass_time(A_WHILE)
        assert not (await self.beat("a")).healthy
        await self.healthy("a")

    async def test_one_who_has_left_lives_no_more(self) -> None:
        """F-BEAT: and is known to be dead from then on."""
        await self.join(by="a")
        await self.join(by="b")
        await self.fleet.leave(replica=self.replica("b"))
        assert (await self.beat("a")).living == ("id-of-a",)
        assert (await self.beat("b")).dead
        await self.fleet.leave(replica=self.replica("stranger"))

    async def test_a_claim_of_one_who_has_left_blocks_nothing(self) -> None:
        """F-BEAT: what it holds still, nobody runs."""
        first, second = await self.ticks(2)
        await self.join("report", by="b")
        await self.won(first, by="b")
        await self.fleet.leave(replica=self.replica("b"))
        await self.won(second)


class JudgeRules(Living):
    """F-JUDGE: death is declared, by those who may."""

    async def test_one_who_falls_silent_is_declared_dead(self) -> None:
        """F-JUDGE: by a healthy one; and stays dead, though it beats or joins again."""
        for name in ("b", "c"):
            await self.join(by=name)
        await self.death_of("b", while_living=["c"])
        assert (await self.beat("b")).dead
        assert sorted((await self.beat("c")).living) == ["id-of-c", "id-of-judge"]
        await self.join(by="b")
        pulse = await self.beat("b")
        assert pulse.dead
        assert "id-of-b" not in pulse.living

    async def test_one_who_came_late_may_not_judge(self) -> None:
        """F-JUDGE: it has not been healthy for a whole time to live."""
        await self.join(by="b")
        await self.pass_time(A_WHILE)
        await self.join(by="judge")
        pulse = await self.beat("judge")
        assert (pulse.healthy, pulse.suspects) == (False, True)
        assert await self.bury() == []
        assert not (await self.beat("b")).dead

    async def test_one_who_slept_itself_may_not_judge(self) -> None:
        """F-JUDGE: neither before its next beat nor right after it."""
        for name in ("b", "judge"):
            await self.join(by=name)
        await self.healthy("b", "judge")
        await self.pass_time(A_WHILE)
        assert await self.bury() == []
        await self.beat("judge")
        assert await self.bury() == []
        assert not (await self.beat("b")).dead

    async def test_neither_a_stranger_nor_the_dead_may_judge(self) -> None:
        """F-JUDGE: however long ago they were healthy."""
        for name in ("b", "c"):
            await self.join(by=name)
        await self.healthy("b", "c")
        await self.death_of("b", while_living=["c"])
        await self.pass_time(A_WHILE)
        for nobody in ("b", "stranger"):
            await self.bury(nobody)
        assert not (await self.beat("c")).dead

    async def test_an_outage_of_the_store_kills_nobody(self) -> None:
        """F-JUDGE: nobody has beaten for three times their time to live, and nobody may judge then."""
        names = ("a", "b", "judge")
        first, second = await self.ticks(2)
        for name in names:
            await self.join("report", by=name)
        await self.healthy(*names)
        await self.won(first, by="b")
        await self.pass_time(3 * A_WHILE)
        for name in names:
            await self.bury(name)
            assert not (await self.beat(name)).dead
            await self.bury(name)
        assert not (await self.bid(second)).won
        await self.healthy(*names)

    async def test_a_beat_and_an_obituary_exclude_each_other(self) -> None:
        """F-JUDGE: whoever was told that it lives, lives; whoever is dead is told so."""
        self.wait_for_deaths()
        await self.join(by="judge")
        for n in range(4):
            name = f"b{n}"
            await self.join(by=name)
            while not (await self._may_judge()):
                await self.pass_time(A_BREATH)
            pulse, _ = await asyncio.gather(self.beat(name, handle=n), self.bury(handle=n + 1))
            assert (await self.beat(name)).dead == pulse.dead
            await self.fleet.leave(replica=self.replica(name))

    async def _may_judge(self) -> bool:
        pulse = await self.beat("judge")
        return pulse.healthy and pulse.suspects

    async def test_the_dead_of_one_app_are_nobodys_elsewhere(self) -> None:
        """C-APP: a replica of the same id lives there."""
        other = f"{self.app}-other"
        await self.join(by="b")
        await self.register(by="b", app=other)
        await self.death_of("b")
        replica = self.replica("b", other)
        pulse = await self.fleet.beat(replica=replica, now=await self.store_time(), ttl=100 * TTL)
        assert (pulse.dead, pulse.living) == (False, (replica.id,))

    async def test_the_dead_of_one_app_hold_up_nobody_elsewhere(self) -> None:
        """C-APP: the replica of the same id there wins, and its claim blocks."""
        first, second = await self.ticks(2)
        other = f"{self.app}-other"
        await self.join("report", by="b")
        await self.death_of("b")
        assert (await self.bid(first, by="b", app=other)).won
        assert (await self.bid(second, by="a", app=other)).ruling is Ruling.OVERLAPPED

    async def test_the_dead_win_nothing(self) -> None:
        """F-JUDGE: what they won would block nobody, and what they hold has its verdict."""
        [tick] = await self.ticks(1)
        await self.join("report", by="b")
        await self.death_of("b")
        assert not (await self.bid(tick, by="b")).won
        await self.won(tick)

    async def test_the_dead_are_no_suspects_for_ever(self) -> None:
        """F-JUDGE: once they were buried there is nothing to do, beat after beat."""
        await self.join("report", by="b")
        await self.death_of("b")
        await self.all_buried()

    async def test_what_one_who_has_left_still_held_is_lost_in_the_end(self) -> None:
        """F-BEAT, F-VERDICT: somebody looks after it, as after the claims of the dead."""
        [tick] = await self.ticks(1)
        await self.join("report", by="b")
        await self.won(tick, by="b")
        await self.fleet.leave(replica=self.replica("b"))
        await self.join(by="judge")
        await self.all_buried()
        assert (await self.recorded(tick)).verdict is Verdict.LOST

    async def all_buried(self) -> None:
        """Let the judge beat and bury until nobody has been suspected for a good while."""
        self.wait_for_deaths()
        quiet = 0
        for _ in range(100):
            pulse = await self.beat("judge")
            quiet = 0 if pulse.suspects else quiet + 1
            if quiet * A_BREATH > 2 * A_WHILE:
                return
            if pulse.suspects:
                await self.bury()
            await self.pass_time(A_BREATH)
        raise AssertionError("somebody is suspected all along")
