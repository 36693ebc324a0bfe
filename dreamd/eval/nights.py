"""A world is lived through: each day its records go into the pool as a log's would, each night every agent dreams."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.dream.phase import Dreamt, dream
from dreamd.eval.measure import Dreams, Figures, measured
from dreamd.eval.pouring import ZONE, pour
from dreamd.eval.truth import World
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.sections import Agent, State
from dreamd.stores.base import MemoryQuery, Store

Progress = Callable[[int], None]  # nights since the last call
_BEDTIME = time(23, 58)


async def lived(world: World, config: Config, *, store: str = "inmemory", progress: Progress) -> Figures:
    """The whole world by the real dream, in a folder that is gone afterwards, and what came of it.

    Of `config` the thresholds and the LLM count. Raises what a dream raises.
    """
    clock = StillClock(datetime.combine(world.first, _BEDTIME, tzinfo=UTC))
    with ExitStack() as stack:
        parts = await to_thread.run_sync(_opened, stack, world, config, clock, store)
        dreams = await Living(world, parts, clock).through(progress)
        figures = await to_thread.run_sync(measured, world, parts.store, dreams)
        await to_thread.run_sync(stack.close)
    return figures


def _opened(stack: ExitStack, world: World, config: Config, clock: StillClock, store: str) -> Parts:
    folder = stack.enter_context(TemporaryDirectory(prefix="dreamd-eval-"))
    return stack.enter_context(open_parts(_settings(world, config, folder), clock=clock, store=store))


def _settings(world: World, config: Config, folder: str) -> Config:
    agents = {name: Agent(zone=ZONE, language=tongue) for name, tongue in world.languages.items()}
    return replace(config, state=State(dir=str(Path(folder) / "state")), agents=agents)


class Known(Struct, frozen=True):
    """All that a dream could change."""

    memories: tuple[Memory, ...]
    contradictions: tuple[tuple[str, str], ...]


class Living:
    def __init__(self, world: World, parts: Parts, clock: StillClock) -> None:
        self.world, self.parts, self.clock = world, parts, clock
        self.dreams = Dreams()

    async def through(self, progress: Progress) -> Dreams:
        for day in range(self.world.days):
            await self._day(self.world.first + timedelta(days=day))
            progress(1)
        return replace(
            self.dreams, unsettled=await self._again(force=False), redone=await self._again(force=True)
        )

    async def _day(self, day: date) -> None:
        self.clock.at = datetime.combine(day, _BEDTIME, tzinfo=UTC)
        lines = [line for line in self.world.lines if line.day == day]
        await to_thread.run_sync(pour, self.parts.store, lines, self.clock.at)
        for agent in self.world.languages:
            self._note(await dream(self.parts, agent))

    def _note(self, dreamt: Dreamt) -> None:
        """What was ever long-term counts, and what every call cost."""
        promoted = {shift.memory_id for shift in dreamt.shifts if shift.after == "long_term"}
        self.dreams = replace(
            self.dreams,
            promoted=self.dreams.promoted | promoted,
            refused=self.dreams.refused + dreamt.counts.refused,
            calls=self.dreams.calls + sum(usage.calls for usage in dreamt.spent),
            tokens=self.dreams.tokens
            + sum(usage.input_tokens + usage.output_tokens for usage in dreamt.spent),
        )

    async def _again(self, *, force: bool) -> int:
        """How many rows another dream without new input changes."""
        before = await to_thread.run_sync(known, self.parts.store)
        for agent in self.world.languages:
            self._note(await dream(self.parts, agent, force=force))
        after = await to_thread.run_sync(known, self.parts.store)
        changed = set(map(repr, before.memories)) ^ set(map(repr, after.memories))
        return len(changed) + len(set(before.contradictions) ^ set(after.contradictions))


def known(store: Store) -> Known:
    memories = tuple(store.memories(MemoryQuery(types=("insight", "summary"))))
    pairs = (pair for agent in {one.agent for one in memories} for pair in store.contradictions(agent))
    return Known(memories, tuple((pair.left_id, pair.right_id) for pair in pairs))
