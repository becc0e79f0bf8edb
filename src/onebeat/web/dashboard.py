"""The dashboard as an ASGI app: routes, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from onebeat.connect import connect
from onebeat.errors import InvalidSetting
from onebeat.history import history_side
from onebeat.web.auth import Known
from onebeat.web.forms import acting
from onebeat.web.headers import Headers
from onebeat.web.health import Doctor
from onebeat.web.job_reading import Jobs
from onebeat.web.live import live
from onebeat.web.outlook import Calendar
from onebeat.web.pages import act, audit, calendar, fleet, job, login, overview, tick
from onebeat.web.probes import Probes
from onebeat.web.reading import Reader
from onebeat.web.refusals import HANDLERS
from onebeat.web.rendering import prepare
from onebeat.web.seals import Seals
from onebeat.web.settings import Hook, Settings, checked_settings

_MOVING = {"overview": overview.fragments, "job": job.fragments, "fleet": fleet.fragments}
_ACTS = {"pause": act.pause, "resume": act.resume, "trigger": act.trigger, "cancel": act.cancel}
_STATIC = StaticFiles(packages=[("onebeat.web", "static")])


def dashboard(
    store: object,
    *,
    app: str = "default",
    token: str | None = None,
    user: Hook | None = None,
    private: bool = False,
    trace_url: str | None = None,
    tz: str = "UTC",
    schema: str | None = None,
    streaming: bool = True,
) -> Starlette:
    """An ASGI app that shows the fleet of *app* in *store*: serve it, or mount it in your own.

    *store* is what a Scheduler takes; an app's async pool serves only the loop it was made on. Read-only
    unless *token* or *user* says who may act: who presents the token (a secret of at least 16 characters), or
    whom *user*, a function of the Starlette request, sync or async, gives a name. *private* keeps everybody
    else from reading, too. *trace_url* is an address with `{trace_id}` in it, to which runs are linked. Times
    are shown in *tz*. Without *streaming* a page that is open asks every few seconds and holds no connection:
    for servers that give each one a thread. Raises InvalidSetting for what can mean nothing.
    """
    settings = checked_settings(app, token, user, private, trace_url, tz, streaming)
    seals = Seals(settings.token)
    found = connect(store) if schema is None else connect(store, schema=schema)
    history = history_side(found)
    if found is None or history is None:
        raise InvalidSetting("store", type(store).__name__, "a store that keeps the history of a fleet")

    @asynccontextmanager
    async def serving(_: Starlette) -> AsyncIterator[None]:
        await reader.warm()
        yield
        await found.close()

    reader = Reader(found, settings.app)
    prepare()
    made = Starlette(
        routes=[
            Route("/", overview.page, name="overview"),
            Route("/job", job.page, name="job"),
            Route("/tick", tick.page, name="tick"),
            Route("/calendar", calendar.page, name="calendar"),
            Route("/fleet", fleet.page, name="fleet"),
            Route("/audit", audit.page, name="audit"),
            *(Route(f"/live/{name}", live(fragments)) for name, fragments in _MOVING.items()),
            *_acting_routes(settings),
            *Probes(reader).routes,
            Mount("/static", _STATIC, name="static"),
        ],
        middleware=[Middleware(Headers), Middleware(Known, settings=settings, seals=seals)],
        exception_handlers=HANDLERS,
        lifespan=serving,
    )
    made.state.settings = settings
    made.state.seals = seals
    made.state.reader = reader
    made.state.jobs = Jobs(reader)
    made.state.doctor = Doctor(made.state.reader)
    made.state.calendar = Calendar(made.state.reader, settings.zone)
    return made


def _acting_routes(settings: Settings) -> list[Route]:
    """None at all where nobody may act."""
    if settings.read_only:
        return []
    routes = [Route(f"/act/{name}", acting(do), methods=["POST"]) for name, do in _ACTS.items()]
    if settings.token is not None:
        routes += [
            Route("/login", login.page, methods=["GET"]),
            Route("/login", login.sign_in, methods=["POST"]),
            Route("/logout", acting(login.sign_out), methods=["POST"]),
        ]
    return routes
