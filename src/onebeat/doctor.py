"""What is wrong with a store and its fleet, and what to do. Pure: facts in, findings out (F-DRIFT)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from onebeat.drift import TOLERATED_SKEW, disagreements
from onebeat.history import ReplicaState

Facts = Mapping[str, Any]
"""What a store's `health` gathered, by name; instants are aware."""

_LEAST_POSTGRES = 130_000
_MANY_DEAD_ROWS = 100_000
_OLD = timedelta(days=31)
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "ceph", "glusterfs")


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what was found, and what to do about it; nothing where all is well."""

    level: Level
    subject: str
    found: str
    advice: str = ""


def diagnose_postgres(facts: Facts, *, here: datetime) -> Iterator[Finding]:
    """*here* is this machine's clock at the moment at which `now` was the server's."""
    yield _version(facts)
    yield _tables(facts)
    yield _privileges(facts)
    yield _isolation(facts)
    yield _durability(facts)
    yield _pooler(facts)
    yield from _replication(facts)
    yield _clock((here - facts["now"]).total_seconds())
    yield _vacuum(facts)


def diagnose_sqlite(facts: Facts) -> Iterator[Finding]:
    """Of the one machine that has the file."""
    if facts["check"] != "ok":
        advice = "restore it from a backup while no replica runs"
        yield Finding(Level.ERROR, "file", f"it is damaged: {facts['check']}", advice)
    else:
        yield Finding(Level.OK, "file", f"SQLite {facts['library']}, {facts['size']:,} bytes, sound")
    if facts["journal"] != "wal":
        yield Finding(
            Level.ERROR, "journal", f"{facts['journal']}, not wal", "is it on a network file system?"
        )
    if facts["filesystem"] in _NETWORK:
        advice = (
            "SQLite is for the processes of one machine: move the file to its own disk, or use PostgreSQL"
        )
        yield Finding(Level.ERROR, "file system", f"{facts['filesystem']}, a network's", advice)
    if not facts["writable"]:
        advice = "give this user write access to the file and its folder"
        yield Finding(Level.ERROR, "permissions", "the file or its folder cannot be written here", advice)


def diagnose_fleet(
    replicas: Sequence[ReplicaState], ahead: Sequence[str], oldest: datetime | None, *, now: datetime
) -> Iterator[Finding]:
    """*ahead* are jobs whose watermark lies in the future, *oldest* the oldest tick that is kept."""
    found = [str(one) for one in disagreements(replicas, now=now)]
    for text in found:
        yield Finding(
            Level.WARNING, "agreement", text, "deploy one version everywhere; keep clocks and tzdata alike"
        )
    living = [replica for replica in replicas if replica.dead_at is None]
    if not found:
        yield Finding(Level.OK, "agreement", f"{len(living)} living replicas agree")
    for job_id in ahead:
        yield Finding(
            Level.ERROR,
            "watermark",
            f"job {job_id!r} was claimed in the future: its ticks are refused until then",
            f"set the clocks right, then: onebeat repair {job_id}",
        )
    if oldest is not None and now - oldest > _OLD:
        advice = "is a replica up? pruning is theirs; set retention= where so much is meant"
        yield Finding(Level.WARNING, "history", f"it reaches back to {oldest:%Y-%m-%d}", advice)


def _version(facts: Facts) -> Finding:
    number = facts["version"]
    told = f"PostgreSQL {number // 10_000}.{number % 10_000}"
    if number < _LEAST_POSTGRES:
        return Finding(Level.ERROR, "server", told, "13 or later is needed")
    return Finding(Level.OK, "server", told)


def _tables(facts: Facts) -> Finding:
    missing = sorted(name for name, table in facts["tables"].items() if not table["there"])
    if missing:
        what = f"missing: {', '.join(missing)}"
        return Finding(Level.WARNING, "tables", what, "the first replica makes them, or: onebeat migrate")
    return Finding(Level.OK, "tables", f"schema version {facts['schema_version']}")


def _privileges(facts: Facts) -> Finding:
    refused = sorted(
        name for name, table in facts["tables"].items() if table["there"] and not table["granted"]
    )
    if refused:
        advice = "grant this role SELECT, INSERT, UPDATE and DELETE on them"
        return Finding(Level.ERROR, "privileges", f"not enough on {', '.join(refused)}", advice)
    if not facts["may_create"] and any(not table["there"] for table in facts["tables"].values()):
        advice = "have one that may run what onebeat migrate --sql prints"
        return Finding(Level.ERROR, "privileges", "this role may not make the tables", advice)
    return Finding(Level.OK, "privileges", "enough")


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
        yield Finding(
            Level.ERROR, "replication", "this is a standby: it cannot be written", "name the primary"
        )
    behind = [name for name, state in facts["standbys"] if state not in ("sync", "quorum")]
    if behind:
        advice = "promoted while it lags, it has lost claims: ticks may run twice; make one synchronous"
        told = f"asynchronous standbys: {', '.join(behind)}"
        yield Finding(Level.WARNING, "replication", told, advice)
    elif facts["standbys"]:
        yield Finding(Level.OK, "replication", f"{len(facts['standbys'])} synchronous standbys")


def _clock(skew: float) -> Finding:
    told = f"this machine's leads the server's by {skew:+.2f} s"
    if abs(skew) > TOLERATED_SKEW:
        return Finding(Level.WARNING, "clock", told, "keep clocks in step (NTP)")
    return Finding(Level.OK, "clock", told)


def _vacuum(facts: Facts) -> Finding:
    if not facts["autovacuum"]:
        return Finding(
            Level.ERROR, "vacuum", "autovacuum is off", "turn it on: rows are updated all the time"
        )
    dead = {name: table["dead"] for name, table in facts["tables"].items() if table["there"]}
    worst = max(dead, key=lambda name: dead[name], default=None)
    if worst is not None and dead[worst] > _MANY_DEAD_ROWS and dead[worst] > facts["tables"][worst]["live"]:
        advice = f"VACUUM {worst}; is a transaction open for very long?"
        return Finding(Level.WARNING, "vacuum", f"{dead[worst]:,} dead rows in {worst}", advice)
    size = sum(table["size"] for table in facts["tables"].values() if table["there"])
    return Finding(Level.OK, "vacuum", f"the tables take {size:,} bytes")
