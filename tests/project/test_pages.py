"""The pages: their links lead somewhere, and their Python runs.

All the ```python blocks of a page run in order, in one namespace and one event loop, `await` included.
A block that needs what a test does not have is marked ```python not-run and only has to be Python.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from onebeat import Scheduler
from tests.project.pages import ROOT, all_pages

_BLOCK = re.compile(r"^```python(?P<mark>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def _blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Each block of Python and its mark, at its own line of the page for the sake of tracebacks."""
    text = page.read_text()
    for block in _BLOCK.finditer(text):
        lines_above = text.count("\n", 0, block.start("code"))
        yield block["mark"].strip(), "\n" * lines_above + block["code"]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", all_pages(), ids=_name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    dead = [link for link in _LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not dead


@pytest.mark.parametrize("page", [page for page in all_pages() if any(_blocks(page))], ids=_name)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'jobs.db'}")
    # As a module that was imported: what stands under `if __name__ == "__main__"` is for the reader.
    module = ModuleType("shown")
    asyncio.run(_run(page, module))


async def _run(page: Path, module: ModuleType) -> None:
    for mark, code in _blocks(page):
        compiled = compile(code, str(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if mark == "not-run":
            continue
        assert not mark, f"{page.name}: a block is marked {mark!r}"
        result = eval(compiled, module.__dict__)
        if inspect.iscoroutine(result):
            await result


@pytest.mark.timeout(20)
def test_the_readmes_services_start_and_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'jobs.db'}")
    service, worker = (code for mark, code in _blocks(ROOT / "README.md") if not mark)

    async def start_both() -> None:
        shown: dict[str, Any] = {"__name__": "shown"}
        exec(compile(service, "README.md", "exec"), shown)
        async with shown["app"].router.lifespan_context(shown["app"]):
            assert [job.id for job in _scheduler(shown).jobs] == ["refresh-prices"]
        exec(compile(worker, "README.md", "exec"), shown)
        async with _scheduler(shown):
            assert [job.id for job in _scheduler(shown).jobs] == ["report", "outbox"]

    asyncio.run(start_both())


def test_the_layers_on_the_page_are_those_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    checked = next(contract["layers"] for contract in contracts if "layers" in contract)
    # A layer in brackets need not be there yet.
    there = [[name for name in line.split(" | ") if not name.startswith("(")] for line in checked]
    page = (ROOT / "docs" / "concepts" / "how-it-works.md").read_text()
    assert "\n".join(" | ".join(names) for names in there) in page


@pytest.mark.timeout(20)
async def test_the_app_of_the_fastapi_guide_starts_anew_each_time_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'jobs.db'}")
    shown = _executed("fastapi.md")
    for _ in range(2):
        app = shown["make_app"]()
        async with app.router.lifespan_context(app):
            pass


@pytest.mark.timeout(20)
def test_the_hook_of_the_flask_guide_starts_its_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'jobs.db'}")
    shown = _executed("flask.md")
    scheduler = _scheduler(shown)
    monkeypatch.setitem(sys.modules, "shop", SimpleNamespace(scheduler=scheduler))
    shown["post_worker_init"](None)
    assert [job_id for job_id, _ in scheduler.upcoming()] == ["outbox"]
    scheduler.stop()
    for thread in threading.enumerate():
        if thread.name == "onebeat scheduler":
            thread.join()


def _executed(guide: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"__name__": "shown"}
    for mark, code in _blocks(ROOT / "docs" / "guides" / guide):
        if not mark:
            exec(compile(code, guide, "exec"), shown)
    return shown


def _scheduler(shown: dict[str, Any]) -> Scheduler:
    scheduler = shown["scheduler"]
    assert isinstance(scheduler, Scheduler)
    return scheduler
