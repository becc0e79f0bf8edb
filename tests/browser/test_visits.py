"""What the other tests rely on: whatever a page does wrong is noticed."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Browser, Error

from tests.browser import chromium
from tests.browser.programs import Server
from tests.browser.visits import Visits
from tests.servers.programs import Missing


@pytest.fixture
def watched(browser: Browser, server: Server) -> Visits:
    return Visits(browser, server.url)


def test_a_page_that_behaves_has_nothing_wrong(watched: Visits) -> None:
    watched.open("/")
    watched.close()
    assert watched.wrong == []


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("console.error('no')", "console: no"),
        ("setTimeout(() => { throw new Error('no') })", "exception"),
        ("alert('no')", "dialogue: no"),
        ("fetch('http://127.0.0.1:9/').catch(() => {})", "console: Connecting to 'http://127.0.0.1:9/'"),
        ("document.body.setAttribute('style', 'color: red')", "console: Applying inline style"),
        ("document.body.append(Object.assign(document.createElement('script'), {text: '1'}))", "script"),
    ],
)
def test_what_a_page_does_wrong_is_told(watched: Visits, script: str, told: str) -> None:
    page = watched.open("/")
    page.evaluate(f"() => {{ {script} }}")
    page.evaluate("() => new Promise(resolve => setTimeout(resolve))")
    watched.close()
    assert any(told in wrong for wrong in watched.wrong), watched.wrong


def test_a_request_off_the_host_is_told(watched: Visits) -> None:
    with pytest.raises(Error, match="net::ERR"):
        watched.visitor().goto("http://127.0.0.1:9/")
    watched.close()
    assert "asked elsewhere: http://127.0.0.1:9/" in watched.wrong


def test_without_chromium_they_fail_and_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONEBEAT_CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "_FOLDERS", ())
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(Missing, match="apt-get install chromium"):
        chromium.chromium()
    monkeypatch.setenv("ONEBEAT_CHROMIUM", os.devnull)
    with pytest.raises(Missing, match=f"{os.devnull}, which is no program"):
        chromium.chromium()
