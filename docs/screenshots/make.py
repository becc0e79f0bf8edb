"""The pictures beside this file, of the dashboard over the demo's fleet; its calendar is that of a shop.

    python -m docs.screenshots.make

Half-way one of the demo's three replicas is killed: the pictures are taken a little later.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urljoin

from playwright.sync_api import Browser

from tests.browser import chromium
from tests.browser.programs import Server

_FOLDER = Path(__file__).parent
_OF_DEMO = {"overview": "", "job": "job?id=export&over=last50", "fleet": "fleet"}
_OF_SHOP = {"calendar": "calendar"}
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_SECONDS = 60
_AFTERMATH = 16  # ticks of the job that is due each second, between the kill and the pictures
_LARGEST = 150_000  # bytes
_UNBUFFERED = {**os.environ, "PYTHONUNBUFFERED": "1"}


@contextmanager
def demo() -> Iterator[str]:
    """The address of the dashboard over the demo's fleet, once a replica has been dead for a while."""
    command = [sys.executable, "-m", "onebeat", "demo", "--ui", "--seconds", str(_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_UNBUFFERED) as running:
        assert running.stdout is not None  # opened as a pipe
        lines = iter(running.stdout)
        address = next(line for line in lines if line.startswith("dashboard: ")).split()[-1]
        next(line for line in lines if "killed with SIGKILL" in line)
        for _ in range(_AFTERMATH):
            next(line for line in lines if line.startswith("heartbeat"))
        yield address
        running.terminate()


@contextmanager
def shop() -> Iterator[str]:
    """The address of the dashboard over one replica of the shop."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/shop.db"
        command = [sys.executable, "-m", "onebeat", "run", "docs.screenshots.shop:scheduler"]
        environment = {**os.environ, "DATABASE_URL": url}
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as running:
            assert running.stderr is not None  # opened as a pipe
            next(line for line in running.stderr if "started" in line)
            with Server(url, Path(folder), "shop") as server:
                yield f"{server.url}/"
            running.terminate()


def photograph(browser: Browser, address: str, pages: Mapping[str, str]) -> None:
    for scheme in _SCHEMES:
        context = browser.new_context(viewport={"width": 1200, "height": 700}, color_scheme=scheme)
        page = context.new_page()
        for name, path in pages.items():
            page.goto(urljoin(address, path))
            picture = _FOLDER / f"{name}-{scheme}.png"
            page.screenshot(path=picture)
            print(f"{picture.name}: {picture.stat().st_size / 1_000:.0f} kB")
            assert picture.stat().st_size < _LARGEST
        context.close()


def main() -> None:
    with chromium.running() as browser:
        with shop() as address:
            photograph(browser, address, _OF_SHOP)
        with demo() as address:
            photograph(browser, address, _OF_DEMO)


if __name__ == "__main__":
    main()
