"""Claims in PostgreSQL, for replicas anywhere."""
