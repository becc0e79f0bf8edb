"""The ledger tells what bodies did, from several processes at once."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from onebeat.cli.demo.ledger import Entry, Mark, read_ledger, recorded
from onebeat.model import Tick

TICK = Tick("export", datetime(2027, 5, 1, 12, tzinfo=UTC))

_WRITER = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from onebeat.cli.demo.ledger import recorded
from onebeat.model import Tick
for n in range(200):
    tick = Tick("job", datetime(2027, 5, 1, tzinfo=UTC) + timedelta(n))
    with recorded(Path(sys.argv[1]), tick, sys.argv[2]):
        pass
"""


def test_a_start_is_written_before_the_body_and_an_end_after_it(tmp_path: Path) -> None:
    with recorded(tmp_path / "ledger", TICK, "alpha"):
        assert read_ledger(tmp_path / "ledger") == [Entry(TICK, "alpha", Mark.START)]
    assert read_ledger(tmp_path / "ledger")[1:] == [Entry(TICK, "alpha", Mark.END)]


def test_a_body_that_raises_has_ended(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), recorded(tmp_path / "ledger", TICK, "alpha"):
        raise RuntimeError
    assert [entry.mark for entry in read_ledger(tmp_path / "ledger")] == [Mark.START, Mark.END]


def test_where_nothing_ran_there_are_no_entries(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "ledger") == []


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(path), f"replica-{n}"]) for n in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(read_ledger(path)) == 3 * 200 * 2
