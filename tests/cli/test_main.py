"""Every wrong input is one clear line on stderr and exit code 2."""

from __future__ import annotations

import subprocess
import sys
import tempfile
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
    (["next", "* * * * *", "--count", "9" * 30], "9" * 30),
    (["next", "* * * * *", "--from", "soon"], "soon"),
    (["next", "* * * * *", "* * * * *"], "unexpected extra argument"),
    (["explain", "61 * * * *"], "minute"),
    (["explain", "* * * * *", "--from", "soon"], "soon"),
    (["run"], "MODULE:ATTR"),
    (["run", "app"], "module:attr"),
    (["run", "not_there:app"], "not_there"),
    (["run", "./app:scheduler"], "module:attr"),
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


@pytest.mark.parametrize(
    ("redirected", "code", "told"),
    [
        ("| head -n 1 >/dev/null", 0, ""),
        (">/dev/full", 1, "onebeat: [Errno 28] No space left on device\n"),
        (">&-", 0, ""),
    ],
    ids=["a reader that has read enough", "a full disk", "no stdout"],
)
def test_whatever_takes_the_output_there_is_no_traceback(redirected: str, code: int, told: str) -> None:
    command = f"{sys.executable} -m onebeat next '* * * * *' --count 20000 {redirected}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", told)


def test_without_a_stdout_jobs_are_listed_to_nobody(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("from onebeat import Scheduler\nscheduler = Scheduler()\n")
    command = f"{sys.executable} -m onebeat jobs app:scheduler >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_folder_for_temporary_files_is_one_line(onebeat: Onebeat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    result = onebeat("demo")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "/nowhere" in result.err
