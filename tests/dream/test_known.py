from msgspec.structs import replace

from dreamd.dream.known import LIVE, Known
from tests.stores.making import summary


def insight(text: str, **more: object) -> object:
    return summary(text, ("a",), type="insight", **({"status": "candidate"} | more))


def test_insights_are_found_by_a_word_they_share_in_the_order_they_came() -> None:
    red, tea, shirt = insight("I hate red charts"), insight("I drink tea"), insight("Red shirts are fine")
    known = Known([red, tea, shirt])
    assert known.near("red") == [red, shirt]
    assert known.near("我不吃鱼") == []


def test_what_a_statement_denies_is_near_it_too() -> None:
    tabs = insight("I use tabs")
    assert Known([tabs]).near("Not tabs but spaces") == [tabs]


def test_an_insight_stands_as_it_was_put_last() -> None:
    old = insight("I drink tea")
    known = Known([old])
    new = replace(old, content="I drink green coffee", status="archived")
    known.put(new)
    assert list(known) == [new] == known.near("coffee")
    assert known.near("coffee", LIVE) == []
    assert (known[old.memory_id], old.memory_id in known, "nobody" in known) == (new, True, False)


def test_a_statement_without_words_finds_its_twin() -> None:
    never = insight("Never!")
    assert Known([never]).near("never") == [never]


def test_what_is_dropped_was_never_there() -> None:
    red, tea = insight("I hate red charts"), insight("I drink tea")
    known = Known([red, tea])
    known.drop(red.memory_id)
    assert (list(known), known.near("red"), known.near("I hate red charts")) == ([tea], [], [])
    known.put(red)
    assert list(known) == [tea, red]


def test_of_very_many_those_that_share_most_are_found() -> None:
    many = [
        insight(f"I drink green tea in room{number}x on the left side of the house") for number in range(150)
    ]
    nearest = insight("I drink green tea")
    found = Known([nearest, *many]).near("I drink green tea")
    assert nearest in found
    assert len(found) == 100
