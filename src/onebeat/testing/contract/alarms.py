"""Alarms that a whole fleet raises once."""

from __future__ import annotations

import asyncio

from onebeat.testing.contract.asking import STRANGE, Asking

KEY = "silent report"


class AlarmRules(Asking):
    """F-SILENT: who is told."""

    async def test_an_alarm_is_raised_once_until_it_is_cleared(self) -> None:
        """F-SILENT: and cleared once."""
        assert [await self.sound() for _ in range(3)] == [True, False, False]
        assert [await self.clear() for _ in range(3)] == [True, False, False]
        assert [await self.sound() for _ in range(2)] == [True, False]

    async def test_an_alarm_that_never_sounded_cannot_be_cleared(self) -> None:
        """F-SILENT: nobody is told so."""
        assert not await self.clear()
        assert await self.sound()

    async def test_of_many_replicas_one_is_told(self) -> None:
        """F-SILENT: that it sounds, and that it is over; through whatever handle."""
        for _ in range(3):
            assert sum(await asyncio.gather(*(self.sound(handle=n) for n in range(12)))) == 1
            assert sum(await asyncio.gather(*(self.clear(handle=n) for n in range(12)))) == 1

    async def test_alarms_are_told_apart_by_key_and_app(self) -> None:
        """F-SILENT, C-APP: however they are spelled."""
        for key in (KEY, KEY.upper(), *STRANGE):
            assert await self.sound(key)
        assert not await self.sound()
        assert await self.sound(app=f"{self.app}-other")
        assert await self.clear()
        assert not await self.sound(app=f"{self.app}-other")
        for strange in STRANGE:
            assert [await self.clear(strange), await self.clear(strange)] == [True, False]

    async def test_what_sounds_is_told_by_app(self) -> None:
        """F-SILENT: a replica that takes over the watch learns what the one before it raised."""
        assert set(await self.alarms().sounding(app=self.app)) == set()
        for key in (KEY, *STRANGE):
            assert await self.sound(key)
        assert await self.sound("another", app=f"{self.app}-other")
        assert await self.clear()
        assert sorted(await self.alarms(1).sounding(app=self.app)) == sorted(STRANGE)

    async def sound(self, key: str = KEY, *, app: str | None = None, handle: int = 0) -> bool:
        return await self.alarms(handle).raise_alarm(key, app=app or self.app)

    async def clear(self, key: str = KEY, *, app: str | None = None, handle: int = 0) -> bool:
        return await self.alarms(handle).clear_alarm(key, app=app or self.app)
