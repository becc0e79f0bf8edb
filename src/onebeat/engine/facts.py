"""What a replica says of itself when it joins the fleet."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

from onebeat.fleet import Facts

_SYSTEM_ZONES = ("/usr/share/zoneinfo/tzdata.zi", "/usr/share/zoneinfo/+VERSION")


def facts_of_this_process() -> Facts:
    return Facts(_version_of("onebeat"), _zone_data(), os.getpid())


def _zone_data() -> str:
    """The version of the zone data that `zoneinfo` finds first: the system's, else the package's."""
    for path in _SYSTEM_ZONES:
        try:
            with open(path, encoding="ascii") as file:
                return f"system {file.readline().removeprefix('# version').strip()}"
        except (OSError, UnicodeDecodeError):
            continue
    return f"tzdata {_version_of('tzdata')}"


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
