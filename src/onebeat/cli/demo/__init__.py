"""`onebeat demo`: three replicas, one of them killed, and an account of every tick."""
