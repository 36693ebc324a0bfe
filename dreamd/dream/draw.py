"""What an LLM draws from raw memories: they go in grouped and sieved, drafts and summaries come out.

A group it fails at is parked with the reason, the others go on. Without an LLM the sieve is all there is.
"""

from collections.abc import Callable, Sequence
from heapq import nlargest
from itertools import chain

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.decide import counted
from dreamd.dream.distil import Distilled, distil
from dreamd.dream.draft import Draft
from dreamd.dream.material import Material
from dreamd.dream.weigh import weighed
from dreamd.errors import DreamdError, Parked, ProviderError, ProviderRefused
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.pool.grouping import Group, entity_groups, groups
from dreamd.pool.scoring import scores
from dreamd.providers.base import Provider

Progress = Callable[[int, int], None]  # groups done, groups in all
GROUP_RECORDS = 500  # of one primary group: what is parked together, not what is sent together
_REFUSALS = 3  # of groups, from which on it is not the group's fault
_JOINED_GROUPS, _JOINED_RECORDS = 10, 40  # entity groups of one dream, records of one
_EARLIER = 2000  # records under what is known, the latest of them, that a fresh one may be joined with


def nobody(_done: int, _of: int) -> None:
    """Shows nothing."""


class Together:
    """The progress of several portions as that of one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._before = self._of = 0

    def __call__(self, done: int, of: int) -> None:
        self._of = of
        self._progress(self._before + done, self._before + of)

    def next(self) -> None:
        self._before += self._of
        self._of = 0


class ParkedGroup(Struct, frozen=True):
    """A group that waits for the next dream: its raw memories, and why."""

    key: str
    ids: tuple[str, ...]
    reason: str


class Drawn(Struct, frozen=True, kw_only=True):
    """`scored` and `kept` count raw memories. `outage`: the replies that came before it are good for the next dream.

    `note` is for people: why there was no LLM in it.
    """

    drafts: tuple[Draft, ...] = ()
    summaries: tuple[Memory, ...] = ()
    refused: tuple[str, ...] = ()
    parked: tuple[ParkedGroup, ...] = ()
    scored: int = 0
    kept: int = 0
    outage: bool = False
    note: str = ""


class Sieved(Struct, frozen=True):
    """The memories that are worth it by the rules, and those of which these are not sure that they are not."""

    kept: frozenset[str]
    undecided: tuple[Memory, ...]


def sieved(material: Material, threshold: float) -> Sieved:
    known = [insight.content for insight in material.known]
    judged = list(zip(material.fresh, scores(material.fresh, known), strict=True))
    return Sieved(
        frozenset(memory.memory_id for memory, score in judged if score.value >= threshold),
        tuple(memory for memory, score in judged if score.value < threshold and not score.decided),
    )


def together(material: Material, kept: frozenset[str]) -> list[Group]:
    """What is distilled: each primary group without what is not worth it, then what speaks of the same across tasks.

    Of those joined groups only such as bring a fresh memory together with one of another group or of an earlier dream.
    """
    fresh = {memory.memory_id for memory in material.fresh}
    primary = [
        Group(group.key, group.by, tuple(one for one in group.ids if one in kept))
        for group in groups(material.fresh, GROUP_RECORDS)
    ]
    primary = [group for group in primary if group.ids]
    place = {one: group.key for group in primary for one in group.ids}
    earlier = (one for ref, one in material.raws.items() if ref not in fresh)
    worth = nlargest(_EARLIER, earlier, key=_arrived)
    worth += (one for one in material.fresh if one.memory_id in kept)
    worth.sort(key=_arrived)
    joined = [
        Group(group.key, group.by, group.ids[-_JOINED_RECORDS:])
        for group in entity_groups(worth)
        if len({place.get(one, "") for one in group.ids[-_JOINED_RECORDS:]}) > 1
    ]
    joined.sort(key=lambda group: (-len(group.ids), group.key))
    return [*primary, *joined[: min(_JOINED_GROUPS, len(primary))]]


def _arrived(memory: Memory) -> int:
    return memory.seq


async def draw(provider: Provider | None, material: Material, parts: Parts, progress: Progress) -> Drawn:
    """Score, group, distil. Raises StoreError, DiskFull."""
    sieve = await to_thread.run_sync(sieved, material, parts.config.dream.keep_threshold)
    if provider is None:
        return Drawn(scored=len(material.fresh), kept=len(sieve.kept))
    more = await weighed(provider, sieve.undecided, parts.config.dream, material.language)
    kept = sieve.kept | more.kept
    found = await to_thread.run_sync(together, material, kept)
    drawn = await _Drawing(provider, material, parts, found).drawn(progress)
    unasked = (ParkedGroup(f"{material.agent_id}/undecided", more.unasked, more.reason),)
    return replace(
        drawn,
        scored=len(material.fresh),
        kept=len(kept),
        parked=(*drawn.parked, *(unasked if more.unasked else ())),
    )


class _Drawing:
    """The groups of one dream on their way through the LLM, as many at once as calls may be in flight.

    When the LLM cannot be reached, or refuses one group after another, those behind are parked without asking.
    """

    def __init__(self, provider: Provider, material: Material, parts: Parts, found: Sequence[Group]) -> None:
        self.provider = provider
        self.material = material
        self.parts = parts
        self.found = found
        self.known = [one.content for one in material.known if one.status in ("candidate", "long_term")]
        self.results: list[Distilled | ParkedGroup | None] = [None] * len(found)
        self.hopeless = ""
        self.refused = 0
        self.outage = False
        self.failure: DreamdError | None = None

    async def drawn(self, progress: Progress) -> Drawn:
        """In the order of the groups, whichever was done first: the same replies make the same insights.

        What keeps replies from being kept (a full disk, the store) ends them all at once: nothing more is paid for.
        """
        progress(0, len(self.found))
        at_once = anyio.CapacityLimiter(self.parts.config.llm.concurrency)
        async with anyio.create_task_group() as tasks:
            for at in range(len(self.found)):
                tasks.start_soon(self._one, at, at_once, progress, tasks.cancel_scope)
        if self.failure is not None:
            raise self.failure
        distilled = [one for one in self.results if isinstance(one, Distilled)]
        return Drawn(
            drafts=tuple(chain.from_iterable(one.drafts for one in distilled)),
            summaries=tuple(chain.from_iterable(one.summaries for one in distilled)),
            refused=counted(chain.from_iterable(one.refused for one in distilled)),
            parked=tuple(one for one in self.results if isinstance(one, ParkedGroup)),
            outage=self.outage,
        )

    async def _one(
        self, at: int, at_once: anyio.CapacityLimiter, progress: Progress, all_of_them: anyio.CancelScope
    ) -> None:
        async with at_once:
            try:
                self.results[at] = await self._distilled(self.found[at])
            except DreamdError as error:  # a task group would wrap it
                self.failure = self.failure or error
                all_of_them.cancel()
                return
            progress(sum(one is not None for one in self.results), len(self.found))

    async def _distilled(self, group: Group) -> Distilled | ParkedGroup:
        memories = [self.material.raws[one] for one in group.ids]
        if self.hopeless:
            return self._parked(group, self.hopeless)
        try:
            return await distil(
                self.provider, memories, self.known, self.parts.config.dream,
                self.material.language, self.parts.clock,
            )  # fmt: skip
        except Parked as error:
            self.refused += isinstance(error.__cause__, ProviderRefused)
            if self.refused >= _REFUSALS:
                self.hopeless = str(error)
            return self._parked(group, str(error))
        except ProviderError as error:  # an outage: who comes next would only wait for it again
            self.outage, self.hopeless = True, str(error)
            return self._parked(group, self.hopeless)

    def _parked(self, group: Group, reason: str) -> ParkedGroup:
        fresh = {memory.memory_id for memory in self.material.fresh}
        return ParkedGroup(group.key, tuple(one for one in group.ids if one in fresh), reason)
