"""The house behind the door, furnished at the first connection: the app, its jobs, and how all ends in good order."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio import CancelScope, CapacityLimiter
from uvicorn.config import Config
from uvicorn.server import ServerState

from dreamd.address import Address
from dreamd.http.app import app
from dreamd.http.counters import Counters
from dreamd.http.desk import Desk
from dreamd.http.jobs import Errand, Jobs
from dreamd.http.listening import Connect, Furnish
from dreamd.http.mounting import Mounted
from dreamd.http.wire import KEEP_ALIVE_S, Wire, silence
from dreamd.parts import Parts

STOP_S = 3.0  # answers under way may take so long when dreamd stops
_THREADS = 8


@asynccontextmanager
async def serving(
    parts: Parts, where: Address, ready: Callable[[], bool], errands: dict[str, Errand]
) -> AsyncIterator[Connect]:
    """The protocol of one connection, while inside. Leaving lets answers end for a moment, then breaks off jobs and all."""
    silence()
    counters, state = Counters(), ServerState()
    async with anyio.create_task_group() as tasks:
        desk = Desk(
            parts=parts,
            where=where,
            ready=ready,
            jobs=Jobs(tasks, parts, partial(secrets.token_hex, 8), errands),
            counters=counters,
            threads=CapacityLimiter(_THREADS),
        )
        config = Config(
            app(desk, Mounted(parts, tasks)), http=Wire, ws="none", lifespan="off", log_config=None,
            access_log=False, proxy_headers=False, timeout_keep_alive=KEEP_ALIVE_S,
        )  # fmt: skip
        config.load()
        try:
            yield partial(Wire, config, state, counters)
        finally:
            with CancelScope(shield=True):
                await _ended(state)
            tasks.cancel_scope.cancel()


async def _ended(state: ServerState) -> None:
    for connection in tuple(state.connections):
        connection.shutdown()
    if state.tasks:
        _, late = await asyncio.wait(state.tasks, timeout=STOP_S)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1)
    for connection in tuple(state.connections):
        connection.transport.abort()


OPEN: Furnish = serving
