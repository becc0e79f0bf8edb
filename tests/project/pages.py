"""The pages of the project, and what is written on them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
_FIRST_CELL = re.compile(r"^\| (`[^|]*`) \|", re.MULTILINE)
_NAME = re.compile(r"`([^`]+)`")


def all_pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def section(page: Path, heading: str) -> str:
    """What stands below the heading that begins so, up to the next one of its rank."""
    text = page.read_text()
    begin = re.search(rf"^(##+) {re.escape(heading)}.*$", text, re.MULTILINE)
    if begin is None:
        raise LookupError(f"{page.name} has no heading {heading!r}")
    rest = text[begin.end() :]
    end = re.search(rf"^#{{1,{len(begin[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def table_names(text: str) -> set[str]:
    """The names that the first cells of the tables explain."""
    return {name for cell in _FIRST_CELL.findall(text) for name in _NAME.findall(cell)}
