"""An ASGI app that is loaded when somebody first asks for it: MCP, whose library costs more than all the rest."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import cast

import anyio
from anyio import TASK_STATUS_IGNORED, to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import ASGIApp, Receive, Scope, Send

from dreamd import _plugins
from dreamd.parts import Parts

Opening = Callable[[Parts], AbstractAsyncContextManager[ASGIApp]]


class Mounted:
    """`mcp.mounted.OPEN`, entered at the first request, left when the face closes."""

    def __init__(self, parts: Parts, tasks: TaskGroup) -> None:
        self._parts, self._tasks = parts, tasks
        self._one_opens = anyio.Lock()
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._one_opens:
            if self._app is None:
                self._app = cast("ASGIApp", await self._tasks.start(self._open))
        await self._app(scope, receive, send)

    async def _open(self, *, task_status: TaskStatus[ASGIApp] = TASK_STATUS_IGNORED) -> None:
        """Raises ConfigError where the library is not installed."""
        opening = cast("Opening", await to_thread.run_sync(_plugins.load, "mcp", "mounted", "OPEN"))
        async with opening(self._parts) as app:
            task_status.started(app)
            await anyio.sleep_forever()
