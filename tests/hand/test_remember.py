from datetime import timedelta

import pytest

from dreamd.dream.standing import standing_of
from dreamd.errors import ConfigError, UsageError
from dreamd.hand.remember import remember
from dreamd.locks import dream_lock, exclusive
from dreamd.memories import Memory
from dreamd.records import Trust
from tests.dream.conftest import House


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I hate red", "preference"),
        ("我讨厌红色", "preference"),
        ("The Wi-Fi in room 12 is slow", "fact"),
        ("预算是500元", "fact"),
    ],
)
async def test_what_a_person_tells_is_believed_at_once_and_rests_on_the_persons_words(
    house: House, text: str, kind: str
) -> None:
    kept = await remember(house.parts, f"  {text}\n", agent="cat")
    (insight,) = house.insights()
    (record,) = house.raws()
    assert (insight.content, insight.status, insight.kind, insight.trust) == (
        text,
        "long_term",
        kind,
        Trust.HUMAN,
    )
    assert insight.ref_ids == (record.memory_id,)
    assert record.content.endswith(text)
    assert (record.by_a_person, record.filed, record.status) == (True, True, "dreamt")
    assert kept.new
    assert kept.insight.memory_id == insight.memory_id


async def test_no_dream_takes_it_back_or_says_it_twice(house: House) -> None:
    await remember(house.parts, "The Wi-Fi in room 12 is slow", agent="cat")
    before = house.insights()
    house.next_day()
    house.says("Good morning, what is the plan for today?")
    await house.dreams()
    await house.dreams(force=True)
    assert [(one.content, one.status) for one in house.insights()] == [
        (one.content, one.status) for one in before
    ]


async def test_the_same_told_twice_is_one_insight(house: House) -> None:
    first = await remember(house.parts, "I hate red", agent="cat")
    house.next_day()
    again = await remember(house.parts, "I hate red", agent="cat", pinned=True)
    assert (again.new, again.record, again.insight.pinned) == (False, None, True)
    (insight,) = house.insights()
    assert insight.memory_id == first.insight.memory_id
    assert (insight.pinned, insight.last_recalled_at) == (True, house.clock.now())
    assert len(house.raws()) == 1


async def test_it_lifts_the_candidate_that_says_the_same(house: House) -> None:
    house.says("I prefer tabs over spaces in Makefiles.")
    await house.dreams()
    (candidate,) = house.insights("candidate")
    kept = await remember(house.parts, "I prefer tabs over spaces in Makefiles", agent="cat")
    (insight,) = house.insights()
    assert (insight.memory_id, insight.status) == (candidate.memory_id, "long_term")
    assert kept.record is not None
    assert set(insight.ref_ids) == {*candidate.ref_ids, kept.record.memory_id}


async def test_what_it_puts_right_is_superseded(house: House) -> None:
    house.says("Remember: our release day is Tuesday.")
    await house.dreams()
    house.next_day()
    await remember(house.parts, "our release day is Thursday", agent="cat")
    stands = {one.content: one.status for one in house.insights()}
    assert stands == {"our release day is Tuesday": "superseded", "our release day is Thursday": "long_term"}
    assert len(house.store.contradictions("cat")) == 1


async def test_while_a_dream_is_under_way_the_rest_is_left_to_the_next(house: House) -> None:
    house.says("I prefer tabs over spaces in Makefiles.")
    await house.dreams()
    async with exclusive(house.state / dream_lock("cat"), house.clock, what="cat dreams"):
        await remember(house.parts, "I prefer tabs over spaces in Makefiles", agent="cat")
    assert sorted(one.status for one in house.insights()) == ["candidate", "long_term"]
    assert [one.status for one in house.raws()] == ["dreamt", "fresh"]


async def test_a_kind_and_a_situation_may_be_given_and_a_pin(house: House) -> None:
    kept = await remember(
        house.parts,
        "Deploys go through Bob",
        agent="cat",
        kind="procedure",
        applies_when="deploying",
        pinned=True,
    )
    (insight,) = house.insights()
    assert (insight.kind, insight.applies_when, insight.pinned) == ("procedure", "deploying", True)
    assert kept.insight.pinned


@pytest.mark.parametrize(
    "text",
    [
        "",
        " … ",
        "x" * 2001,
        "my key is sk-ant-api03-" + "a1B2" * 20,
        "[redacted:password]",
        "caf\udce9 is closed",
    ],
)
async def test_nothing_too_much_and_secrets_are_refused(house: House, text: str) -> None:
    with pytest.raises(UsageError):
        await remember(house.parts, text, agent="cat")
    assert house.everything() == []


async def test_an_unknown_agent_is_refused(house: House) -> None:
    with pytest.raises(ConfigError):
        await remember(house.parts, "I hate red", agent="bird")


async def test_it_lacks_nothing_and_fades_slowly(house: House) -> None:
    await remember(house.parts, "I hate red", agent="cat")
    insight: Memory = house.insights()[0]
    later = house.clock.now() + timedelta(days=90)
    standing = standing_of(house.store, insight, house.config, later)
    assert standing.lacks == ()
    assert 0.4 < standing.sure < 0.5


async def test_told_twice_while_a_dream_is_under_way_it_is_one_insight(house: House) -> None:
    async with exclusive(house.state / dream_lock("cat"), house.clock, what="cat dreams"):
        first = await remember(house.parts, "I hate red wine", agent="cat")
        again = await remember(house.parts, "I hate red wine", agent="cat", pinned=True)
    assert (first.new, again.new, again.record) == (True, False, None)
    assert [(one.content, one.pinned) for one in house.insights()] == [(first.insight.content, True)]


async def test_what_nobody_sees_is_not_kept(house: House) -> None:
    kept = await remember(house.parts, "I hate red\0 wine\u202e", agent="cat")
    assert kept.insight.content == "I hate red wine"


@pytest.mark.parametrize("when", ["x" * 3000, "the key is sk-ant-api03-" + "aB3" * 20])
async def test_a_situation_is_as_short_and_as_free_of_secrets(house: House, when: str) -> None:
    with pytest.raises(UsageError):
        await remember(house.parts, "I hate red wine", agent="cat", applies_when=when)
    kept = await remember(house.parts, "I hate red wine", agent="cat", applies_when="at\n dinner\x1b[2J")
    assert kept.insight.applies_when == "at dinner"
