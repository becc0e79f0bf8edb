"""How long to wait before a store is asked again."""

from onebeat.errors import ClaimFailure

_FIRST = 0.05
_LONGEST = 1.0


def pause_before(retry: int, failure: ClaimFailure, chance: float) -> float:
    """Seconds before the *retry*-th try, counted from 1: doubling, with *chance* (0 to 1) of jitter so that
    replicas do not knock in step. A conflict with another replica is over almost at once."""
    if failure is ClaimFailure.CONFLICT and retry <= 5:
        return 0.01 * retry * chance
    doubled: float = min(_LONGEST, _FIRST * 2 ** min(retry - 1, 10))
    return doubled * (0.5 + chance / 2)
