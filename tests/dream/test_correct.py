from datetime import timedelta

import pytest
from msgspec.structs import replace

from dreamd.dream.correct import correction, corrections
from dreamd.memories import Memory
from dreamd.records import Trust
from tests.dream.settling import by_id, said
from tests.stores.making import summary

OLD = said(1, "The grant deadline is March 13.", day=2)
NEW = said(2, "No, the grant deadline is March 20, not March 13.", day=5)


def insight(statement: str, *raws: Memory, **more: object) -> Memory:
    fields = {"type": "insight", "status": "candidate", "kind": "fact", "trust": Trust.HUMAN}
    return summary(statement, tuple(raw.memory_id for raw in raws), "cat", **(fields | more))


def old(**more: object) -> Memory:
    return insight("The grant deadline is March 13", OLD, **more)


def new(*raws: Memory, **more: object) -> Memory:
    return insight("the grant deadline is March 20", *(raws or (NEW,)), **more)


def test_the_humans_correction_supersedes_and_the_old_keeps_its_dates() -> None:
    (found,) = corrections([(new(), old())], by_id(OLD, NEW))
    assert found.old == replace(
        old(), status="superseded", valid_until=NEW.happened, contradictions_flag=True
    )
    assert found.new == new()


def test_the_successor_of_what_was_believed_is_believed() -> None:
    found = correction(old(status="long_term"), new(), by_id(OLD, NEW))
    assert found is not None
    assert found.new.status == "long_term"


@pytest.mark.parametrize(
    "text",
    [
        "From now on the grant deadline is March 20.",
        "Remember that the grant deadline is March 20.",
        "Actually, the grant deadline is March 20.",
        "I was wrong. Correction: the grant deadline is March 20.",
    ],
)
def test_a_newer_word_for_the_time_to_come_supersedes(text: str) -> None:
    later = said(3, text, day=6)
    assert correction(old(), new(later), by_id(OLD, later)) is not None


@pytest.mark.parametrize(
    "raw",
    [
        said(3, "The grant deadline is March 20.", day=6),
        replace(NEW, role="assistant", trust=Trust.AGENT),
        replace(NEW, origin="injected", trust=Trust.UNTRUSTED),
        replace(NEW, role="tool", origin="tool", trust=Trust.UNTRUSTED),
        said(3, "> No, the grant deadline is March 20, not March 13.\nHe wrote so. The grant deadline is March 20.", day=6),
        said(3, "No, use the other file. We pay on Friday. The grant deadline is March 20.", day=6),
        said(3, "No, the grant deadline is March 20, not March 13.", day=1),
    ],
    ids=["said anew", "assistant", "injected", "tool", "quoted", "about something else", "earlier"],
)  # fmt: skip
def test_nothing_else_supersedes(raw: Memory) -> None:
    assert correction(old(), new(raw), by_id(OLD, raw)) is None


def test_what_was_said_again_after_the_correction_stands() -> None:
    again = said(4, "The grant deadline is March 13.", day=9)
    both = insight("The grant deadline is March 13", OLD, again)
    assert correction(both, new(), by_id(OLD, NEW, again)) is None


@pytest.mark.parametrize("status", ["superseded", "archived", "withdrawn", "forgotten"])
def test_no_one_is_superseded_without_a_living_successor(status: str) -> None:
    assert correction(old(), new(status=status), by_id(OLD, NEW)) is None
    assert correction(old(status=status), new(), by_id(OLD, NEW)) is None


def test_what_a_person_pinned_is_left_to_the_person() -> None:
    assert correction(old(pinned=True), new(), by_id(OLD, NEW)) is None


def test_corrections_come_in_order_of_time() -> None:
    later = replace(NEW, memory_id="later", timestamp=NEW.happened + timedelta(days=1))
    raws = by_id(OLD, NEW, later)
    found = corrections([(old(), new(later)), (old(), new())], raws)
    assert [one.at for one in found] == [NEW.happened, later.happened]
