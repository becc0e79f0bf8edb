"""What is kept of what was asked."""

from __future__ import annotations

from onebeat.control import Target
from onebeat.history import AuditRecord
from onebeat.model import Ruling
from onebeat.testing.contract.asking import Asking, walked
from onebeat.testing.contract.bidding import HOUR

REPORT = Target(job_id="report")


class AuditRules(Asking):
    """F-PAUSE: every request leaves its row."""

    async def test_every_request_leaves_a_row_in_the_audit(self) -> None:
        """F-PAUSE: what, of what, by whom, why, when; the newest first."""
        await self.register("report")
        until = await self.store_time() + HOUR
        at = until.replace(year=2001)
        begun = await self.store_time()
        await self.pause(REPORT)
        await self.pause(Target(prefix="mail."), until)
        await self.pause(Target.app(), until)
        await self.resume(REPORT)
        await self.trigger()
        await self.cancel()
        await self.cancel(at=at)
        ended = await self.store_time()
        rows = list(await self.audit())[::-1]
        assert [(row.action, row.target, row.until) for row in rows] == [
            ("pause", "job report", None),
            ("pause", "jobs mail.…", until),
            ("pause", "the whole app", until),
            ("resume", "job report", None),
            ("trigger", "job report", None),
            ("cancel", "job report", None),
            ("cancel", f"job report at {at.isoformat()}", None),
        ]
        assert {row.by for row in rows} == {"ada"}
        assert [row.reason for row in rows[3:6]] == ["repaired", "asked for", "too slow"]
        assert begun <= rows[0].at <= rows[-1].at <= ended
        assert sorted({row.number for row in rows}) == [row.number for row in rows]

    async def test_a_request_that_found_nothing_leaves_its_row_too(self) -> None:
        """F-PAUSE: somebody asked, all the same."""
        assert not await self.resume(REPORT)
        assert await self.cancel() == []
        assert [row.action for row in await self.audit()] == ["cancel", "resume"]

    async def test_an_app_has_an_audit_of_its_own(self) -> None:
        """C-APP: nobody is shown what others asked of theirs."""
        await self.pause(REPORT, app=f"{self.app}-other")
        assert list(await self.audit()) == []

    async def test_pages_of_the_audit_hold_every_row_once(self) -> None:
        """F-PAUSE: however much is asked while they are read."""
        for n in range(7):
            await self.pause(Target(job_id=f"job-{n}"))
        there = [row.number for row in await self.audit()]
        for limit in (1, 2, 3, 7):
            rows = await self.walked_audit(limit)
            assert [row.number for row in rows if row.number <= there[0]] == there
            assert [row.number for row in rows] == sorted((row.number for row in rows), reverse=True)

    async def test_every_handle_sees_what_was_asked_through_another(self) -> None:
        """F-PAUSE: from any process that reaches the store."""
        [tick] = await self.ticks(1)
        await self.pause(REPORT)
        for handle in self.handles():
            assert (await self.bid(tick, store=handle)).ruling is Ruling.PAUSED

    async def walked_audit(self, limit: int) -> list[AuditRecord]:
        return await walked(
            lambda after: self.history.audit(app=self.app, limit=limit, after=after),
            meanwhile=lambda: self.resume(REPORT),
        )
