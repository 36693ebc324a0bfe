import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.hand.matching import echoes, needle, plain_of, tells_of, texts_of
from dreamd.memories import Entity
from dreamd.records import Trace
from dreamd.stores._forgetting import holds
from tests.stores.making import raw, summary

SECRET = "My sister's code word is Zinfandel"


@pytest.mark.parametrize(
    ("named", "text", "found"),
    [
        ("zinfandel", "the ZINFANDEL's", True),
        ("code  word", "her code\nword", True),
        ("葡萄", "我妹妹的暗号是葡萄", True),
        ("ｗｏｒｄ", "word", True),
        ("zinfandel", "merlot", False),
        ("杭州西湖", "我住在杭州\n西湖区", True),
        ("杭州西湖", "我住在杭 州 西 湖", True),
        ("用 Python 写", "用Python写", True),
        ("zinfandel", "zin\u200bfan\u00addel", True),
        ("zin\ufefffandel", "zinfandel", True),
        ("zinfandel", "zin\x1b[31mfandel\x1b[0m", True),
        ("café noir", "Cafe\u0301 Noir", True),
        ("\u0390 αβγ", "\u03aa\u0301 ΑΒΓ", True),
        ("istanbul", "İstanbul", True),
        ("東京タワー", "ﾄｳｷｮｳ 東京ﾀﾜｰ", True),
        ("code word", "codeword", False),
    ],
)
def test_a_text_is_found_whatever_its_capitals_and_white_space(named: str, text: str, found: bool) -> None:
    assert needle(plain_of(named)).found_in(text) is found


@pytest.mark.parametrize(
    "text", ["杭州西湖", "café noir", "two\nlines", "C:\\new\\table", 'she said "no"', "🍕🍕"]
)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_text_is_found_in_json_however_deep(text: str, depth: int) -> None:
    packed = text
    for _ in range(depth):
        packed = json.dumps({"q": packed})
    looked_for = needle(plain_of(text))
    assert looked_for.found_in(packed)
    assert holds("", packed, json.dumps(looked_for.probes))
    assert not looked_for.found_in(json.dumps("西湖" + text[1:]))


def naive(text: str, gone: str) -> bool:
    """Run by run."""
    own, other = plain_of(text), plain_of(gone)
    runs = ((at, 7 if ord(char) >= 0x2E80 else 20) for at, char in enumerate(own))
    return any(at + run <= len(own) and own[at : at + run] in other for at, run in runs)


@given(st.data())
def test_an_echo_is_heard_wherever_it_begins(data: st.DataObject) -> None:
    letters = st.text("ab 你我", max_size=40)
    shared = data.draw(letters)
    one, other = (data.draw(letters) + shared + data.draw(letters) for _ in range(2))
    assert echoes(one, [other], ()) is naive(one, other)


def test_a_copy_in_json_is_a_copy() -> None:
    said = "记住：我妹妹的暗号是葡萄熟了。"
    assert needle("", [said]).copied_in(json.dumps({"messages": [{"content": said}]}))


def test_a_copy_holds_all_the_words_of_what_is_long_enough_to_have_copies() -> None:
    copies = needle("", [SECRET, "yes"])
    assert copies.copied_in(f"> {SECRET.upper()}!\nas you said")
    assert not copies.copied_in("yes, my sister's code word is secret")
    assert not needle("", ["yes", ""]).copied_in("yes")


def test_nothing_finds_nothing() -> None:
    assert not needle("").found_in("anything")


def test_all_that_a_memory_says_is_looked_at() -> None:
    trace = Trace("goal", "subgoal", "arguments", "result", "error", "summary")
    memory = summary("c", ("r",), applies_when="when", entities=(Entity("name", "person"),), trace=trace)
    assert {"c", "when", "name", "goal", "subgoal", "arguments", "result", "error", "summary"} == set(
        texts_of(memory)
    )
    assert next(iter(texts_of(raw(1)))) == raw(1).content


@pytest.mark.parametrize(
    ("text", "kept", "tells"),
    [
        ("The code word is Zinfandel", ["They met in Paris"], True),
        ("The code word is Zinfandel", ["Her code word is Zinfandel"], False),
        ("They met in Paris", ["They met in Paris in May"], False),
        ("The user has a sister", [], True),
        ("暗号是葡萄", ["她住在巴黎"], True),
    ],
)
def test_a_text_tells_of_what_goes_when_only_that_bears_it_out(
    text: str, kept: list[str], tells: bool
) -> None:
    gone = [SECRET, "我妹妹的暗号是葡萄"]
    assert tells_of(text, gone, kept) is tells


def test_a_phrase_word_for_word_is_an_echo_unless_others_say_it_too() -> None:
    assert echoes("Noted that my sister's code word is a wine.", [SECRET], ())
    assert not echoes(
        "Noted that my sister's code word is a wine.", [SECRET], ["my sister's code word is long"]
    )
    assert not echoes("The code word.", [SECRET], ())
    assert echoes("好的，我妹妹的暗号是甲", ["我妹妹的暗号是葡萄"], ())
