import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.memories import Memory
from dreamd.stores._forgetting import back_again, erased, mark_of, overwritten, telling, words_of
from tests.stores.making import NOON, raw, summary

LONG = "my sister's code word is Zinfandel"


def test_the_mark_of_a_text_is_that_of_its_words() -> None:
    assert mark_of(LONG) == mark_of(f"  {LONG.upper()}!\n")
    assert mark_of(LONG) != mark_of(f"{LONG} really")
    assert LONG not in mark_of(LONG)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_plain_text_has_the_words_it_would_have_beside_other_scripts(text: str) -> None:
    assert f"{words_of(text)}\u597d" == words_of(f"{text}\u597d")


@pytest.mark.parametrize("text", ["", "yes", "yes please do", "好的，谢谢"])
def test_what_anybody_says_has_no_mark(text: str) -> None:
    assert mark_of(text) == ""


def test_a_sentence_in_chinese_is_telling() -> None:
    assert telling(words_of("我妹妹的暗号是葡萄酒"))


def test_nothing_that_was_said_is_left() -> None:
    full = raw(1, tool="Zin", project="Zin", task_id="Zin", session_id="Zin", content="Zin", pinned=True)
    assert "Zin" not in repr(erased(full))
    insight = summary("Zin", (full.memory_id,), type="insight", applies_when="Zin", kind="fact")
    left = erased(insight)
    assert "Zin" not in repr(left)
    assert (left.memory_id, left.ref_ids, left.status) == (insight.memory_id, (), "forgotten")


@pytest.mark.parametrize(
    ("memory", "back"),
    [
        (raw(1), True),
        (raw(2), False),
        (raw(3, content=LONG), True),
        (raw(3, content=LONG, timestamp=None), True),
        (summary(LONG, ("r",)), False),
    ],
)
def test_an_id_comes_never_back_and_words_only_as_news(memory: Memory, back: bool) -> None:
    stones = {raw(1).memory_id: 5, mark_of(LONG): 5}
    assert back_again(memory, stones, 5 if memory.timestamp else None) is back
    assert back_again(memory, stones, 6) is (memory == raw(1) or (back and memory == raw(1)))


@given(st.text(min_size=1), st.binary(), st.binary())
def test_a_text_is_overwritten_in_its_place(text: str, before: bytes, after: bytes) -> None:
    try:
        inside = text.encode()
    except UnicodeEncodeError:
        return
    clean = overwritten(before + inside + json.dumps(text).encode() + after, [text])
    assert len(clean) == len(before + inside + json.dumps(text).encode() + after)
    assert set(inside) == {ord("x")} or inside not in clean


def test_nothing_to_overwrite_changes_nothing() -> None:
    assert overwritten(b"state", []) == overwritten(b"state", ["", "other"]) == b"state"


def test_a_memory_keeps_when_and_where_it_was() -> None:
    assert (erased(raw(1)).span, erased(raw(1)).timestamp) == (raw(1).span, NOON)
