"""Texts that only this dashboard can have written: what its cookies hold, and what its forms carry."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
from datetime import datetime, timedelta

STAYS = timedelta(hours=12)
"""How long a browser stays signed in."""


class Seals:
    """Made with *token*: all processes that have the same one read each other's. Without one nobody is
    signed in here, and forms are sealed with the browser's own secret alone."""

    def __init__(self, token: str | None) -> None:
        self._token = token or ""

    def is_token(self, given: str) -> bool:
        """Takes as long whatever is wrong with it."""
        return bool(self._token) and _same(given, self._token)

    def session(self, name: str, now: datetime) -> str:
        """What the cookie of somebody signed in as *name* holds."""
        body = json.dumps([name, int((now + STAYS).timestamp()), secrets.token_hex(8)])
        text = base64.urlsafe_b64encode(body.encode()).decode()
        return f"{text}.{self._sealed('session', text)}"

    def name_in(self, session: str, now: datetime) -> str | None:
        """Who is signed in by it; None when it was not written here, or is too old."""
        text, _, seal = session.partition(".")
        if not self._token or not _same(seal, self._sealed("session", text)):
            return None
        try:
            name, until, _ = json.loads(base64.urlsafe_b64decode(text))
        except (ValueError, binascii.Error):
            return None
        return str(name) if now.timestamp() < until else None

    def csrf(self, browser: str, who: str) -> str:
        """What a form says that was shown to *who* in the browser whose secret is *browser*."""
        return self._sealed("form", who, browser=browser)

    def is_csrf(self, given: str, browser: str, who: str) -> bool:
        """Whether *given* is that; never without a secret."""
        return bool(browser) and _same(given, self.csrf(browser, who))

    def _sealed(self, use: str, text: str, *, browser: str = "") -> str:
        # As JSON: no two lists of texts are the same bytes.
        key = json.dumps([self._token, browser]).encode()
        return hmac.digest(key, json.dumps([use, text]).encode(), "sha256").hex()


def _same(given: str, right: str) -> bool:
    """Takes as long wherever they differ."""
    return hmac.compare_digest(given.encode(errors="surrogatepass"), right.encode(errors="surrogatepass"))
