"""F-TX: a worker is killed at every boundary between two statements of a transactional tick."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.context import ForkServerProcess
from typing import Any, LiteralString

import psycopg
import pytest

from tests.processes.boundaries import Boundary, Side
from tests.processes.transactional import Case, life, pay, run_once, serve
from tests.servers.postgres import Postgres
from tests.stores.postgres.given import replica
from tests.stores.postgres.transacted import Handle, told

# What is said on the wire, in this order: each named by something that only it says.
STATEMENTS = {
    "the claim": b'"lease": ',
    "the begin": b"set_config('onebeat.claim'",
    "the block": b'SAVEPOINT "onebeat"',
    "the body's first": b"INSERT INTO effects",
    "the body's second": b"UPDATE effects",
    "the end of the block": b'RELEASE "onebeat"',
    "confirmation and commit": b"SET confirmed_at",
    "the release": b'"verdict": ',
}
BOUNDARIES = [(name, side) for name in STATEMENTS for side in (Side.BEFORE, Side.AFTER)]
COMMITTED = BOUNDARIES[BOUNDARIES.index(("confirmation and commit", Side.AFTER)) :]
KINDS = [(kind, to_async) for kind in ("url", "sqlalchemy") for to_async in (True, False)]
RERUN = [Case(kind, to_async, True) for kind, to_async in KINDS]
SKIP = [Case(kind, to_async, False) for kind, to_async in KINDS]
CASES = [*RERUN, SKIP[0], *(pytest.param(case, marks=pytest.mark.soak) for case in SKIP[1:])]
NEVER_CLAIMED = ("the claim", Side.BEFORE)

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.processes.transactional"])

AT_THE_COMMIT = """
CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock(7); RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION guard();
"""
"""Once the claim is confirmed, the commit waits for a lock."""


async def killed_at(postgres: Postgres, database: str, case: Case, name: str, side: Side) -> None:
    """Return when a process that was to run the tick has been killed there."""
    process: ForkServerProcess | None = None

    def kill() -> None:
        assert process is not None  # struck down by what it says
        process.kill()
        process.join()

    async with Boundary(postgres.port, STATEMENTS[name], side, strike=kill) as boundary:
        process = started(life, boundary.before(database), case)
        await asyncio.wait_for(boundary.struck.wait(), 30)
    assert process.exitcode == -9


async def buried(handle: Handle) -> None:
    """The one who was killed is declared dead; return when nothing of its is left."""
    declared = (
        "INSERT INTO onebeat_replicas (app, replica_id, label, dead_at) VALUES ('app', 'id-of-a', 'a', now())"
    )
    told(handle.database, declared)
    while told(handle.database, "SELECT count(*) FROM onebeat_ticks WHERE released_at IS NULL"):
        await handle.store.bury(replica=replica("judge"), ttl=timedelta(seconds=60))
        await asyncio.sleep(0.01)


async def taken_over(handle: Handle, case: Case) -> None:
    """What another replica does as its beat tells it."""
    if told(handle.database, "SELECT wanted FROM onebeat_ticks") == "rerun":
        assert await run_once(handle, rerun=case.rerun, attempt=2, by="b")
    else:
        await run_once(handle, rerun=case.rerun, by="b")


@pytest.mark.parametrize(("name", "side"), BOUNDARIES, ids=lambda value: str(value))
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_tick_has_one_effect_wherever_its_worker_is_killed(
    postgres: Postgres, database: str, case: Case, name: str, side: Side
) -> None:
    """F-TX, C-CRASH: at most one is committed, exactly one where it is run again; its verdict says which."""
    async with case.on(database) as handle:
        await handle.store.migrate()
        await killed_at(postgres, database, case, name, side)
        await buried(handle)
        committed = (name, side) in COMMITTED
        assert handle.effects() == int(committed)
        if (name, side) != NEVER_CLAIMED:
            assert told(database, "SELECT verdict FROM onebeat_ticks") == ("ran" if committed else "lost")
        await taken_over(handle, case)
        owes_none = case.rerun or (name, side) == NEVER_CLAIMED
        assert handle.effects() == int(committed or owes_none)


@pytest.mark.parametrize("case", RERUN, ids=str)
async def test_a_commit_goes_on_though_its_worker_is_killed(
    postgres: Postgres, database: str, case: Case
) -> None:
    """F-TX: killed between confirmation and commit; nobody buries the tick until it is known."""
    async with case.on(database) as handle:
        await handle.store.migrate()
        told(database, AT_THE_COMMIT)
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as holder:
            await holder.execute("SELECT pg_advisory_lock(7)")
            await killed_at(postgres, database, case, "confirmation and commit", Side.WITHIN)
            burying = asyncio.ensure_future(buried(handle))
            await asyncio.sleep(0.3)
            assert not burying.done()
        await burying
        assert handle.effects() == 1
        assert told(database, "SELECT verdict FROM onebeat_ticks") == "ran"
        await taken_over(handle, case)
        assert handle.effects() == 1


@pytest.mark.parametrize("case", [RERUN[0], RERUN[-1]], ids=str)
async def test_a_fleet_runs_a_tick_again_whose_worker_was_killed(database: str, case: Case) -> None:
    """F-TX, C-CRASH: by itself, within a few times to live, with one effect."""
    async with case.on(database) as handle:
        told(database, "CREATE TABLE begun (label text)")
        await handle.store.migrate()
    fleet = {label: started(serve, database, case, label) for label in ("r0", "r1")}
    try:
        victim = await until(database, "SELECT label FROM begun")
        fleet[victim].kill()
        assert await until(database, "SELECT count(*) FROM effects") == 1
        attempt = "SELECT claimed_by || attempt FROM onebeat_ticks WHERE confirmed_at IS NOT NULL"
        survivor = next(label for label in fleet if label != victim)
        assert told(database, attempt) == f"{survivor}2"
    finally:
        for process in fleet.values():
            process.kill()
            process.join()


HOLDER = "SELECT claimed_by FROM onebeat_ticks WHERE released_at IS NULL AND token IS NOT NULL"
TWICE = "SELECT count(*) FROM (SELECT FROM paid GROUP BY scheduled_at HAVING count(*) > 1) AS twice"
WRONGLY_TOLD = """
SELECT string_agg(format('%s: %s, %s', scheduled_at, verdict, paid.attempt), '; ')
  FROM onebeat_ticks AS tick FULL JOIN paid USING (scheduled_at)
 WHERE (tick.verdict = 'ran') IS DISTINCT FROM (paid.attempt IS NOT NULL)
