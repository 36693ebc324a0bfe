"""What the tail's tests stand on: parts on a temporary folder, and a log format of one JSON object a line."""

import json
from collections.abc import Sequence
from pathlib import Path, PurePath

import msgspec

from dreamd.clock import Clock
from dreamd.config import Config
from dreamd.events import Emit, Event, silent
from dreamd.formats.base import CERTAIN, NO, LineReader, Source, Surroundings
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.records import Item, Record, Skip, Span
from dreamd.sections import Agent
from dreamd.stores.base import MemoryQuery, Store
from dreamd.stores.inmemory import InMemoryStore


class Told:
    """Keeps the events for a test to look at."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def __call__(self, event: Event, /, **values: object) -> None:
        self.events.append((event.name, values))

    def names(self) -> list[str]:
        return [name for name, _ in self.events]


def parts_on(
    folder: Path,
    clock: Clock,
    *logs: Path | str,
    store: Store | None = None,
    emit: Emit = silent,
    label: str = "claude_code",
) -> Parts:
    """One agent "a" whose logs are given; the state folder is `folder`/state."""
    agent = Agent(format=label, logs=tuple(map(str, logs)), zone="Asia/Shanghai")
    return Parts(
        config=Config(agents={"a": agent}),
        state=folder / "state",
        store=store or InMemoryStore(),
        clock=clock,
        emit=emit,
    )


def line(number: int, text: str = "", session: str = "s", at: str = "2026-03-01T10:00:00.000Z") -> bytes:
    """A Claude Code prompt with a number for a uuid, as the log's bytes."""
    record = {
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": session,
        "cwd": "/x",
        "type": "user",
        "message": {"role": "user", "content": text or f"text {number} 字"},
        "uuid": f"u{number}",
        "timestamp": at,
    }
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def raw(store: Store) -> list[Memory]:
    return list(store.memories(MemoryQuery(types=("raw",))))


def texts(store: Store) -> list[str]:
    return [memory.content for memory in raw(store)]


class Numbers(LineReader):
    """Reads `{"n": 1}`; remembers how many lines it was fed."""

    def __init__(self, source: Source, state: bytes) -> None:
        self._source = source
        self.fed = int(state or b"0")

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        self.fed += 1
        try:
            number = msgspec.json.decode(line)["n"]
        except (msgspec.DecodeError, KeyError, TypeError):
            return [Skip("damaged")]
        said = f"{number}"
        return [Record(identity=said, session_id="s", role="user", origin="human", span=span, text=said)]

    def settle(self) -> Sequence[Item]:
        return []

    def dump(self) -> bytes:
        return str(self.fed).encode()


class NumbersFormat:
    name = label = "numbers"
    family = "lines"
    places = ("*.log",)

    def claims(self, path: PurePath, head: bytes) -> int:
        return CERTAIN if head.startswith((b'{"n"', b"\0")) else NO

    def order(self, path: PurePath, head: bytes, tail: bytes) -> tuple[object, ...]:
        return ()

    def open(self, source: Source, around: Surroundings, state: bytes) -> LineReader:
        return Numbers(source, state)
