"""A provider that is made at its first call, in a thread: loading its library takes a tenth of a second."""

from collections.abc import Callable

import anyio
from anyio import to_thread

from dreamd.calls import Prompt, Reply
from dreamd.errors import ConfigError, ProviderRefused
from dreamd.parts import Metered
from dreamd.providers.base import Provider
from dreamd.stores.base import Usage


class Late(Provider):
    def __init__(self, make: Callable[[], Provider]) -> None:
        self._make = make
        self._making = anyio.Lock()
        self._provider: Provider | None = None

    async def complete(self, prompt: Prompt) -> Reply:
        """As the provider's. Raises ProviderRefused when the configuration makes none; the next call tries again."""
        return await (await self._made()).complete(prompt)

    async def aclose(self) -> None:
        if self._provider is not None:
            await self._provider.aclose()

    async def _made(self) -> Provider:
        async with self._making:
            if self._provider is None:
                try:
                    self._provider = await to_thread.run_sync(self._make)
                except ConfigError as error:
                    raise ProviderRefused(error.what, hint=error.hint) from error
            return self._provider


class LateJob(Metered):
    """The chain of one job, made the same way. Raises besides what the chain raises what `Late` does."""

    def __init__(self, make: Callable[[], Metered]) -> None:
        self._job: Metered | None = None
        self._late = Late(lambda: self._made(make))

    def usage(self) -> tuple[Usage, ...]:
        return self._job.usage() if self._job else ()

    async def complete(self, prompt: Prompt) -> Reply:
        return await self._late.complete(prompt)

    async def aclose(self) -> None:
        await self._late.aclose()

    def _made(self, make: Callable[[], Metered]) -> Metered:
        self._job = make()
        return self._job
