"""What joins when, who and what happened: the only stateful part."""
