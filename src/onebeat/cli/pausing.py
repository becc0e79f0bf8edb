"""What `pause` and `resume` are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from onebeat.cli.fleet_store import split_words
from onebeat.control import Target

C = TypeVar("C", bound=Callable[..., Any])


def target_options(command: C) -> C:
    """--prefix and --all, in place of a JOB."""
    prefix = click.option("--prefix", help="All jobs whose ids begin so.")
    everything = click.option("--all", "everything", is_flag=True, help="All jobs of the app.")
    return prefix(everything(command))


def named_target(words: tuple[str, ...], prefix: str | None, everything: bool) -> tuple[str | None, Target]:
    """The STORE, if one is named, and the target: exactly one of JOB, --prefix and --all."""
    store, names = split_words(words, 0, 1, "[STORE] JOB, --prefix or --all")
    if len(names) + (prefix is not None) + everything != 1:
        raise click.UsageError("expected exactly one of JOB, --prefix and --all")
    if everything:
        return store, Target.app()
    return store, Target(job_id=names[0]) if names else Target(prefix=prefix)
