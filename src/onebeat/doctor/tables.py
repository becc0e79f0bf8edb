"""What is wrong with our tables and functions on PostgreSQL. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from onebeat.doctor.finding import Facts, Finding, Level

_MANY_DEAD_ROWS = 100_000
_LONG = timedelta(hours=1)
_BY_ANOTHER = "have a role that may run what onebeat migrate --sql prints"


def diagnose_tables(facts: Facts) -> Iterator[Finding]:
    """Whether they are there, can be used, and stay fast."""
    yield _tables(facts)
    yield from _functions(facts)
    yield _privileges(facts)
    yield from _indexes(facts)
    yield from _vacuum(facts)


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


def _functions(facts: Facts) -> Iterator[Finding]:
    """Where the tables are not made yet, they come with them."""
    missing = sorted(name for name, function in facts["functions"].items() if not function["there"])
    if missing and facts["schema_version"] == facts["newest_version"]:
        told = f"missing, so nothing can be claimed: {', '.join(missing)}"
        if facts["may_create"]:
            advice = "the next claim makes them again, or: onebeat migrate"
            yield Finding(Level.WARNING, "functions", told, advice)
        else:
            yield Finding(Level.ERROR, "functions", told, _BY_ANOTHER)


def _privileges(facts: Facts) -> Finding:
    tables, functions = _refused(facts["tables"]), _refused(facts["functions"])
    if tables:
        advice = "grant this role SELECT, INSERT, UPDATE and DELETE on them"
        return Finding(Level.ERROR, "privileges", f"not enough on {', '.join(tables)}", advice)
    if functions:
        advice = "grant this role EXECUTE on them"
        return Finding(Level.ERROR, "privileges", f"may not execute {', '.join(functions)}", advice)
    if not facts["may_create"] and any(not table["there"] for table in facts["tables"].values()):
        return Finding(Level.ERROR, "privileges", "this role may not make the tables", _BY_ANOTHER)
    return Finding(Level.OK, "privileges", "enough")


def _refused(named: Facts) -> list[str]:
    return sorted(name for name, one in named.items() if one["there"] and not one["granted"])


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
