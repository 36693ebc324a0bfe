from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream.packed import UNPACKED, Packed
from dreamd.memories import Memory
from dreamd.records import Span, Trust

AT = datetime(2026, 3, 2, 10, 0, 0, 123456, tzinfo=UTC)


def raw(name: str, content: str = "I drink tea.") -> Memory:
    return Memory(
        memory_id=name, type="raw", content=content, agent="cat", window=date(2026, 3, 2), received_at=AT,
        timestamp=AT, role="user", origin="human", trust=Trust.HUMAN, status="dreamt", ok=False, seq=7,
        span=Span(source_id="log", offset=3),
    )  # fmt: skip


@given(st.text())
def test_what_was_packed_comes_out_as_it_went_in(content: str) -> None:
    memory = raw("a", content)
    assert Packed([memory])["a"] == memory


@pytest.mark.parametrize("content", ["short", "long " * 10_000, "红茶" * 3000])
def test_short_and_long_ones_come_out_alike(content: str) -> None:
    assert Packed([raw("a", content)])["a"].content == content


def test_more_than_are_held_unpacked_are_all_there() -> None:
    memories = {f"m{number}": raw(f"m{number}", f"Note {number}.") for number in range(UNPACKED + 10)}
    packed = Packed(memories.values())
    assert packed == memories
    assert len(packed) == len(memories)
    assert packed["m0"] == memories["m0"]


def test_what_is_held_counts_where_an_id_is_in_both() -> None:
    old, new, other = raw("a", "Old."), raw("a", "New."), raw("b")
    both = Packed([old]).beside({"a": new, "b": other})
    assert both == {"a": new, "b": other}
    assert len(both) == len({"a", "b"})
    assert "a" in both
    assert Packed([old])["a"] == old


def test_what_is_not_there_is_not_there() -> None:
    packed = Packed([raw("a")])
    assert "b" not in packed
    with pytest.raises(KeyError):
        packed["b"]
