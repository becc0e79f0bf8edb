"""A PgBouncer of the tests' own, in transaction mode, before a PostgreSQL of theirs."""

from __future__ import annotations

import shutil
import signal
from typing import Self

import psycopg

from tests.servers.postgres import Postgres
from tests.servers.programs import Program, found, free_port, own_folder

_ADVICE = "install PgBouncer (`apt-get install pgbouncer`, `brew install pgbouncer`)"

_CONFIGURATION = """
[databases]
* = host=127.0.0.1 port={server_port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
"""


class PgBouncer:
    """Clients share *pool_size* connections to the server; each transaction may meet another one."""

    def __init__(self, postgres: Postgres, *, pool_size: int = 4) -> None:
        self.port = free_port()
        self._folder = own_folder("onebeat-pgbouncer-")
        self._file = self._folder / "pgbouncer.ini"
        self._file.write_text(
            _CONFIGURATION.format(server_port=postgres.port, port=self.port, pool_size=pool_size)
        )
        self._file.chmod(0o644)
        self._program: Program | None = None

    def __enter__(self) -> Self:
        self._program = Program([found("pgbouncer", ["/usr/sbin"], _ADVICE), self._file], self._folder)
        self._program.wait_until(self._answers)
        return self

    def __exit__(self, *_: object) -> None:
        if self._program is not None:
            self._program.stop(signal.SIGINT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def dsn(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True
