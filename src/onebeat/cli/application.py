"""Find the scheduler that `module:attr` names."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from pathlib import Path

import click

from onebeat.scheduler import Scheduler


def load_scheduler(name: str) -> Scheduler:
    """The scheduler at `module:attr`, its module imported with the current folder on sys.path.

    Raises click.UsageError, which says what is wrong with the name or where the module fails.
    """
    module_name, colon, attribute = name.partition(":")
    if not (colon and attribute and all(part.isidentifier() for part in module_name.split("."))):
        raise click.UsageError(f"expected module:attr, such as app:scheduler, got {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    found = _attribute(_imported(module_name), module_name, attribute)
    if not isinstance(found, Scheduler):
        raise click.UsageError(f"{name}: expected a Scheduler, got {type(found).__name__}")
    return found


def _attribute(found: object, module_name: str, attribute: str) -> object:
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise click.UsageError(f"module {module_name!r} has no attribute {attribute!r}") from None
        # A property, or a module's __getattr__, may raise anything.
        except (Exception, SystemExit) as error:
            name = f"{module_name}:{attribute}"
            raise click.UsageError(f"{name}: {_place(error)}{type(error).__name__}: {error}") from error
    return found


def _imported(module_name: str) -> object:
    try:
        return import_module(module_name)
    except KeyboardInterrupt:
        raise
    # A module may raise anything as it is imported, SystemExit too.
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _ancestry(module_name):
            raise click.UsageError(f"no module named {error.name!r} here or on sys.path") from error
        message = f"module {module_name!r} fails to import: {_place(error)}{type(error).__name__}: {error}"
        raise click.UsageError(message) from error


def _ancestry(module_name: str) -> list[str]:
    """`a.b.c` needs `a` and `a.b` as well."""
    parts = module_name.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def _place(error: BaseException) -> str:
    """Where it was raised, in the code that was imported rather than in the machinery that imports."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename
    ]
    ours = [frame for frame in frames if frame.filename != __file__]
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}: " if ours else ""
