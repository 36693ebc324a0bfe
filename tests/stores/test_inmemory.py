"""The fake answers as the real store does: both are given the same random changes and asked everything."""

import contextlib
import tempfile
from datetime import timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from msgspec.structs import replace

from dreamd.calls import Reply
from dreamd.errors import StoreConflict
from dreamd.memories import Memory
from dreamd.records import Amendment, Span, Trace, Turn, trust_of
from dreamd.stores import inmemory, sqlite
from dreamd.stores.base import (
    Changes,
    Contradiction,
    FileVersion,
    Held,
    JournalEntry,
    LedgerRow,
    LineEvidence,
    MemoryQuery,
    Store,
    Written,
)
from tests.stores.making import DAY, EVERYTHING, NOON, cursor, raw, summary

AGENTS = st.sampled_from(["ada", "bob"])
DAYS = st.sampled_from([DAY + timedelta(days=n) for n in range(3)])
STATUSES = st.sampled_from(EVERYTHING.statuses)
ORIGINS = st.sampled_from(["human", "scheduled", "tool"])
FEW = st.integers(0, 5)


@st.composite
def raws(draw: st.DrawFn) -> Memory:
    origin = draw(ORIGINS)
    return raw(
        draw(FEW),
        agent=draw(AGENTS),
        window=draw(DAYS),
        origin=origin,
        trust=trust_of("user", origin),
        status=draw(STATUSES),
        filed=draw(st.booleans()),
        session_id=draw(st.sampled_from(["s", "t"])),
        span=draw(st.sampled_from([None, Span("a", 1, 2, b"x"), Span("b", table="t", row="1")])),
    )


IDS = st.one_of(st.builds(lambda agent, n: raw(n, agent).memory_id, AGENTS, FEW), st.just("nobody"))
SUMMARIES = st.builds(
    lambda n, refs, agent: replace(
        summary(f"s{n}", (), agent), ref_ids=tuple(refs)
    ),  # an id may come with other refs
    FEW,
    st.lists(IDS, max_size=3),
    AGENTS,
)
AMENDMENTS = st.builds(
    Amendment,
    identity=st.just(""),
    ok=st.sampled_from([None, True, False]),
    origin=st.one_of(st.none(), ORIGINS),
    text=st.sampled_from([None, "", "new"]),
    trace=st.sampled_from([None, Trace(goal="g")]),
    withdrawn=st.sampled_from([None, True, False]),
    own_only=st.booleans(),
)
INSIGHTS = st.builds(
    lambda n, refs, agent, status, content: replace(
        summary(f"s{n}", (), agent), ref_ids=tuple(refs), status=status, content=content, type="insight"
    ),
    FEW,
    st.lists(IDS, max_size=3),
    AGENTS,
    STATUSES,
    st.sampled_from(["tea", "coffee"]),
)
PAIRS = st.builds(
    Contradiction,
    agent=AGENTS,
    left_id=st.sampled_from("abc"),
    right_id=st.sampled_from("abc"),
    reason=st.sampled_from(["number", "name"]),
    at=st.sampled_from([NOON, NOON - timedelta(days=1)]),
)
REPLY = Reply(text="yes", stop="end")
HELD = Held(
    agent="ada", day=DAY, path="p", base_sha256="1", content="c", diary="d", reason="r", detail="", at=NOON
)
VERSION = FileVersion(agent="ada", path="p", author="found", content="a", sha256="1", at=NOON)


def some(strategy: st.SearchStrategy, most: int = 4) -> st.SearchStrategy:
    return st.lists(strategy, max_size=most)


