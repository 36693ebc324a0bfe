"""A provider whose calls wait their turn in a lane and make way for the foreground: cancelled, requeued, repeated."""

from dreamd.calls import Prompt, Reply
from dreamd.errors import ProviderBusy, ProviderError, ProviderUnreachable
from dreamd.gate.deadline import given_back, stands_still
from dreamd.gate.lane import DreamCall, Lane
from dreamd.gate.leases import Leases, NotNow
from dreamd.gate.order import DREAM, Rank
from dreamd.providers.base import Provider, listener


class GatedProvider(Provider):
    """Each call takes a turn in the lane, and a slot of `leases` where there are. Raises what the provider within raises.

    A call that makes way is given up at once and begins anew in its turn; no deadline runs for what that costs.
    """

    def __init__(
        self,
        lane: Lane,
        provider: Provider,
        *,
        rank: Rank = DREAM,
        agent: str = "",
        leases: Leases | None = None,
    ) -> None:
        self._lane = lane
        self._provider = provider
        self._rank: Rank = rank
        self._agent = agent
        self._leases = leases

    async def complete(self, prompt: Prompt) -> Reply:
        call, reply = self._lane.come(self._rank, size(prompt)), None
        try:
            while reply is None:
                with stands_still():
                    await call.door.wait()
                with given_back(lambda: call.made_way):
                    reply = await self._attempt(call, prompt)
                if reply is None and call.made_way:
                    self._lane.go_back(call)
            return reply
        finally:
            self._lane.leave(call, finished=reply is not None)

    async def aclose(self) -> None:
        await self._provider.aclose()

    async def _attempt(self, call: DreamCall, prompt: Prompt) -> Reply | None:
        """The reply, or None when the call made way or was put off."""
        if self._leases is None:
            return await self._answered(call, prompt)
        with stands_still():
            slot = await self._leases.take(self._lane.name, self._agent, prompt, most=self._lane.most)
        if isinstance(slot, NotNow):
            self._lane.put_off(call, slot.wait_s, slot.why)
            return None
        reply = None
        try:
            async with self._leases.held(slot):
                reply = await self._answered(call, prompt)
        finally:
            await self._leases.give_back(slot, reply)
        return reply

    async def _answered(self, call: DreamCall, prompt: Prompt) -> Reply | None:
        """The reply, or None when the call made way."""
        following = listener.set(call)
        try:
            with call.under_way():
                return await self._judged(call, prompt)
        except ProviderError:
            if not call.made_way:
                raise
        finally:
            listener.reset(following)
        return None

    async def _judged(self, call: DreamCall, prompt: Prompt) -> Reply:
        try:
            reply = await self._provider.complete(prompt)
        except ProviderBusy as error:
            call.refused(error.retry_after_s)
            raise
        except ProviderUnreachable as error:
            if error.timed_out:
                call.timed_out()
            raise
        call.ended_well(reply.output_tokens)
        return reply


def size(prompt: Prompt) -> int:
    """About how many bytes of prompt the server has to read."""
    return len(prompt.system.encode()) + len(prompt.user.encode())
