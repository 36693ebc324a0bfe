from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.memories import raw_id
from dreamd.records import Amendment, Origin, Record, Role, Skip, Span, Trace, Trust, Turn
from dreamd.stores.base import Cursor
from dreamd.tail.ingest import Agent, Batch, Remembered, counted, cut, remembered, state_of

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
AGENT = Agent("a", ZoneInfo("Asia/Shanghai"), 64)
CURSOR = Cursor(source_id="s", agent="a", path="/x", format="f")


def record(
    text: str = "hello",
    at: datetime | None = NOW,
    *,
    role: Role = "user",
    origin: Origin = "human",
    session: str = "s",
    identity: str = "i",
) -> Record:
    return Record(
        identity=identity, session_id=session, role=role, origin=origin, span=Span("s"), text=text, at=at
    )


def batch(*records: Record, known: Remembered | None = None) -> Batch:
    made = Batch(AGENT, known or Remembered())
    made.add(records, NOW)
    return made


def windows(*records: Record, known: Remembered | None = None) -> list[date]:
    return [memory.window for memory in batch(*records, known=known).memories]


def test_a_record_becomes_a_raw_memory_of_its_local_day() -> None:
    [memory] = batch(record(at=datetime(2026, 3, 1, 17, tzinfo=UTC))).memories
    assert memory.memory_id == raw_id("a", "i")
    assert (memory.type, memory.content, memory.session_id, memory.task_id) == ("raw", "hello", "s", "s")
    assert memory.window == date(2026, 3, 2)  # past midnight in Shanghai
    assert (memory.timestamp, memory.received_at) == (datetime(2026, 3, 1, 17, tzinfo=UTC), NOW)
    assert memory.trust == Trust.HUMAN


def test_a_record_without_a_time_belongs_to_its_neighbours_day() -> None:
    old = datetime(2026, 2, 3, tzinfo=UTC)
    assert windows(record(at=old), record(at=None)) == [date(2026, 2, 3)] * 2
    assert windows(record(at=None), record(at=None), record(at=old)) == [date(2026, 2, 3)] * 3
    assert windows(record(at=None)) == [date(2026, 3, 2)]
    assert windows(record(at=None), known=Remembered(at=old)) == [date(2026, 2, 3)]


@pytest.mark.parametrize(
    "absurd",
    [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2014, 12, 31, tzinfo=UTC),
        NOW + timedelta(days=1, seconds=1),
    ],
)
def test_an_absurd_time_is_kept_but_does_not_choose_the_day(absurd: datetime) -> None:
    made = batch(record(at=datetime(2026, 2, 3, tzinfo=UTC)), record(at=absurd), record(at=NOW))
    assert [memory.window for memory in made.memories] == [
        date(2026, 2, 3),
        date(2026, 2, 3),
        date(2026, 3, 2),
    ]
    assert made.memories[1].timestamp == absurd


def test_a_clock_a_little_ahead_is_believed() -> None:
    assert windows(record(at=NOW + timedelta(hours=23))) == [date(2026, 3, 3)]


SECRET = "sk-ant-" + "a1B2" * 8


def test_secrets_are_gone_from_every_text() -> None:
    trace = Trace(arguments=f"run {SECRET}", result=f"PASSWORD={SECRET}", error=SECRET, goal=SECRET)
    tool = Record(
        identity="t",
        session_id="s",
        role="tool",
        origin="tool",
        span=Span("s"),
        tool="Bash",
        trace=trace,
        project=f"/{SECRET}",
    )
    made = batch(record(f"my key {SECRET}"), tool)
    made.add([Amendment(identity="t", text=SECRET, trace=trace)], NOW)
    assert SECRET not in repr((made.memories, made.amendments))
    assert made.memories[0].content == "my key [redacted:api-key]"


@given(st.text(max_size=60), st.integers(0, 100))
def test_a_text_is_cut_between_characters(text: str, limit: int) -> None:
    head = cut(text, limit)
    assert text.startswith(head)
    assert len(head.encode()) <= limit
    assert head == text or len(head.encode()) > limit - 4


def test_a_long_text_is_cut_to_the_agents_bound_after_redaction() -> None:
    [memory] = batch(record("字" * 20 + SECRET)).memories
    assert memory.content == "字" * 20 + "[red"


def test_items_of_all_kinds_find_their_place() -> None:
    made = batch(record())
    turn = Turn("s", busy=True, at=NOW)
    made.add([turn, Skip("blank"), Skip("blank"), Amendment(identity="i", withdrawn=True)], NOW)
    changes = made.changes(CURSOR)
    assert changes.turns == [("a", turn)]
    assert changes.amendments == [(raw_id("a", "i"), Amendment(identity="i", withdrawn=True))]
    assert changes.cursor == CURSOR
    assert counted(CURSOR, made).skipped == {"blank": 2}
    assert counted(counted(CURSOR, made), made).records == 2


def spoken(*said: tuple[Role, str], session: str = "s") -> list[str]:
    known = Remembered()
    made = Batch(AGENT, known)
    for role, text in said:
        known = remembered(state_of(known))  # a restart between any two changes nothing
        made._known = known
        made.add([record(text, role=role, session=session)], NOW)
    return [memory.content for memory in made.memories]


def test_a_session_whose_system_text_is_dreamds_is_never_evidence() -> None:
    assert spoken(("system", "[dreamd:daily-summary]\nsum up"), ("user", "log"), ("assistant", "sum")) == []


def test_a_prompt_of_dreamds_is_dropped_with_its_answer_and_no_more() -> None:
    said: list[tuple[Role, str]] = [
        ("user", "hi"),
        ("user", "  [dreamd:deep-dream] distil"),
        ("assistant", "[MEMORY]"),
        ("user", "what is [dreamd:deep-dream]?"),
        ("assistant", "a mark"),
    ]
    assert spoken(*said) == ["hi", "what is [dreamd:deep-dream]?", "a mark"]


def test_an_unknown_purpose_is_no_mark() -> None:
    assert spoken(("user", "[dreamd:lunch] hi")) == ["[dreamd:lunch] hi"]


def test_the_state_of_nothing_is_empty_and_any_other_comes_back() -> None:
    assert state_of(Remembered()) == b""
    assert remembered(b"") == Remembered()
    known = Remembered(reader=b"x", own={"s": "user"}, at=NOW, respan=True, settled=7)
    assert remembered(state_of(known)) == known


@pytest.mark.parametrize("end", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)])
def test_a_time_without_a_local_time_in_every_zone_is_none(end: datetime) -> None:
    [memory] = batch(record(at=end)).memories
    assert (memory.timestamp, memory.window) == (None, NOW.date())