"""


async def test_a_fleet_that_is_killed_over_and_over_pays_once_for_each_tick_that_ran(
    database: str, span: float
) -> None:
    """F-TX, F-VERDICT: at moments that nobody chose; the verdicts say what is there."""
    case, chance = RERUN[0], random.Random(11)
    async with case.on(database) as handle:
        await handle.store.migrate()
    told(database, "CREATE TABLE paid (scheduled_at timestamptz, attempt int)")
    fleet = {f"r{number}": started(pay, database, case, f"r{number}") for number in range(3)}
    try:
        for number in range(3, 3 + int(span)):
            await asyncio.sleep(0.5 + chance.random())
            holder = told(database, HOLDER)
            victim = holder if holder in fleet else chance.choice(list(fleet))
            fleet[victim].kill()
            fleet.pop(victim).join()
            fleet[f"r{number}"] = started(pay, database, case, f"r{number}")
        await asyncio.sleep(6)  # the dead are buried, and their ticks run again
    finally:
        for process in fleet.values():
            process.terminate()
        for process in fleet.values():
            process.join(30)
    assert told(database, TWICE) == 0
    assert told(database, WRONGLY_TOLD) is None
    assert told(database, "SELECT count(*) FROM paid") >= span / 2
    assert told(database, "SELECT bool_or(attempt > 1 OR verdict = 'lost') FROM onebeat_ticks")


def started(target: Callable[..., None], *arguments: object) -> ForkServerProcess:
    process = _processes.Process(target=target, args=arguments)
    process.start()
    return process


async def until(database: str, sql: LiteralString) -> Any:
    """What *sql* gives, once it gives something."""
    async with asyncio.timeout(30):
        while True:
            if answer := told(database, sql):
                return answer
            await asyncio.sleep(0.05)
