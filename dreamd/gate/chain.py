"""The links of every LLM call, outermost first: journal, redaction, retry, gate, provider."""

from collections.abc import Callable

from dreamd.calls import Prompt, Reply
from dreamd.clock import Clock
from dreamd.events import Emit
from dreamd.gate.attending import Attendant
from dreamd.gate.gated import GatedProvider
from dreamd.gate.journal import Journalled
from dreamd.gate.lane import Lane
from dreamd.gate.late import Late
from dreamd.gate.leases import Leases
from dreamd.gate.order import agent_of, rank_of
from dreamd.gate.redacting import Redacting
from dreamd.gate.retrying import Retrying
from dreamd.providers.base import Provider
from dreamd.sections import Llm
from dreamd.stores.base import Store


class Gated:
    """What the calls of all jobs share at the gate."""

    def __init__(self, lane: Lane, attendant: Attendant, leases: Leases) -> None:
        self.lane = lane
        self.attendant = attendant
        self.leases = leases


class Attended(Provider):
    """While a call of the provider is under way, or waits, somebody attends to its lane."""

    def __init__(self, provider: Provider, attendant: Attendant) -> None:
        self._provider = provider
        self._attendant = attendant

    async def complete(self, prompt: Prompt) -> Reply:
        async with self._attendant.beside():
            return await self._provider.complete(prompt)

    async def aclose(self) -> None:
        await self._provider.aclose()


def linked(
    opened: Callable[[], Provider],
    *,
    gate: Gated,
    llm: Llm,
    store: Store,
    clock: Clock,
    emit: Emit,
    draw: Callable[[], float],
) -> Callable[[str], Journalled]:
    """What makes the chain of one job from its name. All jobs share one gate and one provider, opened at the first call."""
    late = Late(opened)

    def for_job(job: str) -> Journalled:
        gated = GatedProvider(gate.lane, late, rank=rank_of(job), agent=agent_of(job), leases=gate.leases)
        retrying = Retrying(gated, clock=clock, draw=draw, llm=llm, emit=emit)
        return Journalled(
            Redacting(Attended(retrying, gate.attendant)), store=store, job=job, clock=clock, emit=emit
        )

    return for_job
