from datetime import date

import pytest

from dreamd.deep_dream.retiring import dreamt, founded
from dreamd.deep_dream.sources import Source
from dreamd.memories import Memory
from dreamd.records import Origin, Role
from tests.deep_dream.conftest import DAY, House

FOUND = Source(id="M1", text="The shop sells tea", refs=("version:1#3",), entry=0)


def news(
    text: str, house: House, *, role: Role = "user", origin: Origin = "human", day: date = DAY
) -> Source:
    record: Memory = house.record(text, role=role, origin=origin, day=day)
    return Source(id="D1", text=text, refs=(record.memory_id,), records=(record,), day=day)


def test_what_dreamd_wrote_goes_with_any_reason() -> None:
    own = Source(id="M1", text="The shop sells tea", refs=("version:1#3", "memory"), entry=0)
    assert dreamt(own)
    assert founded(own, (), ())
    assert not dreamt(FOUND)
    assert not founded(FOUND, (), ())


def test_a_new_line_about_the_same_takes_the_place_of_a_found_one(house: House) -> None:
    daily = news("the shop sells coffee now", house, role="assistant")
    assert founded(FOUND, (), [("The shop sells coffee", (FOUND, daily))])
    assert not founded(FOUND, (), [("The shop sells coffee", (daily,))])
    assert not founded(FOUND, (), [("The shop sells coffee", (FOUND,))])
    assert not founded(FOUND, (), [("Ann moved", (FOUND, daily))])


@pytest.mark.parametrize(
    ("said", "role", "origin", "enough"),
    [
        ("we stopped selling tea", "user", "human", True),
        ("we stopped selling tea", "assistant", "human", False),
        ("we stopped selling tea", "user", "injected", False),
        ("do we sell tea?", "user", "human", False),
        ("good morning", "user", "human", False),
    ],
)
def test_the_persons_own_words_about_it_are_reason_enough(
    house: House, said: str, role: Role, origin: Origin, enough: bool
) -> None:
    assert founded(FOUND, (news(said, house, role=role, origin=origin),), ()) is enough
