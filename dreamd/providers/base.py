"""The protocol of an LLM provider: a prompt goes in, a whole reply or a classified error comes out."""

from typing import Protocol

from dreamd.calls import Prompt, Reply


class Provider(Protocol):
    """Wrappers (journal, retry, gate) are Providers around a Provider."""

    async def complete(self, prompt: Prompt) -> Reply:
        """One call.

        Raises ProviderBusy, ProviderUnreachable (repeat later), ProviderRefused, PromptTooLong (do not),
        ReplyUnusable (empty, HTML, not the API's shape). A reply cut off by `max_tokens` is returned with
        stop "length": the caller decides.
        """

    async def aclose(self) -> None: ...
