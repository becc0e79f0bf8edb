"""`onebeat doctor`: what it finds in stores that are in that state, and what it says of facts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onebeat import Tick
from onebeat.connect import connect
from onebeat.doctor import Finding, Level, diagnose_fleet, diagnose_postgres, diagnose_sqlite, is_askable
from onebeat.history import ReplicaState
from onebeat.model import Bid, Replica
from onebeat.stores.postgres.schema import Tables, newest_version
from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres, Standby

Onebeat = Callable[..., Any]

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)


def facts(**other: Any) -> dict[str, Any]:
    table = {
        "there": True, "granted": True, "lacks": [], "vacuumed": True,
        "live": 10, "dead": 0, "last_vacuum": None, "size": 8192,
    }  # fmt: skip
    sound: dict[str, Any] = {
        "version": 150_004, "isolation": "read committed", "synchronous_commit": "on", "fsync": True,
        "autovacuum": True, "standby": False, "standbys": [], "may_create": True, "now": NOON, "direct": True,
        "schema_version": 1, "newest_version": 1, "waits_for": "", "longest": 0.0,
        "tables": {name: dict(table) for name in Tables().names},
        "functions": {name: {"there": True, "granted": True} for name in Tables().functions},
    }  # fmt: skip
    return sound | other


def bad(found: list[Finding]) -> list[tuple[Level, str]]:
    return [(one.level, one.subject) for one in found if one.level is not Level.OK]


def of_postgres(**other: Any) -> list[tuple[Level, str]]:
    return bad(list(diagnose_postgres(facts(**other), here=NOON)))


@pytest.mark.parametrize(
    ("state", "level", "subject"),
    [
        ({"version": 120_011}, Level.ERROR, "server"),
        ({"isolation": "serializable"}, Level.WARNING, "isolation"),
        ({"fsync": False}, Level.ERROR, "durability"),
        ({"autovacuum": False}, Level.ERROR, "vacuum"),
        ({"standby": True}, Level.ERROR, "replication"),
        ({"standbys": [["one", "async"]]}, Level.WARNING, "replication"),
        ({"waits_for": "one", "standbys": [["two", "async"]]}, Level.ERROR, "replication"),
        ({"longest": 7200.0}, Level.WARNING, "vacuum"),
        ({"schema_version": 2}, Level.ERROR, "tables"),
        ({"newest_version": 2}, Level.WARNING, "tables"),
        ({"now": NOON - timedelta(seconds=3)}, Level.WARNING, "clock"),
    ],
)
def test_each_state_that_is_not_well_is_told_with_what_to_do(
    state: dict[str, Any], level: Level, subject: str
) -> None:
    """F-DRIFT: and nothing else is."""
    assert of_postgres(**state) == [(level, subject)]
    told = [one for one in diagnose_postgres(facts(**state), here=NOON) if one.level is not Level.OK]
    assert all(one.advice for one in told)


def test_a_sound_server_has_nothing_wrong() -> None:
    assert of_postgres() == []
    assert of_postgres(standbys=[["one", "sync"]], direct=False, synchronous_commit="off") == []
    assert of_postgres(direct=None) == []
    assert of_postgres(standbys=[["one", "sync"], ["two", "async"]], waits_for="one") == []
    assert of_postgres(standbys=[["one", None]], waits_for="one") == []


def test_tables_are_looked_at_one_by_one() -> None:
    tables = facts()["tables"]
    tables["onebeat_jobs"] |= {"there": False, "granted": False}
    assert of_postgres(tables=tables, schema_version=0) == [(Level.WARNING, "tables")]
    assert (Level.ERROR, "privileges") in of_postgres(tables=tables, may_create=False)
    assert of_postgres(tables=tables) == [(Level.ERROR, "tables")]  # nobody makes it again
    tables["onebeat_jobs"] |= {
        "there": True,
        "dead": 1_000_000,
        "vacuumed": False,
        "lacks": ["onebeat_jobs_pkey"],
    }
    assert of_postgres(tables=tables) == [
        (Level.ERROR, "privileges"),
        (Level.ERROR, "indexes"),
        (Level.ERROR, "vacuum"),
        (Level.WARNING, "vacuum"),
    ]


def test_functions_are_looked_at_one_by_one() -> None:
    functions = facts()["functions"]
    [claim, _] = functions.values()
    claim |= {"there": False, "granted": False}
    assert of_postgres(functions=functions) == [(Level.WARNING, "functions")]
    assert of_postgres(functions=functions, may_create=False) == [(Level.ERROR, "functions")]
    assert of_postgres(functions=functions, newest_version=2) == [(Level.WARNING, "tables")]  # come with them
    claim |= {"there": True}
    assert of_postgres(functions=functions) == [(Level.ERROR, "privileges")]


def test_a_fleet_is_asked_only_where_that_changes_no_table() -> None:
    assert is_askable(facts())
    assert not is_askable(facts(schema_version=0))
    assert not is_askable(facts(newest_version=2))
    tables = facts()["tables"]
    tables["onebeat_jobs"] |= {"granted": False}
    assert not is_askable(facts(tables=tables))
    functions = facts()["functions"]
    functions["onebeat_claim(text, text)"] |= {"there": False, "granted": False}
    assert not is_askable(facts(functions=functions))


def test_a_file_is_looked_at() -> None:
    sound = {
        "check": "ok", "library": "3.40", "old_library": False, "there": True, "size": 1, "journal": "wal",
        "filesystem": "ext4", "writable": True, "schema_version": 1, "newest_version": 1,
    }  # fmt: skip
    assert bad(list(diagnose_sqlite(sound))) == []
    for state, level in (
        ({"check": "row missing"}, Level.ERROR),
        ({"old_library": True}, Level.ERROR),
        ({"filesystem": "nfs4"}, Level.ERROR),
        ({"writable": False}, Level.ERROR),
        ({"schema_version": 2}, Level.ERROR),
        ({"journal": "delete"}, Level.WARNING),
        ({"newest_version": 2}, Level.WARNING),
        ({"there": False}, Level.WARNING),
    ):
        assert [found for found, _ in bad(list(diagnose_sqlite(sound | state)))] == [level], state


def test_a_fleet_is_looked_at() -> None:
    def replica(label: str, digest: str) -> ReplicaState:
        start = NOON - timedelta(hours=1)
        return ReplicaState(label, label, "1", "2026a", 1, start, NOON, start, None, 0.0, {"report": digest})

    alike, apart = [replica("a", "x"), replica("b", "x")], [replica("a", "x"), replica("b", "y")]
    assert bad(list(diagnose_fleet(alike, [], NOON - timedelta(days=2), now=NOON))) == []
    found = list(diagnose_fleet(apart, ["report"], NOON - timedelta(days=90), now=NOON))
    assert bad(found) == [
        (Level.WARNING, "agreement"),
        (Level.ERROR, "watermark"),
        (Level.WARNING, "history"),
    ]
    assert "onebeat repair report" in found[1].advice


def test_of_the_dead_those_are_warned_of_that_did_not_leave() -> None:
    def dead(label: str, silent: timedelta) -> ReplicaState:
        start = NOON - timedelta(hours=1)
        return ReplicaState(label, label, "1", "2026a", 1, start, NOON - silent, start, NOON, 0.0, {})

    found = list(
        diagnose_fleet([dead("left", timedelta(0)), dead("fell", timedelta(minutes=1))], [], None, now=NOON)
    )
    assert [one.found for one in found if one.level is Level.WARNING] == ["died within a day: fell"]


def told(onebeat: Onebeat, *words: str) -> tuple[int, dict[str, tuple[str, str]]]:
    answer = onebeat("doctor", *words, "--json")
    return answer.code, {one["subject"]: (one["level"], one["found"]) for one in json.loads(answer.out)}


def test_a_real_server_is_examined_before_and_after_its_tables_are_made(
    onebeat: Onebeat, database: str
) -> None:
    """The tests' own server does not sync to its disk: that alone is an error, and rightly so."""
    code, found = told(onebeat, database)
    assert (code, found["tables"][0], found["durability"]) == (1, "warning", ("error", "fsync is off"))
    assert onebeat("migrate", database).code == 0
    code, found = told(onebeat, database)
    assert found["tables"] == ("ok", f"schema version {newest_version()}")
    assert "direct" in found["connection"][1]
    assert [subject for subject, (level, _) in found.items() if level != "ok"] == ["durability"]
    assert onebeat("doctor", database).lines[0].startswith("ok       server: PostgreSQL ")