CHANGES = st.builds(
    Changes,
    memories=some(st.one_of(raws(), SUMMARIES), 8),
    respan=st.booleans(),
    amendments=some(st.tuples(IDS, AMENDMENTS)),
    turns=some(st.tuples(AGENTS, st.builds(Turn, st.sampled_from(["s", "t"]), st.booleans()))),
    cursor=st.sampled_from([None, cursor(1), cursor(2), cursor(1, "a"), cursor(3)]),
    replaced=some(st.one_of(INSIGHTS, raws())),
    contradictions=some(PAIRS),
    statuses=some(st.tuples(IDS, STATUSES)),
    filed=some(IDS),
    ledger=some(
        st.builds(
            LedgerRow,
            agent=AGENTS,
            day=DAYS,
            phase=st.sampled_from(["daily", "dream", "deep_dream"]),
            state=st.sampled_from(["running", "done"]),
        )
    ),
    journal=some(
        st.sampled_from(
            [JournalEntry(key=k, job=k[0], purpose="p", reply=REPLY, at=NOON) for k in ("a1", "b1")]
        )
    ),
    settled=some(st.sampled_from(["a", "b"]), 1),
    lines=some(
        st.builds(
            LineEvidence,
            agent=AGENTS,
            line=st.sampled_from("xy"),
            ref_ids=st.tuples(IDS),
            day=DAYS,
            at=st.just(NOON),
        )
    ),
    versions=some(st.builds(lambda agent, n: replace(VERSION, agent=agent, content=str(n)), AGENTS, FEW), 2),
    held=some(
        st.builds(
            lambda agent, n: replace(HELD, agent=agent, held_id=n), AGENTS, st.sampled_from([0, 0, 1, 3])
        ),
        2,
    ),
    meta=st.dictionaries(st.sampled_from("kl"), st.sampled_from("12"), max_size=2),
    durable=st.just(False),
)
QUERIES = st.builds(
    MemoryQuery,
    agent=st.one_of(st.none(), AGENTS),
    types=st.sampled_from([(), ("raw",), ("summary", "insight")]),
    statuses=st.sampled_from([(), ("fresh",), EVERYTHING.statuses]),
    origins=st.sampled_from([(), ("human", "tool")]),
    ids=st.one_of(st.none(), some(IDS).map(tuple)),
    window=st.one_of(st.none(), DAYS),
    since=st.one_of(st.none(), DAYS),
    until=st.one_of(st.none(), DAYS),
    session_id=st.sampled_from([None, "s"]),
    filed=st.sampled_from([None, True, False]),
    rests_on=st.one_of(st.none(), st.none(), st.lists(IDS, max_size=3).map(tuple)),
    after_seq=st.sampled_from([0, 2]),
    limit=st.sampled_from([None, 0, 1, 3]),
)


def written(store: Store, changes: Changes) -> Written | str:
    try:
        return store.write(changes)
    except StoreConflict as error:
        return str(error)


def all_of(store: Store) -> dict[str, object]:
    """Everything a store says but for its memories."""
    return {
        "cursors": store.cursors(),
        "turns": store.turns(),
        "ledger": store.ledger(),
        "journal": [store.journalled(key) for key in ("a1", "b1")],
        "evidence": [store.evidence(agent) for agent in ("ada", "bob")],
        "versions": [store.versions(agent) for agent in ("ada", "bob")],
        "held": store.held(),
        "contradictions": [store.contradictions(agent) for agent in ("ada", "bob")],
        "meta": [store.meta(key) for key in "kl"],
        "windows": [
            store.windows(agent, origins) for agent in ("ada", "bob") for origins in ((), ("human",))
        ],
    }


class TwoStores(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = contextlib.ExitStack()
        state = Path(self.folder.enter_context(tempfile.TemporaryDirectory()))
        self.fake, self.real = inmemory.OPEN(state), sqlite.OPEN(state)

    @rule(changes=CHANGES)
    def both_write_the_same(self, changes: Changes) -> None:
        assert written(self.fake, changes) == written(self.real, changes)
        assert all_of(self.fake) == all_of(self.real)

    @rule(query=QUERIES)
    def both_answer_the_same(self, query: MemoryQuery) -> None:
        assert list(self.fake.memories(query)) == list(self.real.memories(query))

    def teardown(self) -> None:
        self.real.close()
        self.folder.close()


TestTwoStores = TwoStores.TestCase
TestTwoStores.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
