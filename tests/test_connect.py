"""A URL, a pool or an engine becomes the store it names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from onebeat.connect import connect
from onebeat.errors import InvalidSetting
from onebeat.stores.memory import MemoryStore
from onebeat.stores.postgres import PostgresStore
from onebeat.stores.sqlite import SqliteStore


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_is_no_store(nothing: str | None) -> None:
    """C-EVERY-REPLICA: an unset DATABASE_URL gives none."""
    assert connect(nothing) is None


def test_a_url_names_its_store(tmp_path: Path) -> None:
    """D-POOL: nothing is opened yet, so none of these has to exist."""
    assert isinstance(connect("memory://"), MemoryStore)
    assert isinstance(connect(f"sqlite:///{tmp_path}/jobs.db"), SqliteStore)
    for dsn in ("postgresql://host/db", "postgres://host/db", "host=here dbname=db user=me"):
        assert isinstance(connect(dsn, schema="jobs", tolerance=3), PostgresStore)
    assert not (tmp_path / "jobs.db").exists()


def test_three_slashes_are_relative_and_four_absolute() -> None:
    """D-LITE: as everywhere else such a URL is written."""
    relative, absolute = connect("sqlite:///jobs.db"), connect("sqlite:////srv/jobs.db")
    assert relative is not None
    assert absolute is not None
    assert (relative.label, absolute.label) == ("sqlite:///jobs.db", "sqlite:////srv/jobs.db")


def test_a_store_passes_through() -> None:
    """D-SAME: one written elsewhere is as good as ours; but its options are its maker's."""
    store = MemoryStore()
    assert connect(store) is store
    with pytest.raises(InvalidSetting, match="store"):
        connect(store, tolerance=1)


def test_a_store_written_elsewhere_is_told_what_it_lacks() -> None:
    """D-SAME: here, not where the scheduler first misses it."""

    class Unfinished(MemoryStore):
        repair = None  # type: ignore[assignment]

        @property
        def label(self) -> str:  # type: ignore[override]
            raise AttributeError

    with pytest.raises(InvalidSetting, match=r"it lacks repair, label\b"):
        connect(Unfinished())


@pytest.mark.parametrize(
    "target",
    [
        "mysql://user:secret@host/db",
        "postgresql+asyncpg://user:secret@host/db",
        "postgresql://user:secret@host:no port/db",
        "user:secret",
        "password=secret",
        "sqlite:",
        "sqlite:///",
        "sqlite:///:memory:",
        b"postgresql://user:secret@host/db",
        5,
        pytest.param(object(), id="object"),
        MemoryStore,
    ],
    ids=ascii,
)
def test_anything_else_is_refused_without_telling_a_password(target: object) -> None:
    """D-POOL: at construction, naming what would do."""
    with pytest.raises(InvalidSetting, match="store: expected ") as refused:
        connect(target)
    assert "secret" not in str(refused.value)
    assert "secret" not in repr(refused.value.__cause__)


def test_a_missing_driver_is_named_with_its_cure() -> None:
    """D-POOL: PostgreSQL is an extra; asking for it without is one clear line."""
    script = """
import sys
sys.modules["psycopg"] = sys.modules["psycopg_pool"] = None
from onebeat.connect import connect
from onebeat.errors import InvalidSetting
try:
    connect("postgresql://user:secret@host/db")
except InvalidSetting as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "pip install onebeat[postgres]" in said
    assert "secret" not in said


def test_no_driver_is_imported_before_it_is_needed() -> None:
    """D-POOL: the core costs its users no driver."""
    script = """
import sys
from onebeat.connect import connect
connect(None), connect("memory://"), connect("sqlite:///none.db")
print(sorted({"psycopg", "psycopg_pool", "asyncpg", "sqlalchemy"} & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
