"""A function by its name: how another process finds it, since nothing of a function is pickled."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from functools import reduce
from types import ModuleType
from typing import TYPE_CHECKING, Any

from onebeat.errors import InvalidJob

if TYPE_CHECKING:
    from onebeat.engine.body import Body
    from onebeat.engine.job import Policy

_EXPECTED = "a function that a child process can import"


@dataclass(frozen=True, slots=True)
class Target:
    """`name` is what leads from the module to the function, with dots."""

    module: str
    name: str

    @classmethod
    def of(cls, work: object) -> Target:
        """Raises InvalidJob for what has no name that another process could import."""
        owner = getattr(work, "__self__", None)
        if isinstance(owner, type):  # a class method, bound to the class it was taken from
            return cls(_importable(work, owner.__module__), f"{owner.__qualname__}.{_name(work, '__name__')}")
        if owner is not None and not isinstance(owner, ModuleType):
            raise InvalidJob("isolation", work, _EXPECTED, "an instance stays in its process: use a function")
        return cls(_importable(work, getattr(work, "__module__", None)), _name(work, "__qualname__"))

    def found(self) -> Any:
        """Import it. Raises whatever the import raises."""
        return reduce(getattr, self.name.split("."), importlib.import_module(self.module))


def check_isolated(policy: Policy, body: Body) -> None:
    """Raise InvalidJob for a body that could not run in a process of its own."""
    if policy.isolation != "process":
        return
    if not hasattr(os, "killpg"):
        raise InvalidJob("isolation", "process", "a POSIX system", "process groups are what is killed there")
    Target.of(body.work)


def _name(work: object, attribute: str) -> str:
    name: str = getattr(work, attribute, "")
    if not name:
        raise InvalidJob("isolation", work, _EXPECTED, "def a function in a module that does what this does")
    if "<" in name:
        raise InvalidJob("isolation", work, _EXPECTED, "def it at the top of a module, under its own name")
    return name


def _importable(work: object, module: str | None) -> str:
    if module != "__main__":
        return module or ""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is None:
        raise InvalidJob(
            "isolation", work, _EXPECTED, "start the program with python -m, or move it to a module"
        )
    name: str = spec.name
    return name
