"""The Django guide, as it stands: a project is made of its files, and run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.processes.fleet import PATIENCE, ROOT, wait_for
from tests.servers.programs import free_port
from tests.stores.postgres.transacted import told

_FILE = re.compile(
    r"`(?P<path>[\w./]+\.py)`:\n\n```python not-run\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
_NIGHTLY = 'scheduler.daily(3, tz="Europe/Berlin", '

SETTINGS = """
SECRET_KEY = "for tests"
USE_TZ = True
INSTALLED_APPS = ["django.contrib.sessions", "shop"]
WSGI_APPLICATION = "shop.wsgi.application"
ROOT_URLCONF = "shop.urls"
DATABASES = {{
    "default": {{
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "{name}", "USER": "postgres", "HOST": "{place.hostname}", "PORT": {place.port},
        "ATOMIC_REQUESTS": True, "CONN_MAX_AGE": 1,
    }}
}}
LOGGING = {{
    "version": 1,
    "handlers": {{"console": {{"class": "logging.StreamHandler"}}}},
    "root": {{"handlers": ["console"], "level": "INFO"}},
}}
"""
WSGI = "from django.core.wsgi import get_wsgi_application\n\napplication = get_wsgi_application()\n"
STALE = "INSERT INTO django_session VALUES ('old', '', '2020-01-01')"


@pytest.fixture
def project(tmp_path: Path, database: str) -> Path:
    """A Django project with the files of the guide, migrated; its job is due every second."""
    place = urlsplit(database)
    files = {file["path"]: file["code"] for file in _FILE.finditer(guide())}
    assert _NIGHTLY in files["shop/jobs.py"]
    files["shop/jobs.py"] = files["shop/jobs.py"].replace(_NIGHTLY, "scheduler.every(1, ")
    files["shop/settings.py"] = SETTINGS.format(name=place.path.strip("/"), place=place)
    files["shop/wsgi.py"] = WSGI
    files["shop/urls.py"] = "urlpatterns = []\n"
    for package in ("shop", "shop/management", "shop/management/commands"):
        files[f"{package}/__init__.py"] = ""
    for path, code in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(code)
    subprocess.run([sys.executable, "-m", "django", "migrate"], cwd=tmp_path, env=environment(), check=True)
    told(database, STALE)
    return tmp_path


def guide() -> str:
    return (ROOT / "docs" / "guides" / "django.md").read_text()


def environment() -> dict[str, str]:
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "shop.settings", "PYTHONPATH": "."}


@contextmanager
def running(project: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    with (project / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=project,
            env=environment(),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("command", ["a process of its own", "web workers"])
def test_the_django_guide_runs_as_it_stands(project: Path, database: str, command: str) -> None:
    """D-POOL: on Django's connection; the job has done its work, and the process ends in order."""
    web = ("gunicorn", "--workers", "2", "--bind", f"127.0.0.1:{free_port()}", "shop.wsgi")
    own = ("django", "run_jobs")
    log = project / "log"
    with running(project, *(web if command == "web workers" else own)) as process:
        ran = "SELECT count(*) FROM onebeat_ticks WHERE verdict = 'ran' AND claimed_by IS NOT NULL"
        ready = "SELECT to_regclass('onebeat_ticks') IS NOT NULL"
        wait_for(lambda: told(database, ready) and told(database, ran), "a tick to have run", log.read_text)
        assert told(database, "SELECT count(*) FROM django_session") == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, log.read_text()
    assert "Traceback" not in log.read_text()
