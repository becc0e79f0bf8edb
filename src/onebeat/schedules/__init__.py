"""When: the kinds of schedule, all pure."""
