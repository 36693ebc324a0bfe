"""The protocol of an LLM provider: a prompt goes in, a whole reply or a classified error comes out."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
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


class Listener(Protocol):
    """Who follows a call on the wire. None of these raises or takes time."""

    def connected(self, hang_up: Callable[[], None]) -> None:
        """The connection stands; `hang_up` ends it at once, from the event loop, and may be called when it is gone."""

    def answered(self, headers: Mapping[str, str]) -> None:
        """The answer's head is in; names are in lower case."""

    def first_byte(self) -> None:
        """The first byte of a good answer's body is in."""


listener: ContextVar[Listener | None] = ContextVar("dreamd_listener", default=None)
"""Follows the calls of this context. A provider need not tell it anything."""
