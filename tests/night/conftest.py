"""A small house for nights: agents in a temporary folder, records put into the pool, events kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.clock import StillClock, local_date
from dreamd.config import Config, zone_of
from dreamd.events import Event
from dreamd.gate.journal import Journalled
from dreamd.memories import Memory, raw_id
from dreamd.night.bell import Bell
from dreamd.parts import Parts
from dreamd.providers.base import Provider
from dreamd.records import Span, Trust
from dreamd.sections import Agent, DeepDream, Dream, Night
from dreamd.stores.base import Changes
from dreamd.stores.inmemory import InMemoryStore

_BERLIN = ZoneInfo("Europe/Berlin")  # read here: in a test its file would block the loop


@dataclass
class Told:
    """Keeps the events."""

    events: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def __call__(self, event: Event, /, **values: object) -> None:
        self.events.append((event.name, values))

    def named(self, name: str) -> list[dict[str, object]]:
        return [values for known, values in self.events if known == name]


@dataclass
class House:
    parts: Parts
    told: Told
    clock: StillClock
    root: Path

    def says(self, agent: str, at: datetime, *texts: str) -> None:
        """A question and its answer, in the pool as if read from a log."""
        zone = zone_of(self.parts.config.agent(agent))
        pairs = zip(("user", "assistant"), texts, strict=True)
        memories = [
            Memory(
                memory_id=raw_id(agent, f"{at.isoformat()}:{role}"),
                type="raw", content=text, agent=agent, window=local_date(at, zone), received_at=self.clock.now(),
                session_id="s", task_id="s", timestamp=at, role="user" if role == "user" else "assistant",
                origin="human", trust=Trust.HUMAN if role == "user" else Trust.AGENT, span=Span("log"),
            )
            for role, text in pairs
        ]  # fmt: skip
        self.parts.store.write(Changes(memories=memories))

    def daily(self, agent: str, day: date) -> Path:
        return self.root / agent / "memory" / f"{day.isoformat()}.md"

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(self.root.rglob("*.md"))}


def asking(parts: Parts, llm: Provider) -> Parts:
    """The parts with that model at the end of every chain."""

    def chain(job: str) -> Journalled:
        return Journalled(llm, store=parts.store, job=job, clock=parts.clock, emit=parts.emit)

    return replace(parts, provider=chain)


class StillBell(Bell):
    """Moves the still clock on to the moment, an hour at most, and does to it what a test has in mind.

    After `rings` it ends the watch by raising Enough.
    """

    def __init__(
        self, clock: StillClock, rings: int, *, then: Callable[[int], None] = lambda _ring: None
    ) -> None:
        self.clock, self.left, self.then, self.rung = clock, rings, then, 0
        self.closed = False

    async def wait_until(self, moment: datetime) -> None:
        if self.left == self.rung:
            raise Enough
        self.rung += 1
        wait = max(0.0, min(3600.0, (moment - self.clock.now()).total_seconds()))
        await self.clock.sleep(wait)
        await to_thread.run_sync(self.then, self.rung)

    def close(self) -> None:
        self.closed = True


class Enough(Exception):
    pass


def set_clock(clock: StillClock, by: timedelta) -> None:
    """The wall clock is set, or the machine slept: the monotonic one knows nothing of it."""
    clock.at += by


@pytest.fixture
def house(tmp_path: Path) -> Callable[..., House]:
    def build(
        *agents: str, zone: str = "Europe/Berlin", at: datetime | None = None, candidates: int = 1
    ) -> House:
        clock = StillClock(at or datetime(2026, 3, 2, 12, 0, tzinfo=UTC))
        root, state = tmp_path / "home", tmp_path / "state"
        state.mkdir()
        settings = {}
        for name in agents:
            (root / name).mkdir(parents=True)
            (root / "logs" / name).mkdir(parents=True)
            settings[name] = Agent(
                format="claude_code", logs=(str(root / "logs" / name),), workspace=str(root / name), zone=zone
            )
        config = Config(
            agents=settings,
            night=Night(),
            dream=Dream(enabled=True),
            deep_dream=DeepDream(candidates=candidates),
        )
        told = Told()
        parts = Parts(config=config, state=state, store=InMemoryStore(), clock=clock, emit=told)
        return House(parts, told, clock, root)

    return build


def days(first: date, count: int) -> Sequence[date]:
    return [first + timedelta(n) for n in range(count)]
