"""The dashboard over the demo's fleet: `python -m onebeat.cli.demo.dashboard FOLDER`, started by the demo.

A process of its own: the web server minds its signals itself, and the demo's loop minds the replicas.
"""

from __future__ import annotations

import socket
import sys
import webbrowser
from pathlib import Path

import uvicorn

from onebeat.cli.replicas import stop_with_parent
from onebeat.web import dashboard

_PATIENCE = 2  # seconds that open pages have, when the demo ends


def serve(folder: Path, *, opened: bool) -> None:
    """On loopback, at a free port, until a signal or the parent's end; say where, and open it if asked."""
    stop_with_parent(patience=_PATIENCE + 1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        print(address, flush=True)
        if opened:
            webbrowser.open(address)
        # Read-only: a pause or a trigger would be no part of what the demo accounts for.
        shown = dashboard(f"sqlite:///{folder / 'claims.db'}", app="demo")
        config = uvicorn.Config(shown, log_level="error", timeout_graceful_shutdown=_PATIENCE)
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(Path(sys.argv[1]), opened="--open" in sys.argv[2:])