def test_a_server_with_odd_defaults_behind_a_pooler_is_told(
    onebeat: Onebeat, postgres: Postgres, pgbouncer: PgBouncer
) -> None:
    """D-PG: what does no harm is said, and what costs a little."""
    name = postgres.new_database()
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    _, found = told(onebeat, pgbouncer.dsn(name))
    assert found["isolation"] == ("warning", "the default is serializable")
    assert "through a pooler" in found["connection"][1]


def test_a_role_that_may_too_little_is_told(onebeat: Onebeat, postgres: Postgres) -> None:
    name = postgres.new_database()
    assert onebeat("migrate", postgres.dsn(name)).code == 0
    with psycopg.connect(postgres.dsn(name), autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS patient")
        admin.execute("CREATE ROLE patient LOGIN")
    code, found = told(onebeat, postgres.dsn(name, user="patient"))
    assert (code, found["privileges"][0]) == (1, "error")


def test_functions_that_are_gone_or_may_not_be_executed_are_told(
    onebeat: Onebeat, postgres: Postgres
) -> None:
    name = postgres.new_database()
    assert onebeat("migrate", postgres.dsn(name)).code == 0
    with psycopg.connect(postgres.dsn(name), autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS sentinel")
        admin.execute("CREATE ROLE sentinel LOGIN")
        admin.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO sentinel")
        admin.execute("REVOKE EXECUTE ON FUNCTION onebeat_release FROM PUBLIC")
        code, found = told(onebeat, postgres.dsn(name, user="sentinel"))
        assert code == 1
        assert found["privileges"] == ("error", "may not execute onebeat_release(text, text)")
        admin.execute("DROP FUNCTION onebeat_claim")
        _, found = told(onebeat, postgres.dsn(name))
        missing = "missing, so nothing can be claimed: onebeat_claim(text, text)"
        assert found["functions"] == ("warning", missing)
        assert admin.execute("SELECT to_regprocedure('onebeat_claim(text, text)')").fetchone() == (None,)
        admin.execute("DROP OWNED BY sentinel")
        admin.execute("DROP ROLE sentinel")
    assert onebeat("migrate", postgres.dsn(name)).code == 0
    _, found = told(onebeat, postgres.dsn(name))
    assert "functions" not in found


def test_tables_of_another_version_or_without_an_index_are_told_and_left_as_they_are(
    onebeat: Onebeat, database: str
) -> None:
    assert onebeat("migrate", database).code == 0
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("DROP INDEX onebeat_ticks_by_time")
        admin.execute("ALTER TABLE onebeat_jobs SET (autovacuum_enabled = false)")
        _, found = told(onebeat, database)
        assert found["indexes"] == ("error", "missing or invalid: onebeat_ticks_by_time")
        assert found["vacuum"] == ("error", "autovacuum is off for onebeat_jobs")
        admin.execute("INSERT INTO onebeat_migrations VALUES (99, 'from the future')")
        code, found = told(onebeat, database)
        assert (code, found["tables"][0]) == (1, "error")
        assert f"newer than {newest_version()}" in found["tables"][1]
        admin.execute("DELETE FROM onebeat_migrations")
        _, found = told(onebeat, database)
        assert found["tables"] == ("warning", f"schema version 0, older than {newest_version()}")
        assert admin.execute("SELECT count(*) FROM onebeat_migrations").fetchone() == (0,)


def test_a_schema_of_its_own_is_looked_at(onebeat: Onebeat, database: str) -> None:
    words = (database, "--schema", "of our's")
    _, found = told(onebeat, *words)
    assert (found["tables"][0], found["privileges"]) == ("warning", ("ok", "enough"))
    assert onebeat("migrate", *words).code == 0
    _, found = told(onebeat, *words)
    assert (found["tables"][0], "indexes" in found) == ("ok", False)


def test_a_server_with_a_standby_is_told_what_a_promotion_may_lose(onebeat: Onebeat) -> None:
    """F-DRIFT: by the primary of an asynchronous one, and by one that waits for a standby that is not there;
    a standby says what it is."""
    with Postgres() as primary:
        assert onebeat("migrate", primary.dsn()).code == 0
        primary.run("CREATE ROLE patient LOGIN")
        with Standby(primary, name="second") as standby:
            _, found = told(onebeat, primary.dsn())
            assert found["replication"] == ("warning", "only asynchronous standbys: second")
            _, found = told(onebeat, primary.dsn(user="patient"))
            assert found["replication"][0] == "ok"
            assert "may not see" in found["replication"][1]
            primary.run("ALTER SYSTEM SET synchronous_standby_names = 'second'")
            primary.run("SELECT pg_reload_conf()")
            eventually(lambda: told(onebeat, primary.dsn())[1]["replication"][0] == "ok")
            code, found = told(onebeat, standby.dsn())
            assert (code, found["replication"][0]) == (1, "error")
        eventually(lambda: told(onebeat, primary.dsn())[1]["replication"][0] == "error")


def eventually(holds: Callable[[], bool]) -> None:
    """The server takes up a setting, and sees a standby go, in its own time."""
    for _ in range(1_000):
        if holds():
            return
    raise AssertionError("it never came to that")


def test_a_real_file_is_examined_and_left_as_it_is(onebeat: Onebeat, tmp_path: Path) -> None:
    file = tmp_path / "jobs of ours.db"
    code, found = told(onebeat, f"sqlite:///{file}")
    assert (code, found["file"][0], file.exists()) == (0, "warning", False)
    file.touch()
    _, found = told(onebeat, f"sqlite:///{file}")
    assert (found["tables"][0], file.stat().st_size) == ("warning", 0)
    assert onebeat("migrate", f"sqlite:///{file}").code == 0
    code, found = told(onebeat, f"sqlite:///{file}")
    assert (code, {level for level, _ in found.values()}) == (0, {"ok"})
    file.write_bytes(b"not a database, " * 500)
    code, found = told(onebeat, f"sqlite:///{file}")
    assert (code, found["file"][0]) == (1, "error")


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_a_job_claimed_far_ahead_and_a_long_history_are_told(
    onebeat: Onebeat, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """F-DRIFT: and after what is advised it is well."""
    sqlite = f"sqlite:///{tmp_path / 'jobs.db'}"
    url = request.getfixturevalue("database") if kind == "postgresql" else sqlite
    now = datetime.now(UTC)
    asyncio.run(claimed(url, Tick("old", now - timedelta(days=90)), Tick("ahead", now + timedelta(days=1))))
    _, found = told(onebeat, url)
    assert found["watermark"][0] == "error"
    assert found["watermark"][1].startswith("job 'ahead' was claimed in the future")
    assert found["history"][0] == "warning"
    assert onebeat("repair", url, "ahead").code == 0
    _, found = told(onebeat, url)
    assert "watermark" not in found


async def claimed(url: str, *ticks: Tick) -> None:
    """By somebody whose clock may be wrong, and whose store believes it."""
    store = connect(url, tolerance=timedelta(days=365))
    assert store is not None
    try:
        bids = [Bid(tick, f"token of {tick.job_id}", timedelta(hours=1)) for tick in ticks]
        replica = Replica("default", "one", "one")
        answers = await store.claim(bids, replica=replica, timeout=timedelta(seconds=10))
        assert all(answer.won for answer in answers)
    finally:
        await store.close()


def test_the_words_fit_a_terminal(onebeat: Onebeat, database: str) -> None:
    answer = onebeat("doctor", database)
    assert max(map(len, answer.lines)) <= 80
    assert any(line.startswith("         -> ") for line in answer.lines)


def test_a_server_that_is_not_there_is_one_line_and_code_1(onebeat: Onebeat) -> None:
    answer = onebeat("doctor", "postgresql://nobody@127.0.0.1:1/nothing")
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (1, "", 1)
