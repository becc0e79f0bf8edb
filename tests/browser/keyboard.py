"""What the Tab key reaches on a page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

# Elements are told apart by what they are, not by identity: live parts are replaced while we walk.
_NAME = """
const told = ['href', 'name', 'value', 'id', 'aria-label'];
const named = element => [element.tagName, element.closest('form')?.getAttribute('action') ?? '',
    ...told.map(name => element.getAttribute(name) ?? '')].join(' | ');
"""
_OFFERED = f"""() => {{ {_NAME}
    const offered = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';
    return [...document.querySelectorAll(offered)]
        .filter(element => element.checkVisibility() && !element.disabled)
        // What is drawn stands in a table as well: one way to it is enough.
        .filter(element => !element.matches('svg [tabindex="-1"]')).map(named);
}}"""
_FOCUSED = f"""() => {{ {_NAME}
    const focused = document.activeElement;
    if (!focused || focused === document.body) return null;
    const style = getComputedStyle(focused);
    return [named(focused), style.outlineStyle !== 'none' && style.outlineWidth !== '0px'];
}}"""


def unreached(page: Page) -> set[str]:
    """What a mouse could use and the keyboard does not come to, or does not show that it came to."""
    offered: list[str] = page.evaluate(_OFFERED)
    reached = set()
    for _ in range(len(offered) + 5):
        page.keyboard.press("Tab")
        focused: Any = page.evaluate(_FOCUSED)
        if focused and focused[1]:
            reached.add(focused[0])
    # What live parts have replaced meanwhile nobody can come to.
    return set(offered) & set(page.evaluate(_OFFERED)) - reached
