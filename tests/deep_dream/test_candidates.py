from datetime import UTC, date, datetime

from dreamd.deep_dream.audit import Accepted
from dreamd.deep_dream.candidates import CONFIDENCE, candidate, flat
from dreamd.deep_dream.sources import Source
from dreamd.memories import Memory
from dreamd.records import Trust

DAY = date(2026, 3, 2)
NOW = datetime(2026, 3, 2, 23, tzinfo=UTC)


def record(number: int, trust: Trust) -> Memory:
    return Memory(
        memory_id=f"r{number}", type="raw", content="tea", agent="cat", window=DAY, received_at=NOW, trust=trust,
        session_id="s", origin="human",
    )  # fmt: skip


def test_a_candidate_has_low_confidence_and_the_lowest_trust_of_its_records() -> None:
    cites = (
        Source(id="D1", text="tea", refs=("s1",), records=(record(1, Trust.HUMAN), record(2, Trust.AGENT))),
    )
    memory = candidate("cat", DAY, Accepted("likes tea", cites), NOW)
    assert memory is not None
    assert (memory.status, memory.kind, memory.confidence) == ("candidate", "preference", CONFIDENCE)
    assert (memory.trust, memory.ref_ids, memory.windows, memory.tasks) == (Trust.AGENT, ("s1",), 1, 1)


def test_without_references_there_is_no_insight() -> None:
    assert (
        candidate("cat", DAY, Accepted("likes tea", (Source(id="D1", text="tea", refs=("found:x#1",)),)), NOW)
        is None
    )


def test_evidence_is_that_of_all_sources_once() -> None:
    cites = (Source(id="D1", text="", refs=("a", "b")), Source(id="M1", text="", refs=("b", "c"), entry=0))
    assert flat(Accepted("x", cites)) == ("a", "b", "c")
