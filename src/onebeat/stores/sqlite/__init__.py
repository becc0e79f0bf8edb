"""Claims in one SQLite file, for several processes on one machine."""
