"""The same sentences over every store."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.calls import Reply
from dreamd.errors import StoreConflict, StoreError
from dreamd.memories import Entity, Memory, Status
from dreamd.records import Amendment, Origin, Span, Trace, Trust, Turn
from dreamd.stores import inmemory, sqlite
from dreamd.stores._forgetting import mark_of
from dreamd.stores.base import (
    Changes,
    Contradiction,
    Erased,
    FileVersion,
    Fingerprint,
    Held,
    JournalEntry,
    LedgerRow,
    LineEvidence,
    Mark,
    MemoryQuery,
    News,
    Slot,
    Spent,
    Store,
    TurnState,
    Usage,
    WindowCount,
    Written,
)
from tests.stores.making import DAY, EVERYTHING, NOON, cursor, ids, raw, stored, summary

NEXT_DAY = DAY + timedelta(days=1)
STATUSES = EVERYTHING.statuses


@pytest.fixture(params=[inmemory.OPEN, sqlite.OPEN], ids=["inmemory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opening: Callable[[Path], Store] = request.param
    store = opening(tmp_path)
    yield store
    store.close()


def test_where_there_is_room_nothing_is_said(store: Store) -> None:
    store.check_room()
    assert stored(store, raw(1))


def test_a_memory_comes_back_as_it_went_in_with_its_place_in_the_order(store: Store) -> None:
    plain = raw(1)
    full = raw(
        2,
        tool="Bash",
        ok=False,
        project="/home/ada",
        task_id="task",
        trace=Trace(goal="g", error="e"),
        entities=(Entity("Ada", "person"),),
        span=Span("db", table="messages", row="7", sha256=b"\x01" * 32),
        timestamp=None,
        filed=True,
        status="dreamt",
    )
    insight = summary(
        "Ada likes tea",
        (plain.memory_id, full.memory_id),
        type="insight",
        kind="preference",
        confidence=0.25,
        contradictions_flag=True,
        applies_when="breakfast",
        valid_from=NOON,
        valid_until=NOON,
        windows=2,
        tasks=3,
        origins=4,
        last_recalled_at=NOON,
        pinned=True,
        status="candidate",
    )
    expected = [replace(memory, seq=place) for place, memory in enumerate((plain, full, insight), 1)]
    assert stored(store, plain, full, insight) == expected


@pytest.mark.parametrize(
    "text",
    ["", "a\x00b", "\U0001d11e \U0001f469\u200d\U0001f467 \u200f", "x" * 3_000_000, "line\r\nline\u2028"],
    ids=["empty", "nul", "beyond the BMP", "three megabytes", "line ends"],
)
def test_any_text_comes_back_unchanged(store: Store, text: str) -> None:
    assert stored(store, raw(1, content=text))[0].content == text


def test_the_first_memory_of_an_id_stays_and_the_others_are_counted(store: Store) -> None:
    written = store.write(Changes(memories=[raw(1), raw(2), raw(1, content="other")]))
    assert written == Written(stored=2, duplicates=1)
    assert store.write(Changes(memories=[raw(2), raw(3)])) == Written(stored=1, duplicates=1)
    assert [memory.content for memory in store.memories(MemoryQuery())] == [raw(n).content for n in (1, 2, 3)]
    assert [memory.seq for memory in store.memories(MemoryQuery())] == [1, 2, 3]


def test_a_rewritten_log_renews_spans_only_when_asked(store: Store) -> None:
    moved = Span("log-new", 7, 8, b"\x02" * 32)
    stored(store, raw(1, filed=True))
    assert stored(store, raw(1, span=moved, content="other"))[0].span == raw(1).span
    written = store.write(Changes(memories=[raw(1, span=moved, content="other"), raw(2)], respan=True))
    assert written == Written(stored=1, duplicates=1)
    first, second = store.memories(MemoryQuery())
    assert first == replace(raw(1, span=moved, filed=True), seq=1)
    assert second.span == raw(2).span


def test_of_two_spans_in_one_write_the_later_counts_and_none_takes_nothing(store: Store) -> None:
    known = Amendment(identity="1", ok=True)
    twice = [raw(1, span=Span("a")), raw(1, span=Span("b"))]
    store.write(Changes(memories=twice, amendments=[(raw(1).memory_id, known)], respan=True))
    assert stored(store, raw(1, span=Span("c")))[0].span == Span("b")
    store.write(Changes(memories=[raw(1, span=None)], respan=True))
    assert next(store.memories(MemoryQuery())).span == Span("b")


def test_an_amendment_changes_what_it_names_and_nothing_else(store: Store) -> None:
    stored(
        store, raw(1, filed=True, role="tool", origin="tool", trust=Trust.UNTRUSTED, content="", tool="Bash")
    )
    before = next(store.memories(MemoryQuery()))
    trace = Trace(result="done")
    amendment = Amendment(identity="1", ok=True, text="later", trace=trace)
    assert store.write(Changes(amendments=[(raw(1).memory_id, amendment)])) == Written(amended=1)
    assert next(store.memories(MemoryQuery())) == replace(before, ok=True, content="later", trace=trace)


@pytest.mark.parametrize(
    ("role", "origin", "trust"),
    [
        ("user", "scheduled", Trust.UNTRUSTED),
        ("user", "human", Trust.HUMAN),
        ("assistant", "human", Trust.AGENT),
    ],
)
def test_trust_follows_an_amended_origin(store: Store, role: str, origin: Origin, trust: Trust) -> None:
    stored(store, raw(1, role=role, origin="injected", trust=Trust.UNTRUSTED))
    store.write(Changes(amendments=[(raw(1).memory_id, Amendment(identity="1", origin=origin))]))
    memory = next(store.memories(MemoryQuery()))
    assert (memory.origin, memory.trust) == (origin, trust)


def test_an_amendment_may_come_with_the_memory_it_changes(store: Store) -> None:
    amendment = (raw(1).memory_id, Amendment(identity="1", ok=True))
    written = store.write(Changes(memories=[raw(1)], amendments=[amendment]))
    assert written == Written(stored=1, amended=1)
    assert next(store.memories(MemoryQuery())).ok is True


def test_an_amendment_reaches_the_memory_that_was_there_when_it_comes_again(store: Store) -> None:
    store.write(Changes(memories=[raw(1, content="first")]))
    amendments = [(raw(number).memory_id, Amendment(identity="", ok=True)) for number in (1, 2, 2)]
    again = [raw(1, content="again"), raw(2), raw(2)]
    written = store.write(Changes(memories=again, amendments=amendments))
    assert written == Written(stored=1, duplicates=2, amended=3)
    found = store.memories(MemoryQuery())
    assert [(memory.content, memory.ok) for memory in found] == [("first", True), (raw(2).content, True)]


def test_what_comes_and_is_withdrawn_in_one_write_does_not_count(store: Store) -> None:
    gone = [(raw(1).memory_id, Amendment(identity="", withdrawn=True))]
    store.write(Changes(memories=[raw(1), raw(2)], amendments=gone))
    assert [count.memories for count in store.windows("ada")] == [1]


def test_amendments_apply_in_their_order(store: Store) -> None:
    texts = [(raw(1).memory_id, Amendment(identity="1", text=text)) for text in ("first", "last")]
    assert store.write(Changes(memories=[raw(1)], amendments=texts)).amended == 2
    assert next(store.memories(MemoryQuery())).content == "last"


def test_amendments_of_unknown_and_of_derived_memories_are_counted_and_change_nothing(store: Store) -> None:
    derived = summary("s", ())
    before = stored(store, derived)
    wanted = [(name, Amendment(identity="1", text="x")) for name in ("nobody", derived.memory_id)]
    assert store.write(Changes(amendments=wanted)) == Written(unknown=2)
    assert list(store.memories(EVERYTHING)) == before


def test_a_withdrawn_memory_is_out_of_sight_until_it_is_brought_back(store: Store) -> None:
    memory = raw(1)
    away, back = (
        Changes(amendments=[(memory.memory_id, Amendment(identity="1", withdrawn=gone))])
        for gone in (True, False)
    )
    stored(store, memory)
    store.write(away)
    assert ids(store, MemoryQuery()) == []
    assert ids(store, MemoryQuery(statuses=("withdrawn",))) == [memory.memory_id]
    assert store.windows("ada") == []
    store.write(back)
    assert next(store.memories(MemoryQuery())).status == "fresh"
    assert store.windows("ada") == [WindowCount("ada", DAY, 1, 1)]


def test_bringing_back_what_was_never_withdrawn_leaves_its_status(store: Store) -> None:
    stored(store, raw(1, status="dreamt"))
    store.write(Changes(amendments=[(raw(1).memory_id, Amendment(identity="1", withdrawn=False))]))
    assert next(store.memories(MemoryQuery())).status == "dreamt"


@pytest.mark.parametrize("withdrawn", [True, False, None])
def test_no_log_brings_back_what_a_person_had_forgotten(store: Store, withdrawn: bool | None) -> None:
    (before,) = stored(store, raw(1, status="forgotten", content=""))
    amendment = Amendment(identity="1", withdrawn=withdrawn, text="the secret again")
    assert store.write(Changes(amendments=[(before.memory_id, amendment)])) == Written(amended=1)
    assert list(store.memories(EVERYTHING)) == [before]


def test_statuses_and_filing_apply_by_id_and_pass_over_unknown_ids(store: Store) -> None:
    stored(store, raw(1), raw(2))
    store.write(
        Changes(
            statuses=[(raw(1).memory_id, "dreamt"), (raw(1).memory_id, "archived"), ("nobody", "dreamt")],
            filed=[raw(2).memory_id, raw(2).memory_id, "nobody"],
        )
    )
    assert [(memory.status, memory.filed) for memory in store.memories(EVERYTHING)] == [
        ("archived", False),
        ("fresh", True),
    ]


def test_a_derived_memory_is_replaced_in_its_place_with_its_refs(store: Store) -> None:
    old, other = summary("likes tea", ("a", "b"), type="insight"), summary("other", ("a",))
    stored(store, old, raw(1), other)
    new = replace(
        old,
        content="likes green tea",
        ref_ids=("b", "c"),
        status="long_term",
        confidence=0.75,
        valid_until=NOON,
        contradictions_flag=True,
        trust=Trust.HUMAN,
        window=NEXT_DAY,
    )
    assert store.write(Changes(replaced=[new])) == Written()
    assert next(store.memories(EVERYTHING)) == replace(new, seq=1)
    assert ids(store, MemoryQuery(rests_on=("a",))) == [other.memory_id]
    assert ids(store, MemoryQuery(rests_on=("c",))) == ids(store, MemoryQuery(types=("insight",)))
    assert ids(store, MemoryQuery(agent="ada", since=NEXT_DAY)) == [old.memory_id]


def test_a_replacement_loses_neither_a_pin_nor_a_recall_of_meanwhile(store: Store) -> None:
    known = summary("tea", ("r",), type="insight", status="candidate", last_recalled_at=NOON)
    stored(store, known)
    later, one = NOON + timedelta(days=1), known.memory_id
    store.write(Changes(pins=[(one, True)], recalled=[(one, later)]))
    store.write(Changes(replaced=[replace(known, status="archived", confidence=0.05)]))
    found = next(store.memories(EVERYTHING))
    assert (found.pinned, found.last_recalled_at) == (True, later)
    assert (found.status, found.confidence) == ("candidate", 0.05)
    store.write(Changes(replaced=[replace(found, status="archived")]))  # by who knew of the pin
    assert next(store.memories(EVERYTHING)).status == "archived"


def test_a_pin_touches_insights_alone_and_a_recall_never_goes_back(store: Store) -> None:
    known = summary("tea", ("r",), type="insight", status="long_term")
    forgotten = summary("milk", ("r",), type="insight", status="forgotten")
    stored(store, known, raw(1), forgotten)
    ids = [known.memory_id, raw(1).memory_id, forgotten.memory_id, "unknown"]
    earlier = NOON - timedelta(days=1)
    store.write(Changes(pins=[(one, True) for one in ids], recalled=[(one, NOON) for one in ids]))
    store.write(Changes(recalled=[(one, earlier) for one in ids]))
    found = list(store.memories(EVERYTHING))
    assert [one.pinned for one in found] == [True, False, False]
    assert [one.last_recalled_at for one in found] == [NOON, NOON, None]
    store.write(Changes(pins=[(known.memory_id, False)]))
    assert not next(store.memories(EVERYTHING)).pinned


@pytest.mark.parametrize("status", ["superseded", "withdrawn"])
def test_a_pin_revives_nothing_that_was_put_right_since_its_writer_looked(
    store: Store, status: Status
) -> None:
    known = summary("tea", ("r",), type="insight", status=status)
    stored(store, known)
    store.write(Changes(pins=[(known.memory_id, True)], statuses=[(known.memory_id, "long_term")]))
    (found,) = store.memories(MemoryQuery(statuses=(status,)))
    assert not found.pinned


def test_a_memory_may_be_stored_and_replaced_in_one_write(store: Store) -> None:
    insight = summary("s", ("a",), type="insight")
    store.write(Changes(memories=[insight], replaced=[replace(insight, ref_ids=("b",), status="candidate")]))
    (memory,) = store.memories(MemoryQuery(rests_on=("b",)))
    assert (memory.status, memory.ref_ids) == ("candidate", ("b",))


def test_only_derived_memories_that_are_known_and_not_forgotten_are_replaced(store: Store) -> None:
    gone, known = summary("", ("a",), status="forgotten"), summary("s", ("a",))
    before = stored(store, raw(1), gone, known)
    disguised = raw(1, memory_id=known.memory_id)
    wanted = [
        raw(1, content="x"),
        summary("x", ("b",), memory_id=raw(1).memory_id),
        replace(gone, content="the secret again", status="candidate", ref_ids=("b",)),
        summary("unknown", ("b",)),
        disguised,
    ]
    store.write(Changes(replaced=wanted))
    assert list(store.memories(EVERYTHING)) == before
    assert ids(store, MemoryQuery(rests_on=("b",), statuses=STATUSES)) == []


def test_a_replacement_of_a_refused_write_leaves_no_trace(store: Store) -> None:
    before = stored(store, summary("s", ("a",)))
    pair = Contradiction(agent="ada", left_id="a", right_id="b", reason="number", at=NOON)
    renewed = replace(before[0], ref_ids=("b",))
    with pytest.raises(StoreConflict):
        store.write(Changes(replaced=[renewed], contradictions=[pair], cursor=cursor(3)))
    assert (list(store.memories(EVERYTHING)), store.contradictions("ada")) == (before, [])


def test_a_contradiction_is_kept_once_whatever_the_order_of_its_sides(store: Store) -> None:
    pair = Contradiction(agent="ada", left_id="a", right_id="b", reason="2 or 3 days", at=NOON)
    turned = replace(pair, left_id="b", right_id="a", reason="other", at=NOON + timedelta(days=1))
    older = replace(pair, right_id="c", at=NOON - timedelta(days=1))
    store.write(Changes(contradictions=[pair, turned]))
    store.write(Changes(contradictions=[turned, older, replace(pair, agent="bob")]))
    assert store.contradictions("ada") == [older, pair]
    assert store.contradictions("bob") == [replace(pair, agent="bob")]
    assert store.contradictions("nobody") == []


def test_a_dream_disturbs_neither_the_counts_of_a_day_nor_what_a_daily_reads(store: Store) -> None:
    stored(store, raw(1), raw(2, filed=True), raw(3))
    before = store.windows("ada"), ids(store, MemoryQuery(agent="ada", window=DAY, types=("raw",)))
    store.write(Changes(statuses=[(raw(n).memory_id, "dreamt") for n in (1, 2, 3)]))
    asked = MemoryQuery(agent="ada", window=DAY, types=("raw",))
    assert (store.windows("ada"), ids(store, asked)) == before
    store.write(Changes(filed=[raw(1).memory_id]))
    assert store.windows("ada") == [WindowCount("ada", DAY, 3, 1)]


@pytest.mark.parametrize("status", ["withdrawn", "forgotten"])
def test_a_dream_does_not_bring_back_what_went_while_it_ran(store: Store, status: Status) -> None:
    stored(store, raw(1, status=status), raw(2))
    store.write(Changes(statuses=[(raw(n).memory_id, "dreamt") for n in (1, 2)]))
    assert [memory.status for memory in store.memories(EVERYTHING)] == [status, "dreamt"]
    assert store.windows("ada") == [WindowCount("ada", DAY, 1, 1)]


def several(store: Store) -> None:
    stored(
        store,
        raw(1),
        raw(2, window=NEXT_DAY, origin="scheduled", session_id="other"),
        raw(3, agent="bob", filed=True),
        raw(4, status="dreamt"),
        raw(5, status="forgotten"),
        summary("daily", (raw(1).memory_id,)),
    )


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        (MemoryQuery(), [1, 2, 3, 4, 6]),
        (MemoryQuery(agent="ada"), [1, 2, 4, 6]),
        (MemoryQuery(types=("raw",)), [1, 2, 3, 4]),
        (MemoryQuery(types=("summary", "insight")), [6]),
        (MemoryQuery(agent="bob", types=("summary",)), []),
        (MemoryQuery(statuses=("fresh", "forgotten")), [1, 2, 3, 5, 6]),
        (MemoryQuery(origins=("scheduled",)), [2]),
        (MemoryQuery(ids=(raw(4).memory_id, "nobody", raw(1).memory_id)), [1, 4]),
        (MemoryQuery(ids=()), []),
        (MemoryQuery(ids=(raw(5).memory_id,)), []),
        (MemoryQuery(window=DAY), [1, 3, 4, 6]),
        (MemoryQuery(agent="ada", window=DAY), [1, 4, 6]),
        (MemoryQuery(agent="ada", window=DAY, after_seq=1, limit=1), [4]),
        (MemoryQuery(agent="ada", since=NEXT_DAY), [2]),
        (MemoryQuery(agent="ada", until=DAY, types=("raw",)), [1, 4]),
        (MemoryQuery(since=DAY, until=DAY), [1, 3, 4, 6]),
        (MemoryQuery(agent="ada", window=DAY, since=NEXT_DAY), []),
        (MemoryQuery(session_id="other"), [2]),
        (MemoryQuery(filed=True), [3]),
        (MemoryQuery(filed=False, agent="ada"), [1, 2, 4, 6]),
        (MemoryQuery(after_seq=3), [4, 6]),
        (MemoryQuery(limit=2), [1, 2]),
        (MemoryQuery(limit=0), []),
        (MemoryQuery(agent="ada", since=DAY, after_seq=1, limit=2), [2, 4]),
    ],
    ids=str,
)
def test_a_query_yields_exactly_what_it_asks_for_in_order(
    store: Store, query: MemoryQuery, seqs: list[int]
) -> None:
    several(store)
    assert [memory.seq for memory in store.memories(query)] == seqs


def test_memories_are_found_by_how_their_ids_begin(store: Store) -> None:
    one, two = raw(1), raw(2)
    store.write(Changes(memories=(one, two)))
    assert ids(store, MemoryQuery(id_prefix=one.memory_id[:12])) == [one.memory_id]
    assert ids(store, MemoryQuery(id_prefix=one.memory_id)) == [one.memory_id]
    assert ids(store, MemoryQuery(id_prefix="")) == [one.memory_id, two.memory_id]
    assert ids(store, MemoryQuery(id_prefix=one.memory_id[:12], agent="bob")) == []
    assert ids(store, MemoryQuery(id_prefix="%")) == []


def test_what_rests_on_a_memory_is_found_by_its_id(store: Store) -> None:
    base, other = raw(1).memory_id, raw(2).memory_id
    one, two, three = (
        summary("one", (base, other, base)),
        summary("two", (other,)),
        summary("three", (base,), "bob"),
    )
    stored(store, raw(1), one, two, three)
    stored(store, replace(two, ref_ids=(base,)))
    assert ids(store, MemoryQuery(rests_on=(base,))) == [one.memory_id, three.memory_id]
    assert ids(store, MemoryQuery(rests_on=(base,), agent="ada", ids=(one.memory_id, two.memory_id))) == [
        one.memory_id
    ]
    assert ids(store, MemoryQuery(rests_on=("nobody",))) == []


def test_an_iterator_outlives_later_writes_and_ends(store: Store) -> None:
    number = sqlite.PAGE * 2 + 1
    stored(store, *(raw(n) for n in range(number)))
    seen = 0
    for memory in store.memories(MemoryQuery()):
        store.write(Changes(memories=[raw(number + seen)], filed=[memory.memory_id]))
        seen += 1
    assert seen == number


@pytest.mark.parametrize(
    "query",
    [MemoryQuery(), MemoryQuery(agent="ada", window=DAY), MemoryQuery(agent="ada", since=DAY)],
    ids=["in order", "of a day", "of days"],
)
def test_pages_join_without_gap_or_repetition(store: Store, query: MemoryQuery) -> None:
    number = sqlite.PAGE * 2
    stored(store, *(raw(n) for n in range(number)))
    assert [memory.seq for memory in store.memories(query)] == list(range(1, number + 1))


def test_windows_count_the_raw_memories_of_each_day(store: Store) -> None:
    several(store)
    assert store.windows("ada") == [WindowCount("ada", DAY, 2, 2), WindowCount("ada", NEXT_DAY, 1, 1)]
    assert store.windows("ada", origins=("human", "tool")) == [WindowCount("ada", DAY, 2, 2)]
    assert store.windows("bob") == [WindowCount("bob", DAY, 1, 0)]
    assert store.windows("nobody") == []


def test_windows_follow_filing_amendments_and_statuses(store: Store) -> None:
    several(store)
    store.write(Changes(filed=[raw(1).memory_id, raw(1).memory_id]))
    store.write(Changes(amendments=[(raw(4).memory_id, Amendment(identity="4", origin="scheduled"))]))
    assert store.windows("ada", origins=("human",)) == [WindowCount("ada", DAY, 1, 0)]
    assert store.windows("ada", origins=("scheduled",))[0] == WindowCount("ada", DAY, 1, 1)
    store.write(Changes(statuses=[(raw(4).memory_id, "forgotten"), (raw(2).memory_id, "dreamt")]))
    assert store.windows("ada") == [WindowCount("ada", DAY, 1, 0), WindowCount("ada", NEXT_DAY, 1, 1)]


def test_a_cursor_comes_back_whole_and_moves_version_by_version(store: Store) -> None:
    one = cursor(
        fingerprint=Fingerprint(2**64 - 1, 2**64 - 2, 16, b"\xff" * 32),
        tail_length=64,
        tail_sha256=b"\x03" * 32,
        state=b"\x00state",
        state_offset=50,
        lines=10,
        records=9,
        truncated=1,
        skipped={"progress": 3},
        read_at=NOON,
    )
    store.write(Changes(cursor=one))
    other = cursor(source_id="other", agent="bob")
    store.write(Changes(cursor=other))
    assert store.cursors() == [one, other]
    assert store.cursors("ada") == store.cursors(source_id="log-ada") == [one]
    assert store.cursors("ada", source_id="other") == store.cursors(source_id="unknown") == []
    two = replace(one, version=2, offset=200)
    store.write(Changes(cursor=two))
    assert store.cursors("ada") == [two]


@pytest.mark.parametrize("version", [0, 1, 3])
def test_a_cursor_that_somebody_else_moved_refuses_the_whole_write(store: Store, version: int) -> None:
    store.write(Changes(cursor=cursor(1)))
    with pytest.raises(StoreConflict, match="read on from the new cursor"):
        store.write(Changes(cursor=cursor(version), memories=[raw(1)], meta={"key": "value"}))
    assert store.cursors() == [cursor(1)]
    assert list(store.memories(EVERYTHING)) == []
    assert store.meta("key") is None


def test_an_unknown_cursor_begins_at_version_one(store: Store) -> None:
    with pytest.raises(StoreConflict):
        store.write(Changes(cursor=cursor(2)))
    assert store.cursors() == []


def test_a_turn_is_remembered_as_it_stands_last(store: Store) -> None:
    turns = [
        ("ada", Turn("s", busy=True, at=NOON)),
        ("bob", Turn("s", busy=True)),
        ("ada", Turn("s", busy=False)),
    ]
    store.write(Changes(turns=turns))
    assert store.turns() == [TurnState("ada", "s", False, None), TurnState("bob", "s", True, None)]
    assert store.turns("bob") == [TurnState("bob", "s", True, None)]


def test_a_ledger_row_replaces_that_of_its_agent_day_and_phase(store: Store) -> None:
    row = LedgerRow(agent="ada", day=DAY, phase="daily", state="running", started_at=NOON)
    done = replace(
        row,
        state="done",
        attempts=2,
        input_hash="h",
        reason="r",
        usage=(Usage("distil", 1, 2, 3, 4),),
        finished_at=NOON,
    )
    dream = replace(row, phase="deep_dream", state="skipped")
    nap = replace(row, phase="dream")
    bob = replace(row, agent="bob", day=NEXT_DAY)
    store.write(Changes(ledger=[row, dream, nap, bob]))
    store.write(Changes(ledger=[done]))
    assert store.ledger() == [bob, done, dream, nap]
    assert store.ledger(phase="dream") == [nap]
    assert store.ledger("ada", "daily") == [done]
    assert store.ledger(since=NEXT_DAY) == [bob]
    assert store.ledger(phase="deep_dream", since=NEXT_DAY) == []
    assert (store.ledger(state="done"), store.ledger(state="failed")) == ([done], [])


def test_a_paid_reply_is_kept_until_its_job_is_settled(store: Store) -> None:
    reply = Reply(text="yes 好", stop="end", model="m", input_tokens=1, output_tokens=2)
    one, two = (
        JournalEntry(key=key, job=job, purpose="distil", reply=reply, at=NOON)
        for key, job in (("1", "a"), ("2", "b"))
    )
    store.write(Changes(journal=[one, two], durable=True))
    assert store.journalled("1") == one
    store.write(Changes(settled=["a", "never heard of"]))
    assert store.journalled("1") is None
    assert store.journalled("2") == two


def test_the_latest_evidence_of_a_line_counts(store: Store) -> None:
    old = LineEvidence(agent="ada", line="likes tea", ref_ids=("a", "version:1#2"), day=DAY, at=NOON)
    new, other = replace(old, ref_ids=("b",)), replace(old, agent="bob")
    store.write(Changes(lines=[old, other]))
    store.write(Changes(lines=[new]))
    assert store.evidence("ada") == {"likes tea": new}
    assert store.evidence("bob") == {"likes tea": other}
    assert store.evidence("nobody") == {}


def test_versions_get_rising_ids_and_come_newest_first(store: Store) -> None:
    first = FileVersion(agent="ada", path="/w/MEMORY.md", author="found", content="a\n", sha256="1", at=NOON)
    second = replace(first, author="dreamd", content="b\n", day=DAY, note="n")
    store.write(Changes(versions=[first, replace(first, agent="bob")]))
    store.write(Changes(versions=[second]))
    assert store.versions("ada") == [replace(second, version_id=3), replace(first, version_id=1)]
    assert store.versions("ada", limit=1) == [replace(second, version_id=3)]
    assert store.versions("ada", limit=0) == []


def test_a_held_rewrite_gets_an_id_by_which_it_is_replaced(store: Store) -> None:
    held = Held(
        agent="ada",
        day=DAY,
        path="/w/MEMORY.md",
        base_sha256="1",
        content="c",
        diary="d",
        reason="r",
        detail="{}",
        at=NOON,
    )
    store.write(Changes(held=[held, replace(held, agent="bob")]))
    assert [row.held_id for row in store.held()] == [2, 1]
    accepted = replace(held, held_id=1, state="accepted")
    store.write(Changes(held=[accepted]))
    assert store.held("ada") == [accepted]
    assert len(store.held()) == 2


def test_meta_keeps_the_last_value(store: Store) -> None:
    store.write(Changes(meta={"a": "1", "b": "2"}))
    store.write(Changes(meta={"a": "3"}))
    assert [store.meta(key) for key in ("a", "b", "c")] == ["3", "2", None]


def slot(number: int, after_s: float = 0, hold_s: float | None = 30, **fields: object) -> Slot:
    began = NOON + timedelta(seconds=after_s)
    held_until = None if hold_s is None else began + timedelta(seconds=hold_s)
    made = Slot(
        slot_id=str(number), lane="here", agent="ada", purpose="distil", began_at=began, held_until=held_until
    )
    return replace(made, **fields)


def taken(store: Store, one: Slot, most: int | None = None) -> bool:
    return store.write(Changes(slots=[one], most_slots=most)).taken == 1


def test_a_slot_is_taken_while_fewer_than_the_most_are_held_in_its_lane(store: Store) -> None:
    assert taken(store, slot(1), most=2)
    assert taken(store, slot(2, lane="elsewhere"), most=1)
    assert taken(store, slot(3), most=2)
    assert not taken(store, slot(4), most=2)
    assert [one.slot_id for one in store.slots()] == ["1", "2", "3"]


def test_a_slot_given_back_or_let_go_by_time_is_free(store: Store) -> None:
    assert taken(store, slot(1), most=1)
    store.write(Changes(slots=[slot(1, hold_s=None)]))
    assert store.slots() == []
    assert taken(store, slot(2), most=1)
    assert not taken(store, slot(3, after_s=29), most=1)
    assert taken(store, slot(4, after_s=30), most=1)


def test_a_slot_is_held_on_by_renewing_it_and_keeps_what_it_is(store: Store) -> None:
    first = slot(1, input_tokens=10)
    assert taken(store, first, most=1)
    renewed = replace(first, held_until=NOON + timedelta(seconds=60), output_tokens=5, told=True)
    assert not taken(store, replace(renewed, lane="other", agent="bob"), most=0)
    assert store.slots() == [renewed]
    assert not taken(store, slot(2, after_s=59), most=1)


def test_a_slot_held_by_a_clock_that_has_since_gone_back_is_free(store: Store) -> None:
    assert taken(store, slot(1, after_s=86400), most=1)
    assert not slot(1, after_s=86400).is_held(NOON)
    assert taken(store, slot(2), most=1)


def test_what_calls_took_is_summed_by_agent_since_a_moment(store: Store) -> None:
    told = {"input_tokens": 100, "output_tokens": 7, "told": True}
    store.write(
        Changes(slots=[slot(1, **told), slot(2, after_s=1, **told), slot(3, after_s=2, input_tokens=50)])
    )
    store.write(Changes(slots=[slot(4, after_s=3, hold_s=None, agent="bob")]))
    ada, bob = store.spent(NOON + timedelta(seconds=1))
    assert ada == Spent(
        agent="ada",
        calls=2,
        input_tokens=150,
        output_tokens=7,
        estimated=1,
        first_at=NOON + timedelta(seconds=1),
    )
    assert (bob.agent, bob.calls, bob.tokens) == ("bob", 1, 0)
    assert store.spent(NOON + timedelta(seconds=4)) == []


def test_what_no_budget_counts_any_more_is_dropped(store: Store) -> None:
    assert taken(store, slot(1))
    assert taken(store, slot(2, after_s=9 * 86400))
    assert [one.calls for one in store.spent(NOON)] == [1]


def test_a_store_is_shared_by_threads(store: Store) -> None:
    def work(number: int) -> int:
        seen = len(list(store.memories(MemoryQuery(limit=2))))
        written = store.write(Changes(memories=[raw(number), raw(number + 1)]))
        return written.stored if seen <= 2 else 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(100))) == 101
    assert len({memory.seq for memory in store.memories(MemoryQuery())}) == 101
    assert store.windows("ada") == [WindowCount("ada", DAY, 101, 101)]


def test_an_iterator_may_be_carried_from_thread_to_thread(store: Store) -> None:
    stored(store, *(raw(n) for n in range(sqlite.PAGE + 1)))
    memories = store.memories(MemoryQuery())
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: next(memories).seq).result() == 1
    assert len(list(memories)) == sqlite.PAGE


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.write(Changes(meta={"a": "1"}))
    with pytest.raises(StoreError, match="closed"):
        list(store.memories(MemoryQuery()))


@pytest.mark.parametrize("day", [date.min, date.max])
def test_absurd_days_and_times_are_kept(store: Store, day: date) -> None:
    at = NOON.replace(year=day.year, month=day.month, day=day.day)
    (memory,) = stored(store, raw(1, window=day, timestamp=at, received_at=at))
    assert (memory.window, memory.timestamp, memory.received_at) == (day, at, at)
    assert ids(store, MemoryQuery(agent="ada", since=date.min, until=date.max)) == [memory.memory_id]


def test_a_fork_that_goes_back_takes_nothing_from_the_original(store: Store) -> None:
    known = raw(1, span=Span("original", 0, 1))
    store.write(Changes(memories=[known]))
    gone = (known.memory_id, Amendment(identity="1", withdrawn=True, own_only=True))
    store.write(Changes(amendments=[gone], cursor=cursor(source_id="fork")))
    assert ids(store, MemoryQuery()) == [known.memory_id]
    store.write(Changes(amendments=[gone], cursor=cursor(source_id="original")))
    assert ids(store, MemoryQuery()) == []


def test_whoever_follows_learns_of_what_is_new_and_of_what_changed(store: Store) -> None:
    stored(store, raw(1), raw(2), summary("s", ("x",)))
    first = store.news(Mark(), 10)
    assert [memory.seq for memory in first.memories] == [1, 2, 3]
    assert store.news(first.mark, 10) == News(mark=first.mark)
    store.write(
        Changes(
            memories=(raw(3),),
            statuses=((raw(1).memory_id, "withdrawn"), (raw(2).memory_id, "dreamt")),
            replaced=(summary("s", ("x",), confidence=0.5),),
            filed=(raw(2).memory_id,),
        )
    )
    then = store.news(first.mark, 10)
    assert [memory.seq for memory in then.memories] == [3, 4]
    assert then.gone == (1,)
    assert store.news(then.mark, 10) == News(mark=then.mark)


def test_news_come_in_pages_and_none_is_missed(store: Store) -> None:
    stored(store, *map(raw, range(7)))
    store.write(Changes(statuses=[(raw(number).memory_id, "withdrawn") for number in (1, 4)]))
    news, mark, gone = [], Mark(), set()
    while True:
        page = store.news(mark, 3)
        news += [memory.seq for memory in page.memories]
        gone |= set(page.gone)
        mark = page.mark
        if not page.more:
            break
    assert set(news) - gone == {1, 3, 4, 6, 7}
    assert gone == {2, 5}


def test_a_recall_is_no_news_and_a_pin_is(store: Store) -> None:
    insight = replace(summary("s", ()), type="insight")
    stored(store, insight)
    mark = store.news(Mark(), 10).mark
    store.write(Changes(recalled=((insight.memory_id, NOON),)))
    assert store.news(mark, 10).memories == ()
    store.write(Changes(pins=((insight.memory_id, True),)))
    assert [memory.pinned for memory in store.news(mark, 10).memories] == [True]


@pytest.mark.parametrize("mark", [Mark(2, "another"), Mark(9, "later"), Mark(0, "", 5)])
def test_a_mark_of_another_pool_makes_the_follower_begin_anew(store: Store, mark: Mark) -> None:
    stored(store, raw(1), raw(2))
    assert store.news(mark, 10) == News(mark=Mark(), restart=True, more=True)


def test_memories_are_found_by_their_places(store: Store) -> None:
    stored(store, raw(1), raw(2), raw(3))
    assert ids(store, MemoryQuery(seqs=(3, 1, 77))) == [raw(1).memory_id, raw(3).memory_id]


SECRET = "my sister's code word is Zinfandel"


def erase(store: Store, *memories: Memory, **more: object) -> None:
    erased = Erased(at=NOON, memories=[one.memory_id for one in memories])
    store.write(Changes(erased=replace(erased, **more)))


def test_a_forgotten_memory_says_nothing_any_more_and_counts_nowhere(store: Store) -> None:
    insight = summary(SECRET, (raw(1).memory_id,), type="insight", status="long_term", pinned=True)
    stored(store, raw(1, content=SECRET, trace=Trace(goal=SECRET)), raw(2), insight)
    erase(store, raw(1), insight)
    assert [one.memory_id for one in store.memories(MemoryQuery())] == [raw(2).memory_id]
    assert "Zinfandel" not in repr(list(store.memories(EVERYTHING)))
    assert ids(store, replace(EVERYTHING, rests_on=(raw(1).memory_id,))) == []
    assert [(one.memories, one.unfiled) for one in store.windows("ada")] == [(1, 1)]
    store.purge()
    assert len(list(store.memories(EVERYTHING))) == 3


def test_what_was_forgotten_comes_back_by_no_way(store: Store) -> None:
    insight = summary(SECRET, (raw(1).memory_id,), type="insight", status="long_term")
    stored(store, raw(1, content=SECRET), insight)
    erase(store, raw(1), raw(7), insight, marks=[mark_of(SECRET)])
    again = [raw(1, content=SECRET), raw(7), insight, raw(8, content=f"{SECRET}!"), raw(9)]
    written = store.write(
        Changes(memories=again, respan=True, replaced=[insight], pins=[(insight.memory_id, True)])
    )
    assert written == Written(stored=1, duplicates=4)
    assert ids(store, MemoryQuery()) == [raw(9).memory_id]
    store.write(
        Changes(amendments=[(raw(1).memory_id, Amendment(identity="1", text=SECRET, withdrawn=False))])
    )
    assert "Zinfandel" not in repr(list(store.memories(EVERYTHING)))


def test_the_same_words_said_later_are_news(store: Store) -> None:
    stored(store, raw(1, content=SECRET))
    erase(store, raw(1), marks=[mark_of(SECRET)])
    later = raw(2, content=SECRET, timestamp=NOON + timedelta(seconds=1))
    assert store.write(Changes(memories=[later])).stored == 1


def test_forgetting_takes_what_the_night_keeps_and_nothing_else(store: Store) -> None:
    day = LineEvidence(agent="ada", line="a", ref_ids=("x",), day=DAY, at=NOON)
    held = Held(
        agent="ada",
        day=DAY,
        path="p",
        base_sha256="",
        content="c",
        diary="d",
        reason="r",
        detail="{}",
        at=NOON,
    )
    version = FileVersion(agent="ada", path="p", author="found", content="a\nb\n", sha256="old", at=NOON)
    replies = [
        JournalEntry(key=job, job=job, purpose="distil", reply=Reply(text="t", stop="end"), at=NOON)
        for job in ("dream:ada", "daily:ada:2026-03-02", "dream:adam", "dream:ada.b")
    ]
    store.write(
        Changes(
            lines=[day, replace(day, line="b"), replace(day, agent="bob")],
            held=[held, held],
            versions=[version, version],
            journal=replies,
            contradictions=[
                Contradiction(agent="ada", left_id="x", right_id=other, reason="r", at=NOON) for other in "yz"
            ]
            + [Contradiction(agent="ada", left_id="y", right_id="z", reason="r", at=NOON)],
        )
    )
    clean = replace(version, content="b\n", sha256="new", version_id=1)
    erase(store, memories=["x"], lines=[("ada", "a")], held=[1], agents=["ada"], versions=[clean])
    assert list(store.evidence("ada")) == ["b"]
    assert list(store.evidence("bob")) == ["a"]
    assert [one.held_id for one in store.held()] == [2]
    assert [(one.content, one.sha256) for one in store.versions("ada")] == [("a\nb\n", "old"), ("b\n", "new")]
    assert [bool(store.journalled(one.key)) for one in replies] == [False, False, True, True]
    assert [(pair.left_id, pair.right_id) for pair in store.contradictions("ada")] == [("y", "z")]


def test_what_a_reader_keeps_is_made_unreadable_and_it_must_begin_from_there(store: Store) -> None:
    store.write(Changes(cursor=cursor(state=b"\x01" + SECRET.encode() + b"\x02")))
    erase(store, texts=[SECRET])
    (left,) = store.cursors()
    assert left.state == b"\x01" + b"x" * len(SECRET) + b"\x02"
    assert left.version == 2
    with pytest.raises(StoreConflict):
        store.write(Changes(cursor=cursor(2, state=SECRET.encode())))


def test_an_archived_memory_reads_as_ever(store: Store) -> None:
    old = [
        raw(n, window=DAY - timedelta(days=n), trace=Trace(goal=f"g{n}") if n % 2 else None) for n in range(4)
    ]
    stored(store, *old, summary("s", ("x",), window=DAY - timedelta(days=9)))
    before = list(store.memories(EVERYTHING))
    store.archive(DAY - timedelta(days=1))
    assert [replace(one, archived=False) for one in store.memories(EVERYTHING)] == before
    assert store.archive(DAY - timedelta(days=1)) == 0
    store.purge()
    assert [replace(one, archived=False) for one in store.memories(EVERYTHING)] == before


def test_what_is_archived_can_still_be_amended_and_forgotten(store: Store) -> None:
    stored(store, raw(1), raw(2, content=SECRET), raw(3, content=f"{SECRET} 3"))
    store.archive(DAY + timedelta(days=1))
    store.write(
        Changes(amendments=[(raw(1).memory_id, Amendment(identity="1", ok=True, origin="scheduled"))])
    )
    store.write(Changes(amendments=[(raw(3).memory_id, Amendment(identity="3", text="other"))]))
    erase(store, raw(2), raw(3))
    (left,) = store.memories(MemoryQuery())
    assert (left.content, left.ok, left.origin) == (raw(1).content, True, "scheduled")
    assert "Zinfandel" not in repr(list(store.memories(EVERYTHING)))


def test_what_may_hold_a_word_is_found_whatever_its_capitals(store: Store) -> None:
    hit = [
        raw(1, content="The ZINFANDEL"),
        raw(2, content="", trace=Trace(arguments="zinfandel")),
        raw(3, content="ＺＩＮfandel 红"),
    ]
    insight = summary("x", ("r",), type="insight", entities=(Entity("Zinfandel", "thing"),))
    stored(store, *hit, insight, raw(4, content="merlot"))
    wanted = [*(one.memory_id for one in hit), insight.memory_id]
    assert set(ids(store, MemoryQuery(holding=("zinfandel",)))) == set(wanted)
    assert ids(store, MemoryQuery(holding=("红", "merlots"))) == [raw(3).memory_id]
    assert ids(store, MemoryQuery(holding=())) == []
    store.archive(DAY + timedelta(days=1))
    assert set(ids(store, MemoryQuery(holding=("zinfandel",)))) >= set(wanted)
