"""What happened: events turned into logs, metrics and traces."""
