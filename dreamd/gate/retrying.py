"""A provider that repeats what is worth repeating, within a deadline, and tells what became of each call."""

from collections.abc import Callable

from msgspec import Struct

from dreamd.calls import Prompt, Reply
from dreamd.clock import Clock
from dreamd.errors import ProviderBusy, ProviderError, ProviderUnreachable, ReplyUnusable
from dreamd.events import CALL_FAILED, CALL_FINISHED, CALL_RETRIED, Emit
from dreamd.gate.deadline import Budget
from dreamd.providers.base import Provider
from dreamd.sections import Llm

BASE_S = 2.0
CAP_S = 60.0
UNUSABLE_REPEATS = 1  # such a reply was paid for: asking a third time would only pay again


def backoff(failures: int, draw: float) -> float:
    """Seconds to wait after the n-th failure (from 1), `draw` in 0..1: exponential with equal jitter.

    min(CAP_S, BASE_S * 2 ** (n - 1)), of which half is fixed and half is drawn ("equal jitter", M. Brooker,
    Exponential Backoff And Jitter, AWS Architecture Blog 2015): spread out, and never a repeat at once.
    """
    # the exponent is bounded first: 2.0 ** 1024 overflows
    return min(CAP_S, BASE_S * 2.0 ** min(failures - 1, 16)) * (0.5 + draw / 2)


class Failures(Struct, frozen=True):
    """What has gone wrong in one call so far."""

    count: int = 0
    unusable: int = 0

    def and_one(self, error: ProviderError) -> "Failures":
        return Failures(self.count + 1, self.unusable + isinstance(error, ReplyUnusable))


def pause(error: ProviderError, failures: Failures, attempts: int, draw: float) -> float | None:
    """Seconds to wait before the call is repeated, or None: it is not. `failures` counts this one.

    A server's own Retry-After is obeyed, with up to a tenth on top so that many do not come back as one.
    """
    if failures.count >= attempts or failures.unusable > UNUSABLE_REPEATS:
        return None
    if not isinstance(error, ProviderBusy | ProviderUnreachable | ReplyUnusable):
        return None
    asked = error.retry_after_s if isinstance(error, ProviderBusy) else None
    return max(backoff(failures.count, draw), (asked or 0.0) * (1 + draw / 10))


class Retrying(Provider):
    """Repeats ProviderBusy and ProviderUnreachable, and ReplyUnusable once; at most `llm.attempts` calls in all.

    `llm.deadline_s` bounds the whole call: pauses and the provider's work, not the wait for a turn at the gate. When
    the next pause would not fit, the error is raised at once. `draw` gives numbers in 0..1.
    """

    def __init__(
        self, provider: Provider, *, clock: Clock, draw: Callable[[], float], llm: Llm, emit: Emit
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._draw = draw
        self._llm = llm
        self._emit = emit

    async def complete(self, prompt: Prompt) -> Reply:
        """As the provider's. Raises the last error; ProviderUnreachable when the deadline cut the call."""
        budget, failures = Budget(self._llm.deadline_s), Failures()
        while True:
            try:
                reply = await self._attempt(prompt, budget)
            except ProviderError as error:
                failures = failures.and_one(error)
                await self._pause(error, failures, budget, prompt)
            else:
                self._tell_finished(prompt, reply, failures, budget)
                return reply

    async def aclose(self) -> None:
        await self._provider.aclose()

    async def _attempt(self, prompt: Prompt, budget: Budget) -> Reply:
        try:
            with budget.within():
                return await self._provider.complete(prompt)
        except TimeoutError as error:
            raise ProviderUnreachable(
                f"no whole reply within {self._llm.deadline_s:g} s", timed_out=True, hint="see llm.deadline_s"
            ) from error

    async def _pause(self, error: ProviderError, failures: Failures, budget: Budget, prompt: Prompt) -> None:
        seconds = pause(error, failures, self._llm.attempts, self._draw())
        told = {"purpose": prompt.purpose, "attempt": failures.count, "error": type(error).__name__}
        if seconds is None or seconds >= budget.left:
            self._emit(CALL_FAILED, **told, reason=error.what)
            raise error
        self._emit(CALL_RETRIED, **told, reason=error.what, pause_s=round(seconds, 3))
        budget.left -= seconds
        await self._clock.sleep(seconds)

    def _tell_finished(self, prompt: Prompt, reply: Reply, failures: Failures, budget: Budget) -> None:
        self._emit(
            CALL_FINISHED,
            purpose=prompt.purpose,
            model=reply.model,
            stop=reply.stop,
            attempts=failures.count + 1,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            seconds=round(self._llm.deadline_s - budget.left, 3),
        )
