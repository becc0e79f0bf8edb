"""A PostgreSQL of the tests' own: real, on a free port, in a temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import uuid
from pathlib import Path
from typing import Any, Literal, LiteralString, Self

import psycopg

from tests.servers.programs import Program, found, free_port, own_folder, run

_ADVICE = (
    "install PostgreSQL 13 or later (`apt-get install postgresql`, `brew install postgresql`), "
    "or set PG_BINDIR to the folder that holds initdb and postgres"
)

# Not durable against a power cut, which no test makes; still so against a crash of the server.
_SETTINGS = {
    "fsync": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1",
    "log_line_prefix": "%d ",
}

_STOP = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}


class Postgres:
    """One server; `start` and `stop` it as often as you like, its data and its port stay."""

    def __init__(self, **settings: str) -> None:
        self.port = free_port()
        self.folder = own_folder("onebeat-postgres-")
        self._settings = {**_SETTINGS, **settings}
        self._program: Program | None = None
        self._fill(self.folder / "data")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        settings = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        place = ["-D", f"{self.folder}/data", "-p", str(self.port), "-k", str(self.folder)]
        self._program = Program([_binary("postgres"), *place, *settings], self.folder)
        self._program.wait_until(self._answers)

    def stop(self, how: Literal["fast", "immediate"] = "fast") -> None:
        """`fast` ends the sessions and shuts down in order; `immediate` is a crash."""
        if self._program is not None:
            self._program.stop(_STOP[how])
            self._program = None

    def restart(self, how: Literal["fast", "immediate"] = "fast") -> None:
        self.stop(how)
        self.start()

    def run(self, sql: LiteralString, *, database: str = "postgres") -> list[Any]:
        """The rows *sql* gives, if it gives any, as the superuser."""
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> str:
        """The name of a database just created, empty."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
        return name

    def logged(self, database: str) -> list[str]:
        """What the server has logged about *database* so far: the first line of each entry."""
        lines = (self.folder / "log.txt").read_text(errors="replace").splitlines()
        return [line.removeprefix(f"{database} ") for line in lines if line.startswith(f"{database} ")]

    def _fill(self, data: Path) -> None:
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        run([_binary("initdb"), "-D", data, *options])

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


class Standby(Postgres):
    """A server that follows *primary* until it is promoted; `synchronous_standby_names` may name it."""

    def __init__(self, primary: Postgres, *, name: str = "standby") -> None:
        self._primary = f"host=127.0.0.1 port={primary.port} user=postgres application_name={name}"
        super().__init__()

    def promote(self) -> None:
        """Return when it can be written; from then on it has a timeline of its own."""
        [(done,)] = self.run("SELECT pg_promote()")
        assert done

    def _fill(self, data: Path) -> None:
        options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        run([_binary("pg_basebackup"), "-D", data, "-d", self._primary, *options])


def _binary(name: str) -> str:
    given = os.environ.get("PG_BINDIR")
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    return found(name, [*([given] if given else []), *packaged], _ADVICE)


def _version(folder: Path) -> float:
    try:
        return float(folder.parent.name)
    except ValueError:
        return 0.0
