"""The store that `migrate` and `repair` work on."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

import click

from onebeat.claims import ClaimStore
from onebeat.connect import connect
from onebeat.errors import ClaimFailed

VARIABLES = ("ONEBEAT_STORE", "DATABASE_URL")

T = TypeVar("T")


def named_store(given: str | None) -> str | None:
    """What was given, else what the first of VARIABLES that is set holds.

    A URL with a password need not stand in the command, where others on the machine can read it.
    """
    return given or next(filter(None, map(os.environ.get, VARIABLES)), None)


def opened(target: str | None, schema: str | None) -> ClaimStore:
    """The store *target* names, its tables in *schema* if that is given.

    Raises InvalidSetting, and click.UsageError when there is no target.
    """
    options: dict[str, Any] = {} if schema is None else {"schema": schema}
    if options and target and target.startswith(("sqlite:", "memory:")):
        raise click.UsageError("--schema: only PostgreSQL has schemas")
    store = connect(target, **options)
    if store is None:
        raise click.UsageError(f"no STORE given, and neither {' nor '.join(VARIABLES)} is set")
    return store


def asked(store: ClaimStore, question: Coroutine[Any, Any, T]) -> T:
    """The answer to *question*, and *store* closed. Raises click.ClickException when there is none."""
    reason = _FirstWarning()
    logging.getLogger("psycopg").addHandler(reason)
    try:
        return asyncio.run(_closing(store, question))
    except ClaimFailed as error:
        message = str(error).removeprefix(f"{store.label}: ")
        raise click.ClickException(f"{store.label}: {message}{reason.told}") from error


async def _closing(store: ClaimStore, question: Coroutine[Any, Any, T]) -> T:
    try:
        return await question
    finally:
        await store.close()


class _FirstWarning(logging.Handler):
    """Keeps what a driver logs to itself, and the first of it: where its error says only that time ran
    out, that is the reason."""

    told = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.told = self.told or f": {record.getMessage()}"
