import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.memories import Entity
from dreamd.pool.entities import Repeated, of, repeated


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("see src/app/main.py please", "src/app/main.py", "path"),
        ("it is in ~/notes/today", "~/notes/today", "path"),
        ("edit /etc/dreamd/config.toml.", "/etc/dreamd/config.toml", "path"),
        ("打开 config.toml 看看", "config.toml", "path"),
        ("clone https://github.com/red-fox/den.git now", "red-fox/den", "project"),
        ("the red-fox/den issue", "red-fox/den", "project"),
        ("the fox/den repo", "fox/den", "project"),
        ("mail ann@example.org", "ann@example.org", "person"),
        ("ask @bob about it", "@bob", "person"),
        ("run `uv sync` first", "uv sync", "tool"),
        ('the ship "Blue Whale" sails', "Blue Whale", "name"),
        ("我在读《三体》", "三体", "name"),
        ("我叫小明", "小明", "person"),
        ("请王老师看一下", "王老师", "person"),
        ("昨天和老张说了", "老张", "person"),
    ],
)
def test_what_is_named_beyond_doubt_is_found(text: str, name: str, kind: str) -> None:
    assert Entity(name, kind) in of(text)


@pytest.mark.parametrize(
    "text",
    [
        "red/blue or and/or",
        "The weather is fine",
        'he said "come here, now"',
        "今天天气很好",
        "2/3 of it at 10:30",
    ],
)
def test_what_names_nothing_names_nothing(text: str) -> None:
    assert of(text) == ()


def test_names_in_repeated_use_are_found_without_a_mark() -> None:
    found = repeated(["I met Ann in Berlin", "Ann is away", "the office in Berlin is closed", "The end"])
    assert [entity.name for entity in found] == ["Ann", "Berlin"]


def test_a_chinese_name_in_repeated_use_is_a_person() -> None:
    assert repeated(["王伟说要改", "请王伟的同事来", "黄色的", "要黄色"]) == (Entity("王伟", "person"),)


def test_the_same_text_twice_is_no_repeated_use() -> None:
    assert repeated(["we met Ann", "we met Ann"]) == ()


def test_a_word_that_is_written_small_elsewhere_is_no_name() -> None:
    found = repeated(
        ["press Return here", "then Return again", "these return nothing", "on GitHub", "at GitHub"]
    )
    assert [entity.name for entity in found] == ["GitHub"]


def test_the_repeated_names_of_a_text_are_told() -> None:
    known = Repeated(["I met Ann", "we saw Ann"])
    assert [entity.name for entity in known.found("what Ann said")] == ["Ann"]
    assert known.found("what Bob said") == ()


@given(st.text(max_size=200))
def test_a_name_stands_in_its_text(text: str) -> None:
    found = of(text)
    assert all(entity.name and entity.name in text for entity in found)
    assert len({entity.name.casefold() for entity in found}) == len(found) <= 24


@given(st.lists(st.text("AaBb c王伟说。", max_size=20), max_size=6))
def test_a_repeated_name_stands_in_two_texts(texts: list[str]) -> None:
    for entity in repeated(texts):
        assert (
            sum(entity.name in text or entity.name.casefold() in text.casefold() for text in set(texts)) > 1
        )
