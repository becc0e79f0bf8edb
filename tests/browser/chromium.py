"""The browser of the tests: the system's own Chromium, for Playwright to drive."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.servers.programs import Missing

_NAMES = ("chromium", "Chromium", "chromium-browser", "google-chrome")
_FOLDERS = ("/usr/bin", "/Applications/Chromium.app/Contents/MacOS")
_ADVICE = "install Chromium (`apt-get install chromium`), or set ONEBEAT_CHROMIUM to its path"

# Root may not have a sandbox; and a container's shared memory may be too small for a page.
_ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage")


def chromium() -> str:
    """Its path. Raises Missing, which says how to install it: these tests do not skip."""
    given = os.environ.get("ONEBEAT_CHROMIUM")
    if given:
        if not os.access(given, os.X_OK):
            raise Missing(f"ONEBEAT_CHROMIUM is {given}, which is no program: {_ADVICE}")
        return given
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_FOLDERS))
    for name in _NAMES:
        known = shutil.which(name, path=path)
        if known:
            return known
    raise Missing(f"Chromium was not found, and these tests do not skip: {_ADVICE}")


@contextmanager
def running() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(_ARGUMENTS))
        yield browser
        browser.close()
