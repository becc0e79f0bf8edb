"""`onebeat explain EXPR`"""

from __future__ import annotations

import click

from onebeat.cli.expression import expression_parameters, read_expression, read_moment
from onebeat.insight.words import written_in
from onebeat.schedules.explain import explain


@click.command("explain")
@expression_parameters
@click.option(
    "--count", type=click.IntRange(min=0, max=1000), default=5, show_default=True, help="How many instants."
)
def command(
    expression: str,
    tz: str,
    moment: str | None,
    extended: bool,
    job_id: str | None,
    seconds: bool,
    count: int,
) -> None:
    """Say what EXPR means.

    In a sentence, by its next instants, and with warnings of what the changes of the clock do to it.

    EXPR is a cron text ("0 9 * * MON-FRI"), a descriptor (@daily) or "@every 90s", and may begin with its
    own zone (CRON_TZ=Europe/Berlin). Warnings look a year ahead.
    """
    schedule, shown_in = read_expression(expression, tz, extended, seconds, job_id)
    explanation = explain(schedule, after=read_moment(moment, shown_in), count=count)
    click.echo(explanation.sentence)
    for instant in explanation.instants:
        shown = written_in(shown_in, instant)
        click.echo(f"  {shown:%a} {shown.isoformat()}")
    if count and not explanation.instants:
        click.echo("  never due again")
    for warning in explanation.warnings:
        click.echo(f"warning: {warning}")
