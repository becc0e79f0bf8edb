"""Cron texts: what robfig/cron v3 calls standard, and on request the wider grammar (S-CRON)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from onebeat.errors import InvalidSchedule
from onebeat.schedules.compose import Composable
from onebeat.schedules.days import days_of
from onebeat.schedules.every import Every, every_seconds
from onebeat.schedules.fields import (
    HOUR,
    MINUTE,
    MONTH,
    MONTHDAY,
    SECOND,
    WEEKDAY,
    Field,
    Misread,
    read_field,
)
from onebeat.schedules.hashed import drawn, has_hash
from onebeat.schedules.local import plain
from onebeat.schedules.timetable import Timetable
from onebeat.schedules.wall import ClockChange, Fold, Gap, Wall, wall_of

_LONGEST = 1024
_KINDS = (SECOND, MINUTE, HOUR, MONTHDAY, MONTH, WEEKDAY)
_ON_THE_MINUTE = Field(1)
_PREFIXES = ("TZ=", "CRON_TZ=")
_EVERY = "@every "
_ALONE = "in lower case, with no blank around it"
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_WORD = re.compile(r"\S+", re.ASCII)
_BLANK_OR_PRINTABLE = re.compile(r"[ -~\t\n\v\f\r]*")


@dataclass(frozen=True, slots=True, repr=False)
class Cron(Timetable):
    """Due when the wall clock of its zone matches a cron text. Equal when due by the same rule."""

    text: str = field(compare=False)
    extended: bool = field(compare=False)
    seconds: bool = field(compare=False)

    def __reduce__(self) -> tuple[object, ...]:
        wall = self.wall
        return cron, (self.text, wall.tz, self.extended, self.seconds, wall.gap, wall.fold)

    def __repr__(self) -> str:
        switches = "".join(f", {name}=True" for name in ("extended", "seconds") if getattr(self, name))
        return f"cron({self.text!r}{self.wall.settings}{switches})"


@dataclass(frozen=True, slots=True)
class HashedCron(Composable):
    """A cron text with `H` in it: complete once it is bound to a job, and until then due at no time."""

    text: str
    wall: Wall
    seconds: bool
    policy: ClockChange | None

    def for_job(self, job_id: str) -> Cron:
        """The schedule of the job *job_id*: every `H` is a value drawn from that id."""
        kinds = _KINDS if self.seconds else _KINDS[1:]
        words = [drawn(word, kind, job_id) for word, kind in zip(self.text.split(), kinds, strict=True)]
        return cast(Cron, cron(" ".join(words), *self._settings))  # there is no H left in the text

    def next_after(self, moment: datetime) -> datetime | None:
        raise self._unbound()

    def previous_before(self, moment: datetime) -> datetime | None:
        raise self._unbound()

    def matches(self, moment: datetime) -> bool:
        raise self._unbound()

    def __repr__(self) -> str:
        settings = f", tz={self.wall.tz!r}, policy={self.policy!r}" if self.policy else self.wall.settings
        return f"cron({self.text!r}{settings}, extended=True{', seconds=True' * self.seconds})"

    def __reduce__(self) -> tuple[object, ...]:
        return cron, (self.text, *self._settings)

    @property
    def _settings(self) -> tuple[str, bool, bool, Gap, Fold, ClockChange | None]:
        """The arguments of `cron` beside the text."""
        if self.policy:
            return self.wall.tz, True, self.seconds, "skip", "both", self.policy
        return self.wall.tz, True, self.seconds, self.wall.gap, self.wall.fold, None

    def _unbound(self) -> InvalidSchedule:
        hint = 'for_job("its id") binds it, as registering a job does; on the command line --job'
        return InvalidSchedule("cron", self.text, "a schedule bound to a job: H is drawn from its id", hint)


def cron(
    text: str,
    tz: str = "UTC",
    extended: bool = False,
    seconds: bool = False,
    gap: Gap = "skip",
    fold: Fold = "both",
    policy: ClockChange | None = None,
) -> Cron | Every | HashedCron:
    """Due when the wall clock in *tz* matches *text*: `*/15 9-17 * * MON-FRI`, `@daily`, `@every 90s`.

    A zone in front of the text (`CRON_TZ=Europe/Berlin 0 9 * * *`) goes before *tz*. *extended* also reads
    7 for Sunday, L, W, # and ranges that wrap around; *seconds* reads six fields, seconds first.
    *gap* says what becomes of a wall time that does not exist: "skip" it, or run right "after" the gap;
    *fold* at which of the two instants of a repeated one it is due; *policy* "vixie" says both as Debian's
    cron does.
    With *extended*, `H` in a field is a value drawn from the job's id: the schedule is bound when a job is
    registered with it.
    """
    text = _checked_text(text)
    for name, switch in (("extended", extended), ("seconds", seconds)):
        if not isinstance(switch, bool):
            raise InvalidSchedule(name, switch, "True or False")
    zone, body = _zone_and_body(text)
    wall = wall_of(tz if zone is None else zone, gap, fold, policy)
    if body.startswith(_EVERY):
        from onebeat.schedules.durations import read_duration  # fractions are slow to import

        return every_seconds(read_duration(body.removeprefix(_EVERY)), body)
    words = body.split()
    if body.startswith("@"):
        fields = _read_descriptor(text, body, extended)
    else:
        fields = _read_fields(text, words, extended, seconds)
    if extended and any(map(has_hash, words)):
        return HashedCron(" ".join(words), wall, seconds, policy and "vixie")
    second, minute, hour, monthday, month, weekday = fields
    if policy and (minute.wild or hour.wild):
        wall = wall_of(wall.tz, gap, fold, policy, fixed=False)
    days = days_of(monthday, month, weekday)
    return Cron(hour.mask, minute.mask, second.mask, days, wall, " ".join(words), extended, seconds)


def _checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise InvalidSchedule("cron", text, "a text such as '0 9 * * MON-FRI'")
    text = plain(text)
    if len(text) > _LONGEST:
        raise InvalidSchedule("cron", f"{text[:40]}…", f"at most {_LONGEST} characters")
    # Python splits and strips at some control characters that are no blanks in a cron text.
    if not text.isascii() or not (text.isprintable() or _BLANK_OR_PRINTABLE.fullmatch(text)):
        column = next(n for n, char in enumerate(text, 1) if not _BLANK_OR_PRINTABLE.fullmatch(char))
        hint = "write us for microseconds" if text[column - 1] in "\u00b5\u03bc" else ""
        raise InvalidSchedule(f"cron (column {column})", text, "printable ASCII characters and blanks", hint)
    return text


def _zone_and_body(text: str) -> tuple[str | None, str]:
    """The zone in front of *text*, if there is one, and what follows it."""
    if not text.startswith(_PREFIXES):
        return None, text
    head, _, body = text.partition(" ")
    name = head.partition("=")[2]
    if name == "local":  # asked for by tz= alone; as a zone's name it is unknown
        raise InvalidSchedule(
            "tz", name, "an IANA zone such as Europe/Berlin", 'give tz="local" beside the text'
        )
    return name, body.strip()


def _read_descriptor(text: str, body: str, extended: bool) -> list[Field]:
    expansion = _DESCRIPTORS.get(body.lower() if extended else body)
    if expansion is None:
        name, expected = (
            f"cron (column {text.index('@') + 1})",
            f"one of {', '.join(_DESCRIPTORS)} or @every 90s",
        )
        known = body.strip().lower().startswith((*_DESCRIPTORS, _EVERY.strip()))
        raise InvalidSchedule(name, body, expected, _ALONE if known else "")
    return _read_fields(expansion, expansion.split(), extended=False, seconds=False)


def _read_fields(text: str, words: list[str], extended: bool, seconds: bool) -> list[Field]:
    kinds = _KINDS if seconds else _KINDS[1:]
    if len(words) != len(kinds):
        raise InvalidSchedule("cron", text, f"{'six' if seconds else 'five'} fields", _count_hint(words))
    fields = []
    try:
        for word, kind in zip(words, kinds, strict=True):
            fields.append(read_field(drawn(word, kind, "") if extended else word, kind, extended))
    except Misread as error:
        place = len(fields) - len(words)
        # What was drawn is not as long as what was written.
        column = _columns(text)[place] + (0 if extended and has_hash(words[place]) else error.offset)
        name = f"{kind.name} (column {column})"
        raise InvalidSchedule(name, error.got, error.expected, error.hint) from None
    return fields if seconds else [_ON_THE_MINUTE, *fields]


def _count_hint(words: list[str]) -> str:
    """What may be meant by a text with too many or too few fields."""
    first = words[0] if words else ""
    if first.upper().startswith(_PREFIXES):
        return "a zone stands first, in capitals: TZ=Europe/Berlin 0 9 * * *"
    if first.startswith("@"):
        return _ALONE
    return "seconds=True reads six fields, seconds first" if len(words) == 6 else ""


def _columns(text: str) -> list[int]:
    """The column at which each word of *text* begins, counted from 1."""
    return [word.start() + 1 for word in _WORD.finditer(text)]
