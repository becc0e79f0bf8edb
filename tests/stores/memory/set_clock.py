"""A clock that shows what a test sets it to."""

from datetime import datetime, timedelta

from onebeat.clock import SystemClock


class SetClock(SystemClock):
    def __init__(self, at: str = "2027-03-01T12:00Z") -> None:
        self.at = datetime.fromisoformat(at)

    def now(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)
