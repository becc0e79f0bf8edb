"""`onebeat migrate [STORE]`"""

from __future__ import annotations

import click

from onebeat.cli.targets import asked, named_store, opened


@click.command("migrate")
@click.argument("store", required=False)
@click.option("--sql", is_flag=True, help="Print the SQL instead of running it; nothing is connected to.")
@click.option("--schema", help="Where the tables are (PostgreSQL; default: the first of the search path).")
def command(store: str | None, sql: bool, schema: str | None) -> None:
    """Make the tables, or bring them up to date.

    STORE is postgresql://… or sqlite:///file.db; if it is not given, ONEBEAT_STORE, else DATABASE_URL; with
    --sql and none of them, the SQL is PostgreSQL's. Safe to run again, and while replicas run. Replicas make
    the tables themselves where their role may: this is for roles that may not.
    """
    # Here, not above: they would make every command start more slowly.
    from onebeat.stores import postgres, sqlite

    target = named_store(store)
    if sql and target is None:
        click.echo(postgres.migration_sql(schema))
        return
    found = opened(target, schema)
    if isinstance(found, postgres.PostgresStore):
        script = postgres.migration_sql(schema)
    elif isinstance(found, sqlite.SqliteStore):
        script = sqlite.migration_sql()
    else:
        raise click.UsageError(f"{found.label} has no tables")
    if sql:
        click.echo(script)
        return
    if isinstance(found, postgres.PostgresStore):
        asked(found, found.migrate())
    else:
        sqlite.apply_migrations(found.path)
    click.echo(f"{found.label}: the tables are up to date")
