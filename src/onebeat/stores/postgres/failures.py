"""Driver errors as ours: what failed, and whether asking again can help."""

from __future__ import annotations

from onebeat.errors import ClaimFailed, ClaimFailure

_CONFLICTS = frozenset({"40001", "40P01"})
_REFUSALS = frozenset({"21", "22", "23", "54"})  # by class: the data of a bid, not the state of the server
UNDEFINED_TABLE = "42P01"
UNDEFINED_FUNCTION = "42883"
GONE = frozenset({UNDEFINED_TABLE, UNDEFINED_FUNCTION})

_POOLED = "behind a pooler in transaction mode asyncpg needs statement_cache_size=0"
_ADVICE = {
    "26000": _POOLED,
    "42P05": _POOLED,
    "42501": "this role needs SELECT, INSERT, UPDATE and DELETE on onebeat's tables, "
    "EXECUTE on its functions",
    "57014": "where it is this role's statement_timeout, ALTER ROLE … SET statement_timeout to some seconds",
    "55P03": "where it is this role's lock_timeout, ALTER ROLE … SET lock_timeout to some seconds",
    UNDEFINED_FUNCTION: "a function of onebeat's that was dropped is made again by the next claim, "
    "or by what `onebeat migrate --sql` prints",
}


def sqlstate_of(error: BaseException) -> str:
    """The server's code, or "" when it was not the server that answered."""
    return getattr(error, "sqlstate", None) or ""


def first_line(error: BaseException) -> str:
    """What failed; the lines below it would repeat the statement."""
    return str(error).strip().partition("\n")[0]


def failed(error: BaseException, place: str) -> ClaimFailed:
    """*error* of any driver at *place*, as the failure the engine knows how to take."""
    code = sqlstate_of(error)
    said = first_line(error) or type(error).__name__
    advice = f"; {_ADVICE[code]}" if code in _ADVICE else ""
    return ClaimFailed(f"{place}: {said} ({code or type(error).__name__}){advice}", _failure(code))


def _failure(code: str) -> ClaimFailure:
    if code in _CONFLICTS:
        return ClaimFailure.CONFLICT
    if code[:2] in _REFUSALS:
        return ClaimFailure.REFUSED
    return ClaimFailure.UNAVAILABLE
