import json
from pathlib import Path, PurePath
from zoneinfo import ZoneInfo

import pytest

from dreamd.clock import StillClock
from dreamd.errors import LogUnreadable
from dreamd.events import silent
from dreamd.formats.base import CERTAIN, Source
from dreamd.records import Record, Span
from dreamd.sections import Tail
from dreamd.stores.base import Cursor
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail import documents
from dreamd.tail.documents import Document
from dreamd.tail.ingest import Agent
from dreamd.tail.steps import How, Tools
from tests.tail.house import texts


class Chat:
    """`{"id": "text", ...}`."""

    name = label = "chat"
    family = "document"
    places = ("*.json",)

    def claims(self, path: PurePath, head: bytes) -> int:
        return CERTAIN

    def read(self, data: bytes, source: Source) -> list[Record]:
        span = Span(source.source_id, length=len(data))
        return [
            Record(identity=key, session_id="s", role="user", origin="human", span=span, text=text)
            for key, text in json.loads(data).items()
        ]


class House:
    def __init__(self, folder: Path, clock: StillClock) -> None:
        self.path = folder / "chat.json"
        self.store = InMemoryStore()
        self.tools = Tools(self.store, clock, silent, Tail(), Agent("a", ZoneInfo("UTC"), 1000))
        self.cursor = Cursor(source_id="s", agent="a", path=str(self.path), format="chat", version=0)

    def read(self, **messages: str) -> list[str]:
        self.path.write_text(json.dumps(messages))
        source = Source("s", PurePath(self.path), PurePath(self.path), "UTC")
        document = Document(self.tools, self.cursor, Chat(), source)
        assert len(list(document.read(str(self.path), How()))) == 1
        self.cursor = document.cursor
        return texts(self.store)


@pytest.fixture
def house(tmp_path: Path, clock: StillClock) -> House:
    return House(tmp_path, clock)


def test_a_document_read_again_adds_only_what_is_new(house: House) -> None:
    assert house.read(a="one") == ["one"]
    assert house.read(a="one", b="two") == ["one", "two"]


def test_what_is_gone_is_withdrawn_and_may_come_back(house: House) -> None:
    house.read(a="one", b="two")
    assert house.read(b="two") == ["two"]
    assert house.read() == []
    assert house.read(a="one", b="two") == ["one", "two"]


def test_what_changed_is_amended(house: House) -> None:
    house.read(a="one")
    assert house.read(a="once") == ["once"]
    house.read()
    assert house.read(a="twice") == ["twice"]


def test_what_is_kept_for_comparing_holds_no_text(house: House) -> None:
    house.read(a="the secret plan")
    assert b"secret" not in house.cursor.state


def test_a_document_larger_than_its_bound_is_left_alone(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_BYTES", 10)
    with pytest.raises(LogUnreadable, match="too large"):
        house.read(a="longer than ten bytes")
