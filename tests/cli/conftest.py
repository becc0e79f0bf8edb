"""The command line as a person meets it: words in, an exit code and two streams out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from onebeat.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture
def onebeat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `onebeat WORDS…` in this process, with no store named by the environment."""
    for variable in ("ONEBEAT_STORE", "DATABASE_URL"):
        monkeypatch.delenv(variable, raising=False)

    def run(*words: str) -> Result:
        code = main(words)
        return Result(code, *capsys.readouterr())

    return run
