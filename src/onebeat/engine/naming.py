"""The id of a job that was not given one: the same in every process that registers it."""

from __future__ import annotations

import sys

from onebeat.errors import InvalidJob

_WHY = "an id must be the same however the program is started"


def default_job_id(work: object) -> str:
    """`module.qualname` of *work*. Raises InvalidJob where that is not a name of its own (J-API)."""
    module, name = getattr(work, "__module__", None), getattr(work, "__qualname__", None)
    if not module or not name:
        raise InvalidJob("job_id", None, f"an id for {work!r}, which has no name", "give job_id=")
    if "<" in name:
        raise InvalidJob("job_id", None, f"an id for {name}, whose name is not its own", "give job_id=")
    if module == "__main__":
        module = _main_module(name)
    return f"{module}.{name}"


def _main_module(name: str) -> str:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is None:
        raise InvalidJob("job_id", None, f"an id for {name}, defined in a script", f"give job_id=: {_WHY}")
    module: str = spec.name
    return module
