"""`onebeat history [STORE] [JOB]`"""

from __future__ import annotations

from datetime import tzinfo

import click

from onebeat.cli.fleet_store import (
    FleetView,
    checked_app,
    fleet_options,
    fleet_store,
    read_instant,
    split_words,
    time_option,
)
from onebeat.cli.lines import TICK_HEADINGS, as_json, in_json, plain, table, tick_cells
from onebeat.cli.targets import asked
from onebeat.clock import SystemClock
from onebeat.history import MOST_ROWS, Page, TickFilter, TickRecord
from onebeat.insight.words import instant, said
from onebeat.model import Verdict, checked_name


@click.command("history")
@click.argument("words", metavar="[STORE] [JOB]", nargs=-1)
@click.option("--prefix", help="Only jobs whose ids begin so.")
@click.option(
    "--verdict",
    "verdicts",
    multiple=True,
    type=click.Choice([verdict.value for verdict in Verdict]),
    help="Only ticks of this verdict; repeatable.",
)
@click.option("--replica", help="Only what the replica of this label holds or held.")
@click.option("--since", help="From then on: an instant with its zone, or a span ago, such as 2h.")
@click.option("--until", help="Before then; likewise.")
@click.option("--running", is_flag=True, help="Only what runs.")
@click.option("--limit", type=click.IntRange(1, MOST_ROWS), default=20, show_default=True, help="How many.")
@click.option("--after", help="Continue after this cursor, which the page before told.")
@click.option("--json", "show_json", is_flag=True, help="One JSON object: `rows`, and the cursor `next`.")
@time_option
@fleet_options
def command(
    words: tuple[str, ...],
    prefix: str | None,
    verdicts: tuple[str, ...],
    replica: str | None,
    since: str | None,
    until: str | None,
    running: bool,
    limit: int,
    after: str | None,
    show_json: bool,
    shown_in: tzinfo,
    app: str,
    schema: str | None,
) -> None:
    """Show what became of ticks, the newest first.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL.
    """
    store_url, names = split_words(words, 0, 1, "[STORE] [JOB]")
    now = SystemClock().now()
    which = TickFilter(
        job_id=checked_name("JOB", names[0]) if names else None,
        prefix=prefix,
        verdicts=tuple(map(Verdict, verdicts)),
        replica=replica,
        since=None if since is None else read_instant("--since", since, now),
        until=None if until is None else read_instant("--until", until, now),
        running=running,
    )
    if which.since is not None and which.until is not None and which.since >= which.until:
        raise click.UsageError(f"--until: expected an instant after --since, got {until!r}")
    store = fleet_store(store_url, schema)
    name = checked_app(app)

    async def ask() -> tuple[Page[TickRecord], bool]:
        page = await store.ticks(which, app=name, limit=limit, after=after)
        return page, bool(page.rows) or await _is_known(store, which.job_id, name)

    page, is_known = asked(store, ask())
    if not is_known:
        click.echo(plain(f"onebeat: no replica has registered a job {which.job_id!r}", 400), err=True)
    if show_json:
        told = {"rows": [as_json(row) for row in page.rows], "next": page.next}
        click.echo(in_json(told))
        return
    for line in table(TICK_HEADINGS, (tick_cells(row, shown_in) for row in page.rows)):
        click.echo(line)
    for row in page.rows:
        if row.note and row.verdict in (Verdict.FAILED, Verdict.TIMED_OUT):
            tick = f"{row.tick.job_id} of {instant(row.tick.scheduled_at, shown_in)}"
            click.echo(plain(f"{tick}: {said(row.note)}", 160))
    if page.next is not None:
        click.echo(f"more with --after {page.next}")


async def _is_known(store: FleetView, job_id: str | None, app: str) -> bool:
    """Not a job that nobody has heard of: misspelt, mostly."""
    return job_id is None or await store.job(job_id, app=app) is not None
