"""What is wrong with a store and its fleet, and what to do. Pure: facts in, findings out (F-DRIFT)."""

from onebeat.doctor.finding import Facts, Finding, Level
from onebeat.doctor.fleet import diagnose_fleet
from onebeat.doctor.postgres import diagnose_postgres, is_askable
from onebeat.doctor.sqlite import diagnose_sqlite, is_file_askable

__all__ = [
    "Facts",
    "Finding",
    "Level",
    "diagnose_fleet",
    "diagnose_postgres",
    "diagnose_sqlite",
    "is_askable",
    "is_file_askable",
]
