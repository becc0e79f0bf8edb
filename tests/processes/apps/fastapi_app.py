"""A FastAPI app whose scheduler lives and ends with it, under uvicorn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from tests.processes.jobs import scheduler_on
from tests.processes.orders import Orders

orders = Orders.from_environment()
scheduler = scheduler_on(orders.store, orders)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with scheduler:
        yield


app = FastAPI(lifespan=lifespan)
