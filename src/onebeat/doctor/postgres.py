"""What is wrong with a PostgreSQL server. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from onebeat.doctor.finding import Facts, Finding, Level
from onebeat.doctor.tables import diagnose_tables
from onebeat.drift import TOLERATED_SKEW

_LEAST_POSTGRES = 130_000


def is_askable(facts: Facts) -> bool:
    """Whether a store on PostgreSQL can be asked about its fleet without making or changing a table."""
    wanted = [*facts["tables"].values(), *facts["functions"].values()]
    return (
        all(one["there"] and one["granted"] for one in wanted)
        and facts["schema_version"] == facts["newest_version"]
    )


def diagnose_postgres(facts: Facts, *, here: datetime) -> Iterator[Finding]:
    """*here* is this machine's clock at the moment at which `now` was the server's."""
    yield _version(facts)
    yield _isolation(facts)
    yield _durability(facts)
    yield _pooler(facts)
    yield from _replication(facts)
    yield _clock((here - facts["now"]).total_seconds())
    yield from diagnose_tables(facts)


def _version(facts: Facts) -> Finding:
    number = facts["version"]
    told = f"PostgreSQL {number // 10_000}.{number % 10_000}"
    if number < _LEAST_POSTGRES:
        return Finding(Level.ERROR, "server", told, "13 or later is needed")
    return Finding(Level.OK, "server", told)


def _isolation(facts: Facts) -> Finding:
    level = facts["isolation"]
    if level != "read committed":
        advice = "claims are right at every level, but conflicts are asked again; read committed spares that"
        return Finding(Level.WARNING, "isolation", f"the default is {level}", advice)
    return Finding(Level.OK, "isolation", level)


def _durability(facts: Facts) -> Finding:
    if not facts["fsync"]:
        advice = "turn it on: a crash of the machine may forget claims, and their ticks may run twice"
        return Finding(Level.ERROR, "durability", "fsync is off", advice)
    told = f"synchronous_commit {facts['synchronous_commit']}"
    if facts["synchronous_commit"] in ("off", "local"):
        told += " by default; claims switch it on for themselves"
    return Finding(Level.OK, "durability", told)


def _pooler(facts: Facts) -> Finding:
    if facts["direct"] is None:
        return Finding(Level.OK, "connection", "whether a pooler stands between is not known")
    if not facts["direct"]:
        advice = "fine; but replicas hear of triggers with their next beat only"
        return Finding(Level.OK, "connection", "through a pooler", advice)
    return Finding(Level.OK, "connection", "direct: replicas hear of triggers at once")


def _replication(facts: Facts) -> Iterator[Finding]:
    if facts["standby"]:
        told = "this is a standby: it cannot be written"
        yield Finding(Level.ERROR, "replication", told, "name the primary, or promote this one")
        return
    states = [state for _, state in facts["standbys"]]
    behind = sorted(str(name) for name, state in facts["standbys"] if state in ("async", "potential"))
    if None in states:
        told = f"{len(states)} standbys; this role may not see whether they are synchronous"
        yield Finding(Level.OK, "replication", told, "GRANT pg_monitor to this role to have it looked at")
    elif facts["waits_for"] and not {"sync", "quorum"} & set(states):
        told = f"commits wait for {facts['waits_for']}, and no such standby is attached"
        advice = "attach it, or empty synchronous_standby_names: until then no claim is answered"
        yield Finding(Level.ERROR, "replication", told, advice)
    elif behind and len(behind) == len(states):
        told = f"only asynchronous standbys: {', '.join(behind)}"
        advice = "one that is promoted while it lags lacks claims, and their ticks may run twice; make one"
        yield Finding(Level.WARNING, "replication", told, f"{advice} synchronous")
    elif states:
        told = f"{len(states)} standbys, {len(states) - len(behind)} of them synchronous"
        yield Finding(Level.OK, "replication", told, "promote a synchronous one" if behind else "")


def _clock(skew: float) -> Finding:
    told = f"this machine's leads the server's by {skew:+.2f} s"
    if abs(skew) > TOLERATED_SKEW:
        return Finding(Level.WARNING, "clock", told, "keep clocks in step (NTP)")
    return Finding(Level.OK, "clock", told)
