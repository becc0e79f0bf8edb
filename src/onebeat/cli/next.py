"""`onebeat next EXPR`"""

from __future__ import annotations

import json
from itertools import islice

import click

from onebeat.cli.expression import expression_parameters, read_expression, read_moment
from onebeat.insight.words import written_in
from onebeat.schedules.dues import due_after


@click.command("next")
@expression_parameters
@click.option(
    "--count",
    type=click.IntRange(min=1, max=1_000_000),
    default=5,
    show_default=True,
    help="How many instants.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON array of texts.")
def command(
    expression: str,
    tz: str,
    moment: str | None,
    extended: bool,
    job_id: str | None,
    seconds: bool,
    count: int,
    as_json: bool,
) -> None:
    """Print the next instants of EXPR.

    One a line, in the schedule's zone.

    EXPR is a cron text ("0 9 * * MON-FRI"), a descriptor (@daily) or "@every 90s", and may begin with its
    own zone (CRON_TZ=Europe/Berlin). Prints nothing if it is never due again, fewer than --count if there
    are fewer.
    """
    schedule, shown_in = read_expression(expression, tz, extended, seconds, job_id)
    instants = due_after(schedule, read_moment(moment, shown_in))
    texts = (written_in(shown_in, instant).isoformat() for instant in islice(instants, count))
    if as_json:
        click.echo(json.dumps(list(texts)))
        return
    for text in texts:
        click.echo(text)
