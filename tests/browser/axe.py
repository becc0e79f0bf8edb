"""axe-core in a page as it is: the page's own policy stays in force."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from playwright.sync_api import Page

_SOURCE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
_LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_ASKED = {"runOnly": {"type": "tag", "values": _LEVELS}, "resultTypes": ["violations"]}


def violations(page: Page) -> list[str]:
    """Of the levels A and AA, on *page* as it stands: the rule, and where."""
    page.evaluate(_SOURCE)
    found: dict[str, Any] = page.evaluate(f"() => axe.run(document, {json.dumps(_ASKED)})")
    assert found["testEngine"]["name"] == "axe-core"
    return [
        f"{rule['id']} at {', '.join(node['target'])}: {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
