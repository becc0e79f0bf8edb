"""`onebeat ui [STORE]`"""

from __future__ import annotations

import os
import secrets
import socket
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING

import click

from onebeat.cli.fleet_store import checked_app, fleet_options
from onebeat.cli.targets import VARIABLES, named_store

if TYPE_CHECKING:
    from starlette.applications import Starlette

TOKEN = "ONEBEAT_UI_TOKEN"

_PATIENCE = 2  # seconds that open pages have at the end
_LOCAL = ["localhost", "127.0.0.1", "[::1]", "::1"]


@click.command("ui")
@click.argument("store_url", metavar="[STORE]", required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65_535), help="0: a free one."
)
@click.option("--actions", is_flag=True, help=f"Let people act who have the token: {TOKEN}, else a new one.")
@click.option("--private", is_flag=True, help="Let nobody read, either, without the token.")
@click.option("--tz", default="UTC", show_default=True, metavar="ZONE", help="Show times in this zone.")
@click.option("--trace-url", help="Where traces are shown: an address with {trace_id} in it.")
@fleet_options
def command(
    store_url: str | None,
    host: str,
    port: int,
    actions: bool,
    private: bool,
    tz: str,
    trace_url: str | None,
    app: str,
    schema: str | None,
) -> None:
    """Show the fleet in a browser: jobs, replicas, what ran and what will.

    Read-only, unless ONEBEAT_UI_TOKEN is set or --actions asks for a token. STORE is postgresql://… or
    sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    if not all(map(find_spec, ("starlette", "jinja2", "uvicorn"))):
        raise click.UsageError("the dashboard needs the extra `ui`: pip install 'onebeat[ui]'")
    from onebeat.web import dashboard  # only here: the extra may not be there

    target = named_store(store_url)
    if target is None:
        raise click.UsageError(f"no STORE given, and neither {' nor '.join(VARIABLES)} is set")
    given = os.environ.get(TOKEN) or None
    made = secrets.token_urlsafe(24) if given is None and (actions or private) else None
    board = dashboard(
        target,
        app=checked_app(app),
        token=given or made,
        private=private,
        trace_url=trace_url,
        tz=tz,
        schema=schema,
    )
    with _listening(host, port) as listening:
        where = f"http://{_in_address(host)}:{listening.getsockname()[1]}/"
        click.echo(f"the dashboard is at {where}", err=True)
        if made is not None:
            click.echo(f"sign in with this token, made for this time: {made}", err=True)
        if not _is_loopback(host) and not private:
            click.echo(f"onebeat: whoever reaches {host} reads it all; --private asks for a token", err=True)
        _serve(board, listening, local=_is_loopback(host))


def _serve(board: Starlette, listening: socket.socket, *, local: bool) -> None:
    import uvicorn
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    # Else a page from elsewhere could read a dashboard on this machine, by a name of its own for loopback.
    if local:
        board.add_middleware(TrustedHostMiddleware, allowed_hosts=_LOCAL, www_redirect=False)
    config = uvicorn.Config(board, log_level="warning", timeout_graceful_shutdown=_PATIENCE)
    uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise click.ClickException(f"cannot listen at {_in_address(host)}:{port}: {error}") from error


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
