"""`onebeat ui`: what it says before it serves, and to whom it answers."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from onebeat.cli import main, ui
from onebeat.cli.ui import TOKEN


class Served:
    """What would be served, had a server been started."""

    def __init__(self) -> None:
        self.boards: list[Any] = []

    def run(self, config: Any) -> Any:
        self.boards.append(config.app)
        return type("Server", (), {"run": lambda self, sockets: None})()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    made = Served()
    monkeypatch.setattr("uvicorn.Server", made.run)
    monkeypatch.delenv(TOKEN, raising=False)
    return made.boards


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jobs.db'}"


def asking(board: Any, host: str = "localhost") -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(board), base_url=f"http://{host}")


async def test_it_is_read_only_and_says_where(
    served: list[Any], store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ui", store, "--port", "0"]) == 0
    told = capsys.readouterr()
    assert told.err.startswith("the dashboard is at http://127.0.0.1:")
    assert told.err.count("\n") == 1
    async with asking(served[0]) as client:
        assert (await client.get("/")).status_code == 200
        assert (await client.post("/act/pause")).status_code == 404


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"])
async def test_on_loopback_it_answers_to_the_names_of_loopback(
    served: list[Any], store: str, host: str
) -> None:
    main(["ui", store, "--port", "0"])
    async with asking(served[0], host) as client:
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8080"])
async def test_on_loopback_no_other_name_reads_it(served: list[Any], store: str, host: str) -> None:
    """A page elsewhere may give its own name the address of loopback."""
    main(["ui", store, "--port", "0"])
    async with asking(served[0], host) as client:
        assert (await client.get("/")).status_code == 400


async def test_a_token_of_the_environment_is_never_said(
    served: list[Any], store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN, "a token that nobody guesses")
    assert main(["ui", store, "--port", "0", "--actions", "--private"]) == 0
    told = capsys.readouterr()
    assert "nobody guesses" not in told.out + told.err
    async with asking(served[0]) as client:
        assert (await client.get("/")).status_code == 303
        known = {"Authorization": "Bearer a token that nobody guesses"}
        assert (await client.get("/", headers=known)).status_code == 200


@pytest.mark.parametrize("option", ["--actions", "--private"])
async def test_where_one_is_needed_a_token_is_made_and_said_once(
    served: list[Any], store: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert main(["ui", store, "--port", "0", option]) == 0
    tokens = [line.rpartition(" ")[2] for line in capsys.readouterr().err.splitlines() if "token" in line]
    assert len(set(tokens)) == 2
    async with asking(served[0]) as client:
        for token, status in zip(tokens, (303, 403), strict=True):
            answer = await client.post("/login", data={"name": "ada", "token": token})
            assert answer.status_code == status


async def test_elsewhere_than_on_loopback_it_warns_unless_private(
    served: list[Any], store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ui", store, "--port", "0", "--host", "0.0.0.0"]) == 0
    assert "--private asks for a token" in capsys.readouterr().err
    async with asking(served[0], "shop.example") as client:
        assert (await client.get("/")).status_code == 200
    assert main(["ui", store, "--port", "0", "--host", "0.0.0.0", "--private"]) == 0
    assert "--private asks for a token" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--tz", "Nowhere/Atall"], "tz"),
        (["--trace-url", "https://traces.example/"], "trace_url"),
        (["--app", ""], "--app"),
        (["--port", "70000"], "--port"),
        (["--token", "x"], "No such option"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    served: list[Any], store: str, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ui", store, *arguments]) == 2
    assert told in capsys.readouterr().err
    assert served == []


def test_a_short_token_is_refused_and_not_repeated(
    served: list[Any], store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN, "hunter2")
    assert main(["ui", store]) == 2
    assert "hunter2" not in capsys.readouterr().err


def test_without_a_store_or_the_extra_it_says_so(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ONEBEAT_STORE", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["ui"]) == 2
    assert "no STORE given" in capsys.readouterr().err
    monkeypatch.setattr(ui, "find_spec", lambda name: None)
    assert main(["ui", store]) == 2
    assert (
        capsys.readouterr().err == "onebeat: the dashboard needs the extra `ui`: pip install 'onebeat[ui]'\n"
    )


def test_a_port_that_is_taken_is_one_line(
    served: list[Any], store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["ui", store, "--port", str(port)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"onebeat: cannot listen at 127.0.0.1:{port}: ")
    assert told.count("\n") == 1
