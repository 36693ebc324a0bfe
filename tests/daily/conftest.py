"""A small house with one agent, `cat`, in Berlin: its pool, its workspace, and a way to say what was said."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from dreamd.clock import StillClock, local_date
from dreamd.config import Config
from dreamd.events import Event
from dreamd.gate.journal import Journalled
from dreamd.memories import Memory, raw_id
from dreamd.parts import Parts
from dreamd.providers.scripted import ScriptedProvider
from dreamd.records import Origin, Role, trust_of
from dreamd.sections import Agent
from dreamd.stores.base import Changes, LedgerRow, MemoryQuery
from dreamd.stores.inmemory import InMemoryStore

DAY = date(2026, 3, 2)
BERLIN = ZoneInfo("Europe/Berlin")


class House:
    """`tell` puts records into the pool, one minute apart; `parts` is what a verb is given."""

    def __init__(self, workspace: Path, clock: StillClock) -> None:
        self.store = InMemoryStore()
        self.workspace = workspace
        self.events: list[tuple[Event, dict[str, object]]] = []
        self.said_at = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
        self.clock = clock
        self.agent = Agent(workspace=str(workspace), zone="Europe/Berlin")
        self.config = Config(agents={"cat": self.agent})
        self.llm: ScriptedProvider | None = None
        self.count = 0

    def emit(self, event: Event, /, **values: object) -> None:
        self.events.append((event, values))

    @property
    def parts(self) -> Parts:
        llm = self.llm
        return Parts(
            config=self.config,
            state=self.workspace,
            store=self.store,
            clock=self.clock,
            emit=self.emit,
            provider=(
                lambda job: Journalled(llm, store=self.store, job=job, clock=self.clock, emit=self.emit)
            )
            if llm
            else None,
        )

    def configure(self, **changes: object) -> None:
        self.agent = replace(self.agent, **changes)
        self.config = replace(self.config, agents={"cat": self.agent})

    def record(
        self, role: Role, text: str = "", origin: Origin = "human", *, session: str = "s1", **more: object
    ) -> Memory:
        self.count += 1
        self.said_at += timedelta(minutes=1)
        at = more.pop("at", self.said_at)
        memory = Memory(
            memory_id=raw_id("cat", f"{session}:{self.count}"),
            type="raw",
            content=text,
            agent="cat",
            window=local_date(at, BERLIN) if at else DAY,
            received_at=self.clock.now(),
            session_id=session,
            task_id=session,
            timestamp=at,
            role=role,
            origin=origin,
            trust=trust_of(role, origin),
        )
        return replace(memory, **more)

    def tell(self, *memories: Memory) -> None:
        self.store.write(Changes(memories=memories))

    def talk(self, asked: str, answered: str = "", **more: object) -> tuple[Memory, ...]:
        """A question and its answer go into the pool."""
        said = [self.record("user", asked, **more)]
        if answered:
            said.append(self.record("assistant", answered, **more))
        self.tell(*said)
        return tuple(said)

    @property
    def file(self) -> Path:
        return self.workspace / "memory" / "2026-03-02.md"

    @property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @property
    def row(self) -> LedgerRow | None:
        return next(iter(self.store.ledger("cat", "daily")), None)

    def summaries(self) -> list[Memory]:
        return list(self.store.memories(MemoryQuery(agent="cat", types=("summary",))))

    def unfiled(self) -> list[Memory]:
        return list(self.store.memories(MemoryQuery(agent="cat", types=("raw",), filed=False)))

    def told(self, name: str) -> list[dict[str, object]]:
        return [values for event, values in self.events if event.name == name]


@pytest.fixture
def house(tmp_path: Path, clock: StillClock) -> House:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return House(workspace, clock)


@pytest.fixture
def lines_of() -> Callable[[str], list[str]]:
    return lambda text: [line for line in text.splitlines() if line.startswith("- ")]


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with the golden file of that name."""
    folder = Path(__file__).parent.parent / "golden"

    def compare(name: str, text: str) -> None:
        path = folder / name
        assert text == path.read_text(encoding="utf-8"), f"{path} is out of date"

    return compare
