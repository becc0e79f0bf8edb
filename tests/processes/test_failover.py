"""An asynchronous standby takes over, and lacks the last seconds of the server that died."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from onebeat.cli import main
from tests.processes.asking import trigger, wait_until_known
from tests.processes.fleet import Fleet, wait_for, wait_for_a_pause
from tests.processes.orders import LONG, orders_for
from tests.processes.switch import Switch
from tests.processes.verdicts import read_history
from tests.servers.postgres import Postgres, Standby

TTL = 3.0
_NOTICED = "the database goes on under timeline 00000002"


def test_what_a_standby_never_heard_of_is_told_again_when_it_takes_over(tmp_path: Path) -> None:
    """F-DRIFT: each replica says so; what ran stays run, what runs goes on and runs nowhere else."""
    with Postgres() as primary:
        assert main(["migrate", primary.dsn()]) == 0
        with Standby(primary) as standby, Switch(primary) as switch:
            orders = [
                replace(order, ttl=TTL, timeout=3600.0) for order in orders_for(3, switch.dsn(), tmp_path)
            ]
            with Fleet(orders) as fleet:
                wait_until_known(switch.dsn(), LONG)
                standby.run("ALTER SYSTEM SET primary_conninfo = ''")
                standby.run("SELECT pg_reload_conf()")
                wait_for(lambda: not primary.run("SELECT FROM pg_stat_replication"), "the cut", fleet.logs)
                running = trigger(switch.dsn(), LONG)
                wait_for(lambda: fleet.story().starts(LONG), "a run that the standby misses", fleet.logs)

                wait_for_a_pause()
                primary.stop("immediate")
                standby.promote()
                switch.turn_to(standby)
                wait_for(
                    lambda: all(_NOTICED in order.log.read_text() for order in orders),
                    "every replica to notice",
                    fleet.logs,
                )
                trigger(switch.dsn(), LONG)
                time.sleep(3)
                story, history = fleet.story(), read_history(switch.dsn())
                assert [entry.tick for entry in story.starts(LONG)] == [running], fleet.logs()
                assert story.ends(LONG) == [], fleet.logs()
                assert history[running].replica == story.starts(LONG)[0].replica
                story = fleet.stop()
    assert story.twice == [], fleet.logs()
    assert fleet.logs().count("0 ticks claimed by others") == len(orders)
