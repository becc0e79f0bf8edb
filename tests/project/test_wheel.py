"""What is built is what is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.project.pages import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    with ZipFile(built) as opened:
        yield opened


def test_the_wheel_holds_every_file_of_the_package(wheel: ZipFile) -> None:
    package = ROOT / "src" / "onebeat"
    wanted = {
        str(Path("onebeat") / path.relative_to(package))
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert "onebeat/py.typed" in wanted
    assert [name for name in wanted if name.endswith(".sql")], "no migrations"
    assert wanted <= set(wheel.namelist())


def test_the_wheel_holds_nothing_but_the_package(wheel: ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"onebeat"}
    assert [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]


def test_what_is_in_the_wheel_can_be_imported(wheel: ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    program = "import onebeat; print(onebeat.__file__)"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith(str(tmp_path))
