"""What people ask of the fleet: each leaves its row in the audit, and a word on the page it came from."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from onebeat.clock import SystemClock
from onebeat.control import FleetControl, Target
from onebeat.errors import InvalidSetting
from onebeat.insight.instants import EXPECTED, read_instant
from onebeat.model import checked_name
from onebeat.web.forms import Form
from onebeat.web.reading import Reader
from onebeat.web.returning import returned


async def pause(request: Request, form: Form) -> Response:
    until = form.get("until", "").strip()
    end = None if not until else _instant("until", until, ahead=True)
    control, app, by = _asked(request)
    await control.pause(_target(form), app=app, by=by, reason=_reason(form), until=end)
    return _back(request, form, "paused")


async def resume(request: Request, form: Form) -> Response:
    control, app, by = _asked(request)
    was_paused = await control.resume(_target(form), app=app, by=by, reason=_reason(form))
    return _back(request, form, "resumed" if was_paused else "not-paused")


async def trigger(request: Request, form: Form) -> Response:
    control, app, by = _asked(request)
    await control.trigger(_job(form), app=app, by=by, reason=_reason(form), force="force" in form)
    return _back(request, form, "triggered")


async def cancel(request: Request, form: Form) -> Response:
    at = form.get("at")
    moment = None if at is None else _instant("at", at)
    control, app, by = _asked(request)
    ticks = await control.cancel(_job(form), app=app, by=by, reason=_reason(form), scheduled_at=moment)
    return _back(request, form, "cancelling" if ticks else "nothing-ran")


def _asked(request: Request) -> tuple[FleetControl, str, str]:
    """Of whom, for which app, and by whom."""
    reader: Reader = request.app.state.reader
    return cast(FleetControl, reader.store), reader.app, request.state.who


def _target(form: Form) -> Target:
    """One of job, prefix and all. An empty prefix is not the whole app: that is asked for by its name."""
    given = [name for name in ("job", "prefix", "all") if name in form]
    if len(given) != 1:
        raise InvalidSetting("target", given, "exactly one of job, prefix and all")
    if given == ["all"]:
        return Target.app()
    if given == ["prefix"]:
        return Target(prefix=checked_name("prefix", form["prefix"]))
    return Target(job_id=_job(form))


def _job(form: Form) -> str:
    return checked_name("job", form.get("job", ""))


def _reason(form: Form) -> str:
    return checked_name("reason", form.get("reason", "").strip())


def _instant(field: str, text: str, *, ahead: bool = False) -> datetime:
    found = read_instant(text, SystemClock().now(), ahead=ahead)
    if found is None:
        raise InvalidSetting(field, text, EXPECTED)
    return found


def _back(request: Request, form: Form, said: str) -> Response:
    return RedirectResponse(f"{request.scope.get('root_path', '')}{returned(form.get('back'), said)}", 303)
