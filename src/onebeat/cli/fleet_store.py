"""The store that the commands about a fleet ask, and what they have in common."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import Any, Protocol, TypeVar, cast

import click

from onebeat.claims import ClaimStore
from onebeat.cli.targets import named_store, opened
from onebeat.control import FleetControl
from onebeat.errors import InvalidSchedule
from onebeat.history import RunHistory, history_side
from onebeat.insight import instants
from onebeat.model import checked_name
from onebeat.schedules.local import zone, zone_name

C = TypeVar("C", bound=Callable[..., Any])


class FleetView(RunHistory, FleetControl, ClaimStore, Protocol):
    """A store with the sides that people ask."""


def fleet_options(command: C) -> C:
    """--app and --schema, which every command about a fleet takes."""
    app = click.option("--app", default="default", show_default=True, help="The app whose fleet it is.")
    schema = click.option(
        "--schema", help="Where the tables are (PostgreSQL; default: the first of the search path)."
    )
    return app(schema(command))


def time_option(command: C) -> C:
    """--tz, which every command that shows instants to people takes."""
    return click.option(
        "--tz",
        "shown_in",
        default="UTC",
        show_default=True,
        metavar="ZONE",
        callback=_zone,
        help='Show times in this zone: an IANA name, or "local".',
    )(command)


def _zone(_context: click.Context, _option: click.Parameter, name: str) -> tzinfo:
    try:
        return zone(zone_name(name))
    except InvalidSchedule as error:
        raise click.UsageError(str(error).replace("tz", "--tz", 1)) from error


def asking_options(command: C) -> C:
    """Who asks the fleet for something, and why."""
    by = click.option("--by", default=_somebody, show_default="user@host", help="Who asks, for the audit.")
    reason = click.option("--reason", default="by hand", show_default=True, help="Why, for the audit.")
    return by(reason(command))


def split_words(
    words: Sequence[str], least: int, most: int, usage: str
) -> tuple[str | None, tuple[str, ...]]:
    """The STORE, if the first word is one, and the others, of which there are so many."""
    store = words[0] if words and "://" in words[0] else None
    rest = tuple(words[1:] if store else words)
    if least <= len(rest) <= most:
        return store, rest
    hint = ""
    if any("://" in word for word in words[1:]):
        hint = ": STORE comes first"
    elif store is None and len(rest) == most + 1:
        hint = f": {rest[0]!r} is no STORE, which is postgresql://… or sqlite:///file.db"
    raise click.UsageError(f"expected {usage}, got {len(words)} arguments{hint}")


def fleet_store(store: str | None, schema: str | None) -> FleetView:
    """Raises click.UsageError where no store is named, or it keeps no history."""
    found = opened(named_store(store), schema)
    if history_side(found) is None:
        raise click.UsageError(f"{found.label} keeps no history")
    return cast(FleetView, found)


def checked_app(app: str) -> str:
    return checked_name("--app", app)


def read_instant(option: str, text: str, now: datetime, *, ahead: bool = False) -> datetime:
    """An instant in ISO 8601 with its zone, or a span such as 90s, 15m, 2h or 3d: *ahead* of now, or ago."""
    instant = instants.read_instant(text, now, ahead=ahead)
    if instant is None:
        raise click.UsageError(f"{option}: expected {instants.EXPECTED}, got {text!r}")
    return instant


def _somebody() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no such user, no such variable
        user = "somebody"
    return f"{user}@{socket.gethostname()}"[:200]
