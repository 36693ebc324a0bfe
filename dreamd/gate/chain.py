"""The links of every LLM call, outermost first: journal, redaction, retry, gate, provider."""

from collections.abc import Callable

from dreamd.clock import Clock
from dreamd.events import Emit
from dreamd.gate.gated import Gate, GatedProvider
from dreamd.gate.journal import Journalled
from dreamd.gate.late import Late
from dreamd.gate.redacting import Redacting
from dreamd.gate.retrying import Retrying
from dreamd.providers.base import Provider
from dreamd.sections import Llm
from dreamd.stores.base import Store


def linked(
    opened: Callable[[], Provider],
    *,
    llm: Llm,
    store: Store,
    clock: Clock,
    emit: Emit,
    draw: Callable[[], float],
) -> Callable[[str], Journalled]:
    """What makes the chain of one job from its name. All jobs share one gate and one provider, opened at the first call."""
    gated = GatedProvider(Gate(llm.concurrency), Late(opened))

    def for_job(job: str) -> Journalled:
        retrying = Retrying(gated, clock=clock, draw=draw, llm=llm, emit=emit)
        return Journalled(Redacting(retrying), store=store, job=job, clock=clock, emit=emit)

    return for_job
