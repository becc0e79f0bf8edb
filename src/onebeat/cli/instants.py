"""Instants as people type them."""

from __future__ import annotations

from datetime import datetime, tzinfo

import click

from onebeat.clock import SystemClock


def read_instant(_: click.Context, __: click.Parameter, typed: str | None) -> datetime | None:
    """A click callback: the ISO 8601 date, or date and time, that was typed; naive without an offset."""
    if typed is None:
        return None
    try:
        return datetime.fromisoformat(typed)
    except ValueError:
        raise click.BadParameter(
            f"expected an ISO 8601 instant such as 2027-03-28T01:30, got {typed!r}"
        ) from None


def moment_in(zone: tzinfo, typed: datetime | None) -> datetime:
    """The instant that was typed, as wall time in *zone* if it has no offset; now if none was."""
    if typed is None:
        return SystemClock().now().astimezone(zone)
    return typed if typed.tzinfo else typed.replace(tzinfo=zone)
