"""What a doctor finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Facts = Mapping[str, Any]
"""What a store's `health` gathered, by name; instants are aware."""


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what was found, and what to do about it; nothing where all is well."""

    level: Level
    subject: str
    found: str
    advice: str = ""
