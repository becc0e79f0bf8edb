"""One replica: `python -m tests.processes.replica ORDERS`, started by a Fleet.

Says "set" when it stands at the line, and goes with the first line it reads.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from onebeat.cli.replicas import stop_with_parent
from tests.processes.jobs import scheduler_on
from tests.processes.orders import Orders


@asynccontextmanager
async def handle_of(orders: Orders) -> AsyncIterator[object]:
    """The database as an app has it: a URL, or a pool or an engine of its own."""
    if orders.handle == "psycopg":
        from psycopg_pool import AsyncConnectionPool

        async with AsyncConnectionPool(orders.store, min_size=1, max_size=4, open=False) as pool:
            yield pool
    elif orders.handle == "psycopg, sync":
        from psycopg_pool import ConnectionPool

        with ConnectionPool(orders.store, min_size=1, max_size=4, open=True) as pool:
            yield pool
    elif orders.handle == "asyncpg":
        import asyncpg  # type: ignore[import-untyped]

        async with asyncpg.create_pool(orders.store, min_size=1, max_size=4, statement_cache_size=0) as pool:
            yield pool
    elif orders.handle == "sqlalchemy":
        from sqlalchemy.ext.asyncio import create_async_engine

        engine = create_async_engine(orders.store.replace("postgresql://", "postgresql+psycopg://"))
        yield engine
        await engine.dispose()
    else:
        yield orders.store


async def serve(orders: Orders) -> None:
    async with handle_of(orders) as handle:
        scheduler = scheduler_on(handle, orders)
        print("set", flush=True)
        os.read(0, 1)
        stop_with_parent()
        await scheduler.serve_until_signal()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(serve(Orders.read(sys.argv[1])))
