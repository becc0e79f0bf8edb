"""Pages as somebody has them open, watched for what no page of ours may do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request

from tests.browser.programs import Server


@dataclass
class Visits:
    """Opens pages of the dashboard at *url*, and notes what goes wrong on any of them.

    `wrong` must be empty in the end: no error on the console (a refused style or script is one), no
    exception, no dialogue, and nothing asked of another host.
    """

    browser: Browser
    url: str
    wrong: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def visitor(
        self,
        *,
        width: int = 1280,
        scheme: Literal["light", "dark"] = "light",
        javascript: bool = True,
    ) -> Page:
        """An empty tab of somebody who was never here."""
        context = self.browser.new_context(
            base_url=self.url,
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            java_script_enabled=javascript,
            locale="en-GB",
        )
        context.set_default_timeout(15_000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"exception: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        return page

    def open(self, path: str, query: dict[str, str] | None = None, **visitor: Any) -> Page:
        """*path* in a new tab, answered with 200."""
        page = self.visitor(**visitor)
        answer = page.goto(address(path, query), wait_until="load")
        assert answer is not None
        assert answer.status == 200, f"{path}: {answer.status}"
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.wrong.append(f"console: {message.text} ({message.location})")

    def _dialog(self, dialog: Dialog) -> None:
        self.wrong.append(f"dialogue: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if urlsplit(request.url)[:2] != urlsplit(self.url)[:2]:
            self.wrong.append(f"asked elsewhere: {request.url}")


@contextmanager
def well_behaved(browser: Browser, server: Server) -> Iterator[Visits]:
    """Visits to the dashboard of *server*; nothing may go wrong on the pages."""
    visits = Visits(browser, server.url)
    try:
        yield visits
    finally:
        visits.close()
    assert visits.wrong == [], server.log()


def address(path: str, query: dict[str, str] | None = None) -> str:
    return f"{path}?{urlencode(query)}" if query else path
