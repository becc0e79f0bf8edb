"""What a pause refuses, until when, and what a resume ends."""

from __future__ import annotations

from datetime import timedelta

from onebeat.control import Target
from onebeat.model import Ruling
from onebeat.testing.contract.asking import NO_TEXTS, STRANGE, WILD, Asking, refused
from onebeat.testing.contract.bidding import A_MOMENT, A_WHILE, HOUR, MINUTE

REPORT = Target(job_id="report")


class PauseRules(Asking):
    """F-PAUSE: pause and resume."""

    async def test_a_paused_job_is_refused_and_no_other(self) -> None:
        """F-PAUSE: whoever asks, with a lease or without; decided in the claim."""
        await self.pause(REPORT)
        first, second = await self.ticks(2)
        assert await self.ruling(first) is Ruling.PAUSED
        assert await self.ruling(second, lease=None) is Ruling.PAUSED
        for other in ("reports", "repor", "Report"):
            await self.won((await self.ticks(1, other))[0])

    async def test_a_paused_prefix_refuses_the_ids_that_begin_with_it(self) -> None:
        """F-PAUSE: the prefix itself included."""
        await self.pause(Target(prefix="mail."))
        for covered in ("mail.", "mail.daily", "mail.größe"):
            assert await self.ruling((await self.ticks(1, covered))[0]) is Ruling.PAUSED
        for other in ("mail", "mailer.daily", "email.daily", "Mail.daily"):
            await self.won((await self.ticks(1, other))[0])

    async def test_a_prefix_is_taken_literally(self) -> None:
        """F-PAUSE: wildcards are letters like any other."""
        for prefix, other in WILD.items():
            await self.pause(Target(prefix=prefix))
            await self.won((await self.ticks(1, other))[0])
            assert await self.ruling((await self.ticks(1, f"{prefix}1"))[0]) is Ruling.PAUSED
            await self.resume(Target(prefix=prefix))

    async def test_a_paused_app_refuses_all_of_its_jobs_and_no_other_apps(self) -> None:
        """F-PAUSE, C-APP: also jobs seen for the first time."""
        await self.pause(Target.app())
        [tick] = await self.ticks(1)
        [other] = await self.ticks(1, "never seen")
        assert await self.ruling(tick) is Ruling.PAUSED
        assert await self.ruling(other) is Ruling.PAUSED
        assert (await self.bid(tick, app=f"{self.app}-other")).won
        assert not await self.resume(Target.app(), app=f"{self.app}-other")
        assert await self.ruling(tick) is Ruling.PAUSED

    async def test_strange_ids_and_prefixes_are_paused_like_any(self) -> None:
        """F-PAUSE, J-ADD: quotes, wildcards, every script, 200 characters."""
        for strange in STRANGE:
            for target in (Target(job_id=strange), Target(prefix=strange)):
                await self.pause(target)
                assert await self.ruling((await self.ticks(1, strange))[0]) is Ruling.PAUSED, strange
                assert await self.resume(target)
            await self.won((await self.ticks(1, strange))[0])

    async def test_a_pause_ends_by_itself_when_its_time_has_come(self) -> None:
        """F-PAUSE: by the store's clock."""
        [tick] = await self.ticks(1)
        await self.pause(REPORT)
        assert await self.ruling(tick) is Ruling.PAUSED
        await self.pause(REPORT, await self.store_time() + timedelta(seconds=A_WHILE))
        await self.pass_time(A_WHILE + A_MOMENT)
        await self.won(tick)
        assert not await self.resume(REPORT)

    async def test_a_pause_without_an_end_holds_until_it_is_resumed(self) -> None:
        """F-PAUSE: and a resume is told whether there was one."""
        [tick] = await self.ticks(1)
        assert not await self.resume(REPORT)
        await self.pause(REPORT)
        await self.pass_time(2 * A_MOMENT)
        assert await self.ruling(tick) is Ruling.PAUSED
        assert await self.resume(REPORT)
        assert not await self.resume(REPORT)
        await self.won(tick)

    async def test_a_resume_ends_the_pause_of_exactly_its_target(self) -> None:
        """F-PAUSE: others that cover the job stay."""
        targets = (REPORT, Target(prefix="report"), Target(prefix="rep"), Target.app())
        [tick] = await self.ticks(1)
        for target in targets:
            await self.pause(target)
        for target in targets:
            assert await self.ruling(tick) is Ruling.PAUSED, target
            assert await self.resume(target)
        await self.won(tick)

    async def test_paused_again_the_newer_end_holds(self) -> None:
        """F-PAUSE: be it later, earlier or none."""
        now = await self.store_time()
        [tick] = await self.ticks(1)
        await self.pause(REPORT, now + timedelta(seconds=A_WHILE))
        await self.pause(REPORT)
        await self.pass_time(A_WHILE + A_MOMENT)
        assert await self.ruling(tick) is Ruling.PAUSED
        await self.pause(REPORT, await self.store_time() + HOUR)
        assert await self.ruling(tick) is Ruling.PAUSED
        await self.pause(REPORT, await self.store_time() + timedelta(seconds=A_WHILE))
        await self.pass_time(A_WHILE + A_MOMENT)
        await self.won(tick)

    async def test_paused_once_more_after_a_resume_it_is_refused_again(self) -> None:
        """F-PAUSE: an ended pause does not stand in the way of the next."""
        first, second = await self.ticks(2)
        await self.pause(REPORT)
        await self.resume(REPORT)
        await self.run(first)
        await self.pause(REPORT)
        assert await self.ruling(second) is Ruling.PAUSED

    async def test_what_runs_goes_on_through_a_pause(self) -> None:
        """F-PAUSE, C-TOKEN: its token is told its answer, and its release counts."""
        first, second = await self.ticks(2)
        answer = await self.won(first)
        await self.pause(REPORT)
        assert (await self.bid(first, answer.token)).won
        await self.release(first, answer.token)
        await self.resume(REPORT)
        await self.won(second)

    async def test_what_is_triggered_runs_through_a_pause(self) -> None:
        """F-PAUSE: somebody asked for it, knowing better."""
        await self.register("report")
        await self.pause(Target.app())
        assert (await self.bid_triggered(await self.trigger(), HOUR)).won

    async def test_what_passed_in_a_pause_is_never_owed(self) -> None:
        """F-PAUSE, C-CATCH: a winner is told that nothing before the end of the pause is."""
        [tick] = await self.ticks(1)
        await self.register("report", "another")
        await self.pass_time(A_MOMENT)
        for target in (REPORT, Target(prefix="rep"), Target.app()):
            await self.pause(target)
            await self.pass_time(A_MOMENT)
            before = await self.store_time()
            await self.resume(target)
            owed_since = (await self.state()).owed_since
            assert before <= owed_since <= await self.store_time()
        answer = await self.won(tick)
        assert answer.owed_since == owed_since
        assert (await self.state("another")).owed_since == owed_since  # the app's pause covered it

    async def test_a_pause_of_others_leaves_what_a_job_is_owed(self) -> None:
        """F-PAUSE, C-CATCH: only pauses that cover it count."""
        await self.register("report")
        since = (await self.state()).owed_since
        await self.pass_time(A_MOMENT)
        for target in (Target(job_id="another"), Target(prefix="reporter")):
            await self.pause(target)
            await self.resume(target)
        await self.pause(Target.app(), app=f"{self.app}-other")
        await self.resume(Target.app(), app=f"{self.app}-other")
        assert (await self.state()).owed_since == since

    async def test_nonsense_is_refused_and_leaves_nothing(self) -> None:
        """F-PAUSE: neither a pause nor a row in the audit."""
        ask = {"app": self.app, "by": "ada", "reason": "repairs"}
        for wrong in ({key: text} for key in ("by", "reason") for text in NO_TEXTS):
            texts = {**ask, **wrong}
            await refused(self.control.pause(REPORT, **texts, until=None))  # type: ignore[arg-type]
            await refused(self.control.resume(REPORT, **texts))  # type: ignore[arg-type]
        now = await self.store_time()
        for until in (now - MINUTE, now, (now + HOUR).replace(tzinfo=None), "tomorrow"):
            assert "until" in str(await refused(self.pause(REPORT, until)))  # type: ignore[arg-type]
        await self.won((await self.ticks(1))[0])
        assert list(await self.audit()) == []

    async def test_texts_of_200_strange_characters_are_kept_as_they_are(self) -> None:
        """F-PAUSE: who asked and why is shown as it was given."""
        for text in STRANGE:
            await self.control.pause(REPORT, app=self.app, by=text, reason=text, until=None)
            newest = (await self.audit(limit=1))[0]
            assert (newest.by, newest.reason) == (text, text)
