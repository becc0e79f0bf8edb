"""The dashboard as `uvicorn --factory tests.browser.served:made` serves it."""

from __future__ import annotations

import os

from starlette.applications import Starlette

from onebeat.web import dashboard


def made() -> Starlette:
    return dashboard(
        os.environ["DASHBOARD_DSN"],
        app=os.environ["DASHBOARD_APP"],
        token=os.environ["DASHBOARD_TOKEN"],
        trace_url="http://traces.example/{trace_id}",
    )
