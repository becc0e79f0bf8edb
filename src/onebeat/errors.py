"""Every error onebeat raises on purpose.

OnebeatError
├── InvalidSchedule (ValueError)   a schedule that cannot be built
├── InvalidJob (ValueError)        a job that cannot be registered or started
│   └── JobExists                  its id is registered already
├── InvalidSetting (ValueError)    any other setting that makes no sense
├── AlreadyRan (RuntimeError)      a scheduler runs once
├── ClaimFailed                    the store could not decide a claim
├── ChildFailed                    a body in a child process raised, or its process died
├── StoreUnusable                  the store cannot be opened as it is: schema, version, privileges
└── Cancelled                      why a run was cancelled
    ├── Superseded                 a newer run of the same id replaces it
    ├── ShuttingDown               the scheduler stops
    ├── TimedOut                   the job timeout or the caller's deadline passed
    └── LeaseLost                  another replica took the claim over
"""

from enum import StrEnum

_LONGEST = 1200
"""Characters of a value that are shown in an error: a whole cron text is."""


class OnebeatError(Exception):
    """The root: `except OnebeatError` catches every error raised on purpose."""


class _Invalid(OnebeatError, ValueError):
    """Names the field, what it got, what was expected and, where it helps, what to do."""

    def __init__(self, field: str, got: object, expected: str, hint: str = "") -> None:
        advice = f" ({hint})" if hint else ""
        super().__init__(f"{field}: expected {expected}, got {_shown(got)}{advice}")
        self.field = field
        self.got = got
        self.expected = expected
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.field, self.got, self.expected, self.hint)


def _shown(got: object) -> str:
    """The repr of *got*, cut off where it is too long to read."""
    # Whatever was given may refuse to be shown (an int of 5000 digits does): what is told is the first error.
    try:
        shown = repr(got)
    except Exception:
        return f"{type(got).__name__} without a repr"
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


class InvalidSchedule(_Invalid):
    """A schedule that cannot be built."""


class InvalidJob(_Invalid):
    """A job that cannot be registered or started; nothing of it was kept."""


class JobExists(InvalidJob):
    """The id is registered already; the job under it stays as it was."""

    def __init__(self, job_id: str) -> None:
        super().__init__("job_id", job_id, "an id not yet registered", "give this job its own job_id=")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.got,)


class InvalidSetting(_Invalid):
    """A setting that makes no sense: a timeout of zero, a limit without a prefix …"""


class AlreadyRan(OnebeatError, RuntimeError):
    """A scheduler runs once; make a new one to run again."""


class StoreUnusable(OnebeatError):
    """The store cannot be opened as it is; the message says what to do."""


class ClaimFailure(StrEnum):
    """Why a claim could not be decided."""

    UNAVAILABLE = "unavailable"  # no connection, or the server cannot serve right now
    CONFLICT = "conflict"  # serialization failure or deadlock: ask again at once
    TIMEOUT = "timeout"  # no answer within the claim timeout
    REFUSED = "refused"  # the store will not take this bid, however often it is asked


class ClaimFailed(OnebeatError):
    """The store could not decide. Nothing may run on the strength of it."""

    def __init__(self, message: str, failure: ClaimFailure = ClaimFailure.UNAVAILABLE) -> None:
        super().__init__(message)
        self.failure = failure


class ChildFailed(OnebeatError):
    """A body in a child process raised, or its process died. `kind` is the name of what it raised, None when
    the process died; the traceback over there is a note of this error."""

    def __init__(self, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind


class Cancelled(OnebeatError):
    """Why a run was cancelled; `run.cause` holds it, `run.raise_if_cancelled()` raises it."""


class Superseded(Cancelled):
    """A newer run of the same id replaces this one."""


class ShuttingDown(Cancelled):
    """The scheduler stops."""


class TimedOut(Cancelled):
    """The job timeout, or the deadline its caller gave, has passed."""


class LeaseLost(Cancelled):
    """Another replica took over this run's claim."""
