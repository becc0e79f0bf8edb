"""The Flask app with its scheduler started where it is imported, whichever process that is.

As a program: served by Flask's own server with its reloader, which runs this file in two processes.
`python -m tests.processes.apps.flask_started PORT WATCHED_FILE`
"""

from __future__ import annotations

import sys

from tests.processes.apps.flask_app import app, scheduler

scheduler.start_background()

if __name__ == "__main__":
    app.run(port=int(sys.argv[1]), use_reloader=True, extra_files=[sys.argv[2]])
