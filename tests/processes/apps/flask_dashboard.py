"""A Flask app with the dashboard below a prefix."""

from __future__ import annotations

import os

from flask import Flask
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from onebeat.web.bridge import wsgi

app = Flask(__name__)
app.wsgi_app = DispatcherMiddleware(  # type: ignore[method-assign]
    app.wsgi_app,
    {"/ops": wsgi(os.environ["DASHBOARD_STORE"], token=os.environ["ONEBEAT_UI_TOKEN"])},
)
