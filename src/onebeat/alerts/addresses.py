"""What can be posted to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from onebeat.errors import InvalidSetting

_URL = re.compile(r"https?://[!-~]+", re.ASCII | re.IGNORECASE)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)


def checked_url(field: str, got: object) -> str:
    """*got*, an absolute http or https URL."""
    if isinstance(got, str) and _URL.fullmatch(got):
        try:
            parts = urlsplit(got)
            _ = parts.port  # raises for one that is none
        except ValueError:
            parts = None
        if parts and parts.hostname and "@" not in parts.netloc:
            return got
    # Not shown: such addresses often hold a secret.
    raise InvalidSetting(
        field, type(got).__name__, "an absolute http:// or https:// URL in ASCII, without a user"
    )


def checked_headers(got: object) -> tuple[tuple[str, str], ...]:
    """*got*, names and values that can stand in a request."""
    pairs = tuple(got.items()) if isinstance(got, Mapping) else None
    if pairs is None or not all(_is_header(name, value) for name, value in pairs):
        raise InvalidSetting("headers", type(got).__name__, "a mapping of header names to printable ASCII")
    return pairs


def host_of(url: str) -> str:
    """The part of *url* that may be shown."""
    return urlsplit(url).hostname or ""


def _is_header(name: object, value: object) -> bool:
    return (
        isinstance(name, str)
        and _HEADER.fullmatch(name) is not None
        and isinstance(value, str)
        and value.isascii()
        and value.isprintable()
    )
