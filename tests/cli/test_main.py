"""Every wrong input is one clear line on stderr and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Onebeat = Callable[..., Any]

WRONG = [
    (["nope"], "nope"),
    (["--nope"], "--nope"),
    (["next"], "EXPR"),
    (["next", "* * * *"], "five fields"),
    (["next", "0 0 * * 7"], "Sunday is 0"),
    (["next", "* * * * *", "--tz", "Mars/Olympus"], "Mars/Olympus"),
    (["next", "* * * * *", "--count", "-1"], "-1"),
    (["next", "* * * * *", "--count", "x"], "x"),
    (["next", "* * * * *", "--from", "soon"], "soon"),
    (["next", "* * * * *", "* * * * *"], "unexpected extra argument"),
    (["explain", "61 * * * *"], "minute"),
    (["explain", "* * * * *", "--from", "soon"], "soon"),
    (["run"], "MODULE:ATTR"),
    (["run", "app"], "module:attr"),
    (["run", "not_there:app"], "not_there"),
    (["run", "sys:path"], "expected a Scheduler, got list"),
    (["run", "sys:path", "--replicas", "0"], "0"),
    (["jobs", "sys:not_there"], "not_there"),
    (["demo", "--seconds", "-1"], "-1"),
    (["migrate"], "DATABASE_URL"),
    (["migrate", "mysql://host/db"], "mysql://"),
    (["migrate", "memory://"], "no tables"),
    (["migrate", "sqlite:///file.db", "--schema", "jobs"], "--schema"),
    (["repair"], "JOB"),
    (["repair", "job"], "DATABASE_URL"),
    (["repair", "memory://", "job", "--app", ""], "--app"),
]


@pytest.mark.parametrize(("words", "named"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input_is_one_line_that_names_it_and_exit_code_2(
    onebeat: Onebeat, words: list[str], named: str
) -> None:
    result = onebeat(*words)
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert result.err.startswith("onebeat: ")
    assert named in result.err


def test_without_a_command_it_lists_them(onebeat: Onebeat) -> None:
    result = onebeat()
    assert result.code == 0
    for name in ("demo", "explain", "jobs", "migrate", "next", "repair", "run"):
        assert f"\n  {name} " in result.out


def test_it_tells_its_version(onebeat: Onebeat) -> None:
    assert onebeat("--version").out.startswith("onebeat 0.")


def test_python_m_onebeat_is_onebeat() -> None:
    command = [sys.executable, "-m", "onebeat", "next", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("onebeat: cron: ")


def test_help_and_next_load_neither_rich_nor_a_driver(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from onebeat.cli import main\n"
        "main(['--help']); main(['next', '@daily'])\n"
        "dear = {'rich', 'psycopg', 'asyncpg', 'sqlalchemy', 'sqlite3'} & set(sys.modules)\n"
        "sys.exit(','.join(dear) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_has_read_enough_is_no_error() -> None:
    command = f"{sys.executable} -m onebeat next '* * * * *' --count 100000 | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
