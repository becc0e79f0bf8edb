"""Where on PostgreSQL's NOTIFY it is said that an app's fleet is wanted."""

from __future__ import annotations

import hashlib


def channel_of(app: str) -> str:
    """The channel of *app*: short, plain and its own, whatever the app's name is made of.

    Schemas are not told apart: a beat too many costs nothing.
    """
    return f"onebeat_{hashlib.sha256(app.encode()).hexdigest()[:16]}"
