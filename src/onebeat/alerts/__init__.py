"""Whom to tell: alarms raised once by the fleet, and monitors that hear of every run."""
