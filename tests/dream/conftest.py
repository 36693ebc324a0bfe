"""A house with one agent, `cat`, in UTC: what was said on which day goes into its pool; a model may be at hand."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.calls import Prompt
from dreamd.clock import StillClock, local_date
from dreamd.config import Config
from dreamd.dream.phase import Dreamt, dream
from dreamd.events import Event
from dreamd.gate.journal import Journalled
from dreamd.memories import Memory, raw_id
from dreamd.parts import Parts
from dreamd.providers.scripted import Answer, ScriptedProvider
from dreamd.records import Origin, Role, trust_of
from dreamd.sections import Agent, Dream
from dreamd.stores.base import Changes, MemoryQuery, Store
from dreamd.stores.inmemory import InMemoryStore

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)


class House:
    """`says` puts a human's words into the pool, `dreams` runs the phase; the clock stands where it is put."""

    day, at = MORNING.date(), MORNING

    def __init__(self, state: Path) -> None:
        self.state = state
        self.store: Store = InMemoryStore()
        self.clock = StillClock(MORNING)
        self.config = Config(
            dream=Dream(enabled=True),
            agents={"cat": Agent(zone="UTC", language="en"), "dog": Agent(zone="UTC", language="en")},
        )
        self.llm: ScriptedProvider | None = None
        self.events: list[tuple[str, dict[str, object]]] = []
        self.count = 0

    def emit(self, event: Event, /, **values: object) -> None:
        self.events.append((event.name, values))

    def told(self, name: str) -> list[dict[str, object]]:
        return [values for known, values in self.events if known == name]

    def model(self, answers: Sequence[Answer] | Callable[[Prompt], Answer]) -> ScriptedProvider:
        self.llm = ScriptedProvider(answers)
        return self.llm

    @property
    def parts(self) -> Parts:
        llm = self.llm

        def chain(job: str) -> Journalled:
            assert llm is not None
            return Journalled(llm, store=self.store, job=job, clock=self.clock, emit=self.emit)

        return Parts(
            config=self.config, state=self.state, store=self.store, clock=self.clock, emit=self.emit,
            provider=chain if llm else None,
        )  # fmt: skip

    def configure(self, **sections: object) -> None:
        self.config = replace(self.config, **sections)

    def says(
        self, text: str, *, task: str = "t1", role: Role = "user", origin: Origin = "human", agent: str = "cat",
        at: datetime | None = None, tool: str = "", ok: bool | None = None,
    ) -> Memory:  # fmt: skip
        self.count += 1
        at = at or self.clock.now() + timedelta(seconds=self.count)
        memory = Memory(
            memory_id=raw_id(agent, str(self.count)), type="raw", content=text, agent=agent, window=local_date(at, UTC),
            received_at=at, session_id=task, task_id=task, timestamp=at, role=role, origin=origin, tool=tool, ok=ok,
            trust=trust_of(role, origin),
        )  # fmt: skip
        self.store.write(Changes(memories=(memory,)))
        return memory

    def next_day(self, count: int = 1) -> None:
        self.clock.at += timedelta(days=count)

    async def dreams(self, agent: str = "cat", **options: bool) -> Dreamt:
        return await dream(self.parts, agent, **options)

    def insights(self, *statuses: str, agent: str = "cat") -> list[Memory]:
        wanted = statuses or ("candidate", "long_term", "superseded", "archived")
        found = self.store.memories(MemoryQuery(agent=agent, types=("insight",), statuses=wanted))
        return list(found)

    def raws(self, agent: str = "cat") -> list[Memory]:
        return list(self.store.memories(MemoryQuery(agent=agent, types=("raw",))))

    def everything(self) -> list[Memory]:
        return list(self.store.memories(MemoryQuery()))


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)
