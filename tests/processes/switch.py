"""An address that stands for one server, until it is switched to another: what clients see of a failover."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

from tests.servers.postgres import Postgres

_BLOCK = 1 << 16


class Switch:
    """Hands on what is said both ways, to the server it is set to; a connection goes where it first went."""

    def __init__(self, server: Postgres) -> None:
        self._server_port = server.port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._cut()

    def dsn(self, database: str = "postgres") -> str:
        port = self._listening.getsockname()[1]
        return f"postgresql://postgres@127.0.0.1:{port}/{database}"

    def turn_to(self, server: Postgres) -> None:
        """Whoever is connected is cut off, and meets *server* from now on."""
        self._server_port = server.port
        self._cut()

    def _accept(self) -> None:
        with suppress(OSError):  # closed, at the end
            while True:
                client, _ = self._listening.accept()
                self._join(client)

    def _join(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._server_port))
        except OSError:  # it is down
            client.close()
            return
        self._open |= {client, server}
        for one, other in ((client, server), (server, client)):
            threading.Thread(target=self._hand_on, args=(one, other), daemon=True).start()

    def _hand_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while block := one.recv(_BLOCK):
                other.sendall(block)
        for end in (one, other):
            _shut(end)
        self._open.discard(one)
        one.close()

    def _cut(self) -> None:
        for end in list(self._open):
            _shut(end)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
