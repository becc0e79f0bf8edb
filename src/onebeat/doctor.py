"""What is wrong with a store and its fleet, and what to do. Pure: facts in, findings out (F-DRIFT)."""

from __future__ import annotations

import shlex
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
_LONG = timedelta(hours=1)
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


def is_askable(facts: Facts) -> bool:
    """Whether a store on PostgreSQL can be asked about its fleet without making or changing a table."""
    usable = all(table["there"] and table["granted"] for table in facts["tables"].values())
    return usable and facts["schema_version"] == facts["newest_version"]


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
    yield from _indexes(facts)
    yield from _vacuum(facts)


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
    gone = [replica.label for replica in replicas if replica.dead_at is not None]
    if gone:
        told = f"died within a day: {', '.join(gone)}"
        yield Finding(Level.WARNING, "replicas", told, "killed, frozen or cut off: see their logs")
    for job_id in ahead:
        yield Finding(
            Level.ERROR,
            "watermark",
            f"job {job_id!r} was claimed in the future: its ticks are refused until then",
            f"set the clocks right, then: onebeat repair {shlex.quote(job_id)}",
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
    version, newest = facts["schema_version"], facts["newest_version"]
    missing = sorted(name for name, table in facts["tables"].items() if not table["there"])
    migrate = "the first replica brings it up to date, or: onebeat migrate"
    if version is None:
        return Finding(Level.OK, "tables", "their schema version may not be read by this role")
    if version > newest:
        what = f"schema version {version}, newer than {newest}, the newest this release knows"
        return Finding(Level.ERROR, "tables", what, "upgrade onebeat here")
    if missing and version == newest:
        what = f"missing, although schema version {version} was made: {', '.join(missing)}"
        return Finding(Level.ERROR, "tables", what, "nobody makes them again: restore them from a backup")
    if missing:
        return Finding(Level.WARNING, "tables", f"missing: {', '.join(missing)}", migrate)
    if version < newest:
        return Finding(Level.WARNING, "tables", f"schema version {version}, older than {newest}", migrate)
    return Finding(Level.OK, "tables", f"schema version {version}")


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


def _indexes(facts: Facts) -> Iterator[Finding]:
    there = [table for table in facts["tables"].values() if table["there"]]
    missing = sorted(index for table in there for index in table["lacks"])
    if missing:
        advice = "claims grow slow without: make them as onebeat migrate --sql prints them"
        yield Finding(Level.ERROR, "indexes", f"missing or invalid: {', '.join(missing)}", advice)


def _vacuum(facts: Facts) -> Iterator[Finding]:
    there = {name: table for name, table in facts["tables"].items() if table["there"]}
    found = [*_autovacuum(facts, there), *_dead_rows(there), *_long_transaction(facts)]
    size = sum(table["size"] for table in there.values())
    yield from found or [Finding(Level.OK, "vacuum", f"the tables take {size:,} bytes")]


def _autovacuum(facts: Facts, there: Facts) -> Iterator[Finding]:
    advice = "turn it on: rows are updated all the time"
    if not facts["autovacuum"]:
        yield Finding(Level.ERROR, "vacuum", "autovacuum is off", advice)
    off = sorted(name for name, table in there.items() if not table["vacuumed"])
    if off:
        yield Finding(Level.ERROR, "vacuum", f"autovacuum is off for {', '.join(off)}", advice)


def _dead_rows(there: Facts) -> Iterator[Finding]:
    for name, table in there.items():
        if table["dead"] > max(_MANY_DEAD_ROWS, table["live"]):
            last = table["last_vacuum"]
            when = "never vacuumed" if last is None else f"last vacuumed at {last:%Y-%m-%d %H:%M}Z"
            told = f"{table['dead']:,} dead rows in {name}, {when}"
            yield Finding(Level.WARNING, "vacuum", told, f"VACUUM {name}; does a transaction stay open?")


def _long_transaction(facts: Facts) -> Iterator[Finding]:
    if facts["longest"] > _LONG.total_seconds():
        told = f"a transaction has been open for {facts['longest'] / 3600:.1f} h"
        advice = "end it (see pg_stat_activity): no row that died since can be cleared away"
        yield Finding(Level.WARNING, "vacuum", told, advice)
