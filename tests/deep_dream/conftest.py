"""A house with one agent, `cat`: its workspace, its pool, a scripted model, and a way to say what was said."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.deep_dream.phase import deep_dream
from dreamd.errors import ProviderError
from dreamd.events import Event
from dreamd.gate.journal import Journalled
from dreamd.memories import Memory, derived_id, raw_id
from dreamd.parts import Outcome, Parts
from dreamd.providers.scripted import ScriptedProvider
from dreamd.records import Origin, Role, Span, trust_of
from dreamd.sections import Agent, DeepDream
from dreamd.stores.base import Changes, LedgerRow, Store
from dreamd.stores.inmemory import InMemoryStore

DAY = date(2026, 3, 2)


def reply(memory: str, *, dream: str = "", retired: str = "") -> str:
    """A whole reply in the shape that the prompt asks for."""
    return f"[MEMORY]\n{memory}\n[RETIRED]\n{retired}\n[DREAM]\n{dream}\n[END]"


class House:
    """`said` puts an event of a day into pool and daily; `dream` runs the phase against scripted replies."""

    def __init__(self, workspace: Path, clock: StillClock) -> None:
        self.store: Store = InMemoryStore()
        self.clock = clock
        self.workspace = workspace
        self.events: list[tuple[Event, dict[str, object]]] = []
        self.config = Config(agents={"cat": Agent(workspace=str(workspace), language="en", zone="UTC")})
        self.llm: ScriptedProvider | None = None
        self.count = 0

    def emit(self, event: Event, /, **values: object) -> None:
        self.events.append((event, values))

    @property
    def parts(self) -> Parts:
        llm = self.llm

        def chain(job: str) -> Journalled:
            assert llm is not None
            return Journalled(llm, store=self.store, job=job, clock=self.clock, emit=self.emit)

        return Parts(
            config=self.config,
            state=self.workspace,
            store=self.store,
            clock=self.clock,
            emit=self.emit,
            provider=chain if llm else None,
        )

    def limits(self, **changes: object) -> None:
        self.config = replace(self.config, deep_dream=replace(DeepDream(), **changes))

    def agent(self, **changes: object) -> None:
        self.config = replace(self.config, agents={"cat": replace(self.config.agents["cat"], **changes)})

    @property
    def file(self) -> Path:
        return self.workspace / "MEMORY.md"

    @property
    def memory(self) -> str:
        return self.file.read_bytes().decode() if self.file.exists() else ""

    def diary(self, day: date = DAY) -> str:
        path = self.workspace / "memory" / "dreams" / f"{day.isoformat()}.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def daily(self, day: date = DAY) -> Path:
        path = self.workspace / "memory" / f"{day.isoformat()}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def record(
        self,
        text: str,
        *,
        day: date = DAY,
        role: Role = "user",
        origin: Origin = "human",
        session: str = "s1",
    ) -> Memory:
        self.count += 1
        memory = Memory(
            memory_id=raw_id("cat", str(self.count)),
            type="raw",
            content=text,
            agent="cat",
            window=day,
            received_at=self.clock.now(),
            timestamp=datetime(day.year, day.month, day.day, 9, tzinfo=UTC) + timedelta(minutes=self.count),
            session_id=session,
            role=role,
            origin=origin,
            trust=trust_of(role, origin),
            span=Span("log"),
        )
        self.store.write(Changes(memories=(memory,)))
        return memory

    def said(self, line: str, *records: Memory, day: date = DAY) -> Memory:
        """A line of the day's daily that dreamd wrote, resting on the records (or on one that says the same)."""
        resting = records or (self.record(line, day=day),)
        refs = tuple(record.memory_id for record in resting)
        summary = Memory(
            memory_id=derived_id("summary", "cat", line, refs),
            type="summary",
            content=line,
            agent="cat",
            window=day,
            received_at=self.clock.now(),
            ref_ids=refs,
        )
        self.store.write(Changes(memories=(summary,)))
        self.wrote(line, day=day)
        return summary

    def wrote(self, line: str, *, day: date = DAY) -> None:
        """A line of the day's daily that somebody else wrote."""
        with self.daily(day).open("a", encoding="utf-8") as file:
            file.write(f"- {line}\n")

    async def dream(
        self,
        *replies: str | Reply | ProviderError,
        day: date = DAY,
        force: bool = False,
        dry_run: bool = False,
    ) -> Outcome:
        self.llm = ScriptedProvider(list(replies))
        return await deep_dream(self.parts, "cat", day, force=force, dry_run=dry_run)

    @property
    def prompts(self) -> Sequence[Prompt]:
        return self.llm.prompts if self.llm else ()

    def row(self, day: date = DAY) -> LedgerRow | None:
        rows = self.store.ledger("cat", "deep_dream")
        return next((row for row in rows if row.day == day), None)


@pytest.fixture
def house(tmp_path: Path, clock: StillClock) -> House:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return House(workspace, clock)
