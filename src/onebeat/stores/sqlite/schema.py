"""The tables, as numbered migrations: a released one is never edited, a new one is added below it.

Which of them a file has is kept in a table of ours, not in `PRAGMA user_version`: that number belongs to
the whole file, and so to the app whose own tables may live in it.
"""

from __future__ import annotations

import sqlite3

from onebeat.errors import StoreUnusable

_TABLES = (
    """\
CREATE TABLE onebeat_schema (
    version INTEGER NOT NULL PRIMARY KEY
)""",
    """\
CREATE TABLE onebeat_jobs (
    app          TEXT    NOT NULL,
    job_id       TEXT    NOT NULL,
    watermark    INTEGER,
    previous_at  INTEGER,
    floor        INTEGER,
    token        TEXT,
    holder       TEXT,
    lease_until  INTEGER,
    released_at  INTEGER,
    fence        INTEGER NOT NULL DEFAULT 0,
    attempt      INTEGER NOT NULL DEFAULT 1,
    triggered_at INTEGER,
    schedule     TEXT,
    fingerprint  TEXT,
    first_seen   INTEGER NOT NULL,
    changed_at   INTEGER NOT NULL,
    accounted_at INTEGER,
    last_verdict TEXT,
    last_success_at INTEGER,
    failures     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (app, job_id)
) WITHOUT ROWID""",
    """\
CREATE TABLE onebeat_ticks (
    app          TEXT    NOT NULL,
    job_id       TEXT    NOT NULL,
    scheduled_at INTEGER NOT NULL,
    token        TEXT,
    holder       TEXT,
    claimed_by   TEXT,
    attempt      INTEGER NOT NULL DEFAULT 1,
    fence        INTEGER NOT NULL DEFAULT 0,
    previous_at  INTEGER,
    claimed_at   INTEGER,
    released_at  INTEGER,
    started_at   INTEGER,
    finished_at  INTEGER,
    confirmed_at INTEGER,
    verdict      TEXT,
    provisional  INTEGER NOT NULL DEFAULT 1,
    note         TEXT,
    trace_id     TEXT,
    rerun        INTEGER NOT NULL DEFAULT 0,
    triggered    INTEGER NOT NULL DEFAULT 0,
    forced       INTEGER NOT NULL DEFAULT 0,
    asked_by     TEXT,
    reason       TEXT,
    wanted       TEXT,
    PRIMARY KEY (app, job_id, scheduled_at)
) WITHOUT ROWID""",
    "CREATE INDEX onebeat_ticks_by_age ON onebeat_ticks (app, scheduled_at)",
    "CREATE INDEX onebeat_ticks_wanted ON onebeat_ticks (app) WHERE wanted IS NOT NULL",
    """\
CREATE TABLE onebeat_replicas (
    app           TEXT    NOT NULL,
    replica_id    TEXT    NOT NULL,
    label         TEXT    NOT NULL,
    started_at    INTEGER NOT NULL,
    beat_at       INTEGER NOT NULL,
    healthy_since INTEGER NOT NULL,
    dead_at       INTEGER,
    buried_at     INTEGER,
    version       TEXT    NOT NULL,
    zone_data     TEXT    NOT NULL,
    pid           INTEGER NOT NULL,
    skew          REAL    NOT NULL,
    jobs          TEXT    NOT NULL,
    PRIMARY KEY (app, replica_id)
) WITHOUT ROWID""",
    """\
CREATE TABLE onebeat_pauses (
    app      TEXT    NOT NULL,
    scope    TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    asked_by TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    PRIMARY KEY (app, scope, name)
) WITHOUT ROWID""",
    """\
CREATE TABLE onebeat_audit (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    app      TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    action   TEXT    NOT NULL,
    target   TEXT    NOT NULL,
    asked_by TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    until    INTEGER
)""",
    """\
CREATE TABLE onebeat_permits (
    app         TEXT    NOT NULL,
    prefix      TEXT    NOT NULL,
    place       INTEGER NOT NULL,
    token       TEXT,
    holder      TEXT,
    lease_until INTEGER,
    PRIMARY KEY (app, prefix, place)
) WITHOUT ROWID""",
    """\
CREATE TABLE onebeat_alarms (
    app       TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    raised_at INTEGER NOT NULL,
    PRIMARY KEY (app, key)
) WITHOUT ROWID""",
)

# For what people look for most: what runs, and what did not end well. Both are few: a claim pays little.
_FEW = (
    """\
CREATE INDEX onebeat_ticks_running ON onebeat_ticks (app, scheduled_at)
 WHERE token IS NOT NULL AND released_at IS NULL""",
    "CREATE INDEX onebeat_ticks_not_run ON onebeat_ticks (app, scheduled_at) WHERE verdict <> 'ran'",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_TABLES, _FEW)

_HAS_SCHEMA = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'onebeat_schema'"
_VERSION = "SELECT coalesce(max(version), 0) FROM onebeat_schema"
_MIGRATED = "INSERT INTO onebeat_schema (version) VALUES ({version})"


def migration_sql() -> str:
    """All migrations as one script for the `sqlite3` shell; times are microseconds since the Unix epoch."""
    scripts = []
    for version, statements in enumerate(MIGRATIONS, start=1):
        lines = ("BEGIN IMMEDIATE", *statements, _MIGRATED.format(version=version), "COMMIT")
        scripts.append(f"-- onebeat migration {version}\n" + "".join(f"{line};\n" for line in lines))
    return "\n".join(scripts)


def version_of(db: sqlite3.Connection) -> int:
    """How many migrations the file has; 0 for one that never saw us."""
    if not db.execute(_HAS_SCHEMA).fetchone()[0]:
        return 0
    return int(db.execute(_VERSION).fetchone()[0])


def migrate(db: sqlite3.Connection) -> int:
    """Apply what is missing, all or nothing, once however many ask; how many migrations that were."""
    if _missing(db) == 0:
        return 0
    db.execute("BEGIN IMMEDIATE")
    try:
        missing = _missing(db)
        for version in range(len(MIGRATIONS) - missing + 1, len(MIGRATIONS) + 1):
            for statement in MIGRATIONS[version - 1]:
                db.execute(statement)
            db.execute(_MIGRATED.format(version=version))
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
    return missing


def _missing(db: sqlite3.Connection) -> int:
    version = version_of(db)
    if version > len(MIGRATIONS):
        raise StoreUnusable(
            f"its tables are of version {version}, this onebeat knows {len(MIGRATIONS)}: upgrade onebeat"
        )
    return len(MIGRATIONS) - version
