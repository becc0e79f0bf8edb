"""When the load comes, and what did not end well."""

from __future__ import annotations

from datetime import date

from starlette.requests import Request
from starlette.responses import HTMLResponse

from onebeat.errors import InvalidSetting
from onebeat.history import MOST_ROWS, TickFilter, TickRecord
from onebeat.web.outlook import DAYS, Calendar
from onebeat.web.reading import Reader
from onebeat.web.rendering import page as drawn
from onebeat.web.settings import Settings
from onebeat.web.views.calendar import HOURS
from onebeat.web.views.local_days import instant_of, local_day, minute_of
from onebeat.web.views.past import NOT_WELL, concerned, heads, span_of


async def page(request: Request) -> HTMLResponse:
    """`day` is the one shown by minute, `was` and `hour` those whose jobs are named."""
    calendar: Calendar = request.app.state.calendar
    day, was, hour = _day(request, "day"), _day(request, "was"), _hour(request)
    if was is None and hour is not None:
        raise InvalidSetting("hour", hour, "a day beside it: was=YYYY-MM-DD")
    outlook, past = await calendar.outlook(), await calendar.past()
    minutes = await calendar.minutes(outlook, day or outlook.load.days[0].date)
    records = await _records(request, was, hour)
    return drawn(
        request,
        "calendar.html",
        outlook=outlook,
        counted_until=instant_of(outlook.load.until),
        minutes=minutes,
        past=past,
        heads=heads(),
        hours=HOURS,
        days=DAYS,
        was=was.isoformat() if was else None,
        hour=hour,
        concerned=concerned(records),
        cut=MOST_ROWS if len(records) == MOST_ROWS else None,
    )


async def _records(request: Request, was: date | None, hour: int | None) -> tuple[TickRecord, ...]:
    """The newest that did not end well: of that hour or day, or of all that the calendar looks back on."""
    reader: Reader = request.app.state.reader
    settings: Settings = request.app.state.settings
    if was is None:
        now = await reader.history.store_time()
        first = now.astimezone(settings.zone).date().toordinal() - DAYS + 1
        since = instant_of(local_day(date.fromordinal(first), settings.zone).start)
        until = instant_of(minute_of(now) + 1)
    else:
        since, until = span_of(local_day(was, settings.zone), hour, settings.zone)
    which = TickFilter(verdicts=NOT_WELL, since=since, until=until)
    return (await reader.history.ticks(which, app=reader.app, limit=MOST_ROWS)).rows


def _day(request: Request, name: str) -> date | None:
    text = request.query_params.get(name)
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or not 1970 <= day.year < 9999:
        raise InvalidSetting(name, text, "a day such as 2027-03-28")
    return day


def _hour(request: Request) -> int | None:
    text = request.query_params.get("hour")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) in HOURS):
        raise InvalidSetting("hour", text, "an hour from 0 to 23")
    return int(text)
