"""Rows of the store to what a page shows: pure."""
