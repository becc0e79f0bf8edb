"""Ids, labels and errors, which are anybody's, as text that a page may show."""

from __future__ import annotations

_ERROR_LINE = 200


def shown(text: str) -> str:
    """*text* in one line. What turns the direction of text, hides, or is no character is spelled out; spaces
    that are all there is are drawn, for a link or a heading must have a name."""
    if text and not text.strip(" "):
        return "␣" * len(text)
    return text if text.isprintable() else "".join(map(_visible, text))


def block(text: str) -> str:
    """*text* with its lines and tabs, and all else as `shown` has it."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(shown, lines))


def first_line(text: str | None, longest: int = _ERROR_LINE) -> str:
    """The first line of *text* that says anything, cut where it is long."""
    lines = (line.strip() for line in (text or "").splitlines())
    return cut(next(filter(None, lines), ""), longest)


def cut(text: str, longest: int) -> str:
    """*text* as shown, in *longest* characters at most."""
    line = shown(text[: longest + 1])
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _visible(char: str) -> str:
    return char if char.isprintable() else ascii(char)[1:-1]
