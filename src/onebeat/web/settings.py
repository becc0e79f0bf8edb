"""What a dashboard is told when it is made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import tzinfo

from starlette.requests import Request

from onebeat.errors import InvalidSetting
from onebeat.model import checked_name
from onebeat.schedules.local import zone, zone_name

Hook = Callable[[Request], "str | Awaitable[str | None] | None"]
"""Who asks, by the host app's own authentication; None for somebody it does not know."""

_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """`app` is whose jobs are shown. `token` or `user` lets people act: see `dashboard`. `private`: who may
    not act may not read either. `trace_url` has `{trace_id}` where that goes. `zone` is that of the pages.
    `streaming`: a page that is open may hold a connection."""

    app: str
    token: str | None
    user: Hook | None
    private: bool
    trace_url: str | None
    zone: tzinfo
    streaming: bool

    @property
    def read_only(self) -> bool:
        """Whether nobody may act, whoever they are."""
        return self.token is None and self.user is None


def checked_settings(
    app: str,
    token: str | None,
    user: Hook | None,
    private: bool,
    trace_url: str | None,
    tz: str,
    streaming: bool,
) -> Settings:
    """Raises InvalidSetting, or InvalidJob for a name, for what can mean nothing."""
    checked_name("app", app)
    if token is not None and (not isinstance(token, str) or len(token) < _SHORTEST_TOKEN):
        raise InvalidSetting("token", "a shorter one", f"a secret of at least {_SHORTEST_TOKEN} characters")
    if user is not None and not callable(user):
        raise InvalidSetting("user", user, "a function of a Starlette request that says who asks, or None")
    if private and token is None and user is None:
        raise InvalidSetting("private", private, "a token or a user hook beside it: nobody could read")
    if trace_url is not None and "{trace_id}" not in trace_url:
        raise InvalidSetting("trace_url", trace_url, "an address with {trace_id} in it")
    return Settings(app, token, user, private, trace_url, zone(zone_name(tz)), streaming)
