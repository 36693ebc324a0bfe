"""A link that sends no secret, for what a person wrote was never redacted, and lets nothing unseen out of a reply."""

from anyio import to_thread
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.pool.plain import plain
from dreamd.pool.redaction import redact
from dreamd.providers.base import Provider

_LONG = 20_000  # characters that are looked through in a few ms


class Redacting(Provider):
    """The prompt's texts and the reply's go through redaction, the reply's is made plain; all else as the provider's."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def complete(self, prompt: Prompt) -> Reply:
        clean = replace(prompt, system=await _clean(prompt.system), user=await _clean(prompt.user))
        reply = await self._provider.complete(clean)
        return replace(reply, text=await _clean(plain(reply.text)))

    async def aclose(self) -> None:
        await self._provider.aclose()


async def _clean(text: str) -> str:
    return redact(text) if len(text) < _LONG else await to_thread.run_sync(redact, text)
