"""The tasks that are loaded only when there is something for them to do: they take as long to import as all else together."""

from collections.abc import Awaitable, Callable
from typing import cast

import anyio
from anyio import to_thread
from msgspec.structs import replace

from dreamd import _plugins
from dreamd.events import FORGETTING_DELAYED, Event
from dreamd.hand.plan import LEFT
from dreamd.parts import Parts
from dreamd.supervisor.kept import LONGEST_PAUSE_S, Failures, kept

READY_S = 10.0  # logs that cannot be followed do not keep the nights from coming


async def watching(package: str, parts: Parts, ready: anyio.Event, **also: object) -> None:
    """The watch of the night, of dreams or of recall's index, once the daemon is ready."""
    with anyio.move_on_after(READY_S):
        await ready.wait()
    loaded = await to_thread.run_sync(_plugins.load, package, "watch", "watch")
    await cast("Callable[..., Awaitable[None]]", loaded)(parts, **also)


async def forgotten(parts: Parts) -> None:
    """What a crash or a command left half forgotten is finished, however long a file is out of reach."""
    trouble = ""
    while True:
        if await to_thread.run_sync(parts.store.meta, LEFT):
            loaded = await to_thread.run_sync(_plugins.load, "hand", "forget", "attempt")
            before, trouble = trouble, await cast("Callable[[Parts], Awaitable[str]]", loaded)(parts)
            if trouble not in ("", before):
                parts.emit(FORGETTING_DELAYED, reason=trouble, again_in_s=LONGEST_PAUSE_S)
        await parts.clock.sleep(LONGEST_PAUSE_S)


class GatewayLife:
    """`gateway.serve.Life`: the gateway stays open from one configuration to the next, so that agents' calls go on."""

    def __init__(self, parts: Parts, failures: Failures) -> None:
        self.parts = parts
        self.changed = anyio.Event()
        self._failures = failures
        self._open = anyio.CancelScope()

    def goes_on(self, parts: Parts) -> None:
        self.parts = parts
        self.changed.set()
        self.changed = anyio.Event()

    async def kept(self) -> None:
        """Runs until `close`."""
        with self._open:
            while not self.parts.config.gateway.listen:
                await self.changed.wait()
            loaded = await to_thread.run_sync(_plugins.load, "gateway", "serve", "serve")
            serve = cast("Callable[[GatewayLife], Awaitable[None]]", loaded)
            lasting = replace(self.parts, emit=self._tell)
            await kept("gateway", lambda: serve(self), lasting, self._failures)

    def _tell(self, event: Event, /, **values: object) -> None:
        """As the configuration of this moment has it told."""
        self.parts.emit(event, **values)

    def close(self) -> None:
        self._open.cancel()
