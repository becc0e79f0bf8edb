"""The page on testing: its examples run, and its tables are complete."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import onebeat.testing
from onebeat.testing import FakeClock, Recorder, invariants
from tests.project.pages import REFERENCE, section, table_names

PAGE = REFERENCE / "testing.md"
_EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_example_on_the_page_is_a_test_that_passes(tmp_path: Path) -> None:
    examples = _EXAMPLE.findall(PAGE.read_text())
    for number, example in enumerate(examples):
        (tmp_path / f"test_example_{number}.py").write_text(example)
    settings = ("asyncio_mode=auto", "asyncio_default_fixture_loop_scope=function", "filterwarnings=error")
    options = [part for setting in settings for part in ("-o", setting)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(examples) == 3


def test_all_there_is_to_import_is_there() -> None:
    for name in onebeat.testing.__all__:
        assert getattr(onebeat.testing, name)


def test_the_page_names_every_invariant() -> None:
    named = table_names(section(PAGE, "A fleet"))
    assert named == {invariant.__name__ for invariant in invariants.INVARIANTS}


@pytest.mark.parametrize(("owner", "called"), [(FakeClock, "clock"), (Recorder, "recorder")])
def test_what_the_page_calls_is_there(owner: type, called: str) -> None:
    names = set(re.findall(rf"{called}\.(\w+)\(", PAGE.read_text()))
    assert names
    assert {name for name in names if not hasattr(owner, name)} == set()


def test_the_page_explains_all_that_a_recorder_can_be_asked() -> None:
    explained = set(re.findall(r"`(\w+)(?:\([\w ]*\))?`", section(PAGE, "The recorder")))
    assert {name for name in vars(Recorder) if not name.startswith("_")} - explained == {"inline"}
