"""What the calendar shows, worked out off the loop and remembered for a minute."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta, tzinfo

from onebeat.errors import InvalidSetting
from onebeat.web.reading import Reader
from onebeat.web.remembered import Remembered
from onebeat.web.views.calendar import MinuteMap, Outlook, minute_map_of, outlook_of
from onebeat.web.views.load import load_of
from onebeat.web.views.local_days import days_from, instant_of, minute_of
from onebeat.web.views.past import NOT_WELL, Past, past_of
from onebeat.web.views.plan import plan_of

DAYS = 28
"""How far the calendar looks, ahead and back."""

_AN_HOUR = timedelta(hours=1)


class Calendar:
    """The fleet's days, ahead and back, in *zone*. All raise ClaimFailed when the store cannot answer."""

    def __init__(self, reader: Reader, zone: tzinfo) -> None:
        self._reader = reader
        self._zone = zone
        self._outlook: Remembered[Outlook] = Remembered()
        self._maps: Remembered[MinuteMap] = Remembered()
        self._past: Remembered[Past] = Remembered()

    async def outlook(self) -> Outlook:
        """The load to come, today first."""
        return await self._outlook.get("outlook", self._look_ahead)

    async def minutes(self, outlook: Outlook, day: date) -> MinuteMap:
        """One day of *outlook*. Raises InvalidSetting for any other."""
        days = {each.date: each for each in outlook.load.days}
        if day not in days:
            expected = f"a day from {min(days)} to {max(days)}"
            raise InvalidSetting("day", day.isoformat(), expected)
        load = outlook.load
        return await self._maps.get(
            (load.since, day), lambda: asyncio.to_thread(minute_map_of, load, days[day], self._zone)
        )

    async def past(self) -> Past:
        """What did not end well, today last."""
        return await self._past.get("past", self._look_back)

    async def _look_ahead(self) -> Outlook:
        fleet = (await self._reader.overall()).fleet
        now = instant_of(minute_of(fleet.now))
        living = fleet.living
        served = {job_id for replica in living for job_id in replica.jobs} if living else None

        def work() -> Outlook:
            days = days_from(now.astimezone(self._zone).date(), DAYS, self._zone)
            return outlook_of(load_of(plan_of(fleet.jobs, served, now), days, now), self._zone)

        return await asyncio.to_thread(work)

    async def _look_back(self) -> Past:
        now = await self._reader.history.store_time()
        today = now.astimezone(self._zone).date()
        days = days_from(today - timedelta(days=DAYS - 1), DAYS, self._zone)
        since = instant_of(days[0].start)
        hours = -(-(now - since) // _AN_HOUR)
        tallies = await self._reader.history.tally(
            NOT_WELL, app=self._reader.app, since=since, until=since + hours * _AN_HOUR, step=_AN_HOUR
        )
        return past_of(tallies, days, self._zone)
