"""The dashboard: what the tables know of a fleet, in a browser. Needs the extra `ui`."""

from onebeat.web.dashboard import dashboard
from onebeat.web.probes import health

__all__ = ["dashboard", "health"]
