"""Connections of our own for bodies: a new one for each, so that none meets what another left behind."""

from __future__ import annotations

import asyncio
import math
import os
from functools import partial

from psycopg import AsyncConnection, Connection

from onebeat.stores.postgres.driver import Loan, in_thread
from onebeat.stores.postgres.transaction_loans import AsyncLoan, SyncLoan

MOST = 16
"""At a time, in one process. Further bodies wait, within their timeout: no burst of ticks takes every
connection that the server has."""


class Connections:
    """Made anew for each body and closed after it: nothing to go stale, to leak or to be shared by a fork."""

    def __init__(self) -> None:
        self._rooms: dict[tuple[int, asyncio.AbstractEventLoop], asyncio.Semaphore] = {}

    async def lend(self, conninfo: str, *, to_async: bool, wait: float) -> Loan:
        room = self._rooms.setdefault((os.getpid(), asyncio.get_running_loop()), asyncio.Semaphore(MOST))
        await room.acquire()
        try:
            return await (_async(conninfo, room, wait) if to_async else _sync(conninfo, room, wait))
        except BaseException:
            room.release()
            raise


async def _async(conninfo: str, room: asyncio.Semaphore, wait: float) -> Loan:
    connection = await AsyncConnection.connect(
        conninfo, prepare_threshold=None, connect_timeout=math.ceil(wait)
    )

    async def give_back() -> None:
        try:
            await connection.close()
        finally:
            room.release()

    return AsyncLoan(connection, give_back)


async def _sync(conninfo: str, room: asyncio.Semaphore, wait: float) -> Loan:
    connect = partial(Connection.connect, conninfo, prepare_threshold=None, connect_timeout=math.ceil(wait))
    connection = await in_thread(connect)
    loop = asyncio.get_running_loop()

    def give_back() -> None:
        try:
            connection.close()
        finally:
            loop.call_soon_threadsafe(room.release)

    return SyncLoan(connection, give_back)
