"""Who was declared dead, as a condition of other statements."""

from __future__ import annotations


def is_dead(app: str, replica_id: str) -> str:
    """SQL, of two SQL expressions: whether that replica was declared dead. One who is not known was not."""
    return f"""EXISTS (SELECT FROM {{replicas}} AS replica
                     WHERE replica.app = {app} AND replica.replica_id = {replica_id}
                       AND replica.dead_at IS NOT NULL)"""
