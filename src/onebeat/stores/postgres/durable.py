"""How a statement that acknowledges something begins: it is on disk before it is answered."""

from __future__ import annotations

# Read by the statement, because a CTE that nobody reads is not run. Without it an app's default of
# `synchronous_commit = off` would lose acknowledged claims in a crash, and the ticks would run twice.
DURABLE = """
WITH settings AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'on', true) AS synchronous_commit
), asked AS MATERIALIZED (
    SELECT ask, ask->>'app' AS app, CAST($2::text AS json) AS rows
      FROM settings, CAST($1::text AS jsonb) AS ask
     WHERE synchronous_commit IS NOT NULL
)
"""
