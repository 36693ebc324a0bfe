"""Which raw memories go to the LLM together."""

import re

import pytest

from dreamd.calls import Prompt
from dreamd.dream.draw import draw, nobody, sieved, together
from dreamd.dream.material import Material, Portion, gather
from dreamd.errors import DiskFull, ProviderRefused
from dreamd.sections import Agent, Llm
from tests.dream.conftest import House

NOTHING = '{"insights": []}'


def material(house: House) -> Material:
    return gather(house.store, Agent(zone="UTC"), "cat", Portion(again=True))


def test_what_is_not_worth_it_is_left_out_and_what_is_unclear_is_asked_about(house: House) -> None:
    worth = house.says("Remember that the budget is 320 euros.")
    noise = house.says("ok")
    unclear = house.says("The tower by the old mill looked taller than I thought.")
    sieve = sieved(material(house), 0.35)
    assert worth.memory_id in sieve.kept
    assert noise.memory_id not in sieve.kept
    assert [one.memory_id for one in sieve.undecided if one.memory_id == unclear.memory_id] != []
    assert noise not in sieve.undecided


def test_each_memory_is_in_one_primary_group_and_others_join_across_tasks(house: House) -> None:
    said = [
        house.says(f"The budget of project `bridge/plan` is {number} euros.", task=f"t{number}")
        for number in range(2, 5)
        for _ in range(2)
    ]
    ids = frozenset(one.memory_id for one in said)
    groups = together(material(house), ids)
    primary = [group for group in groups if group.by != "entity"]
    assert sorted(one for group in primary for one in group.ids) == sorted(ids)
    (joined, *_) = [group for group in groups if group.by == "entity"]
    assert set(joined.ids) == ids
    assert together(material(house), frozenset()) == []


async def test_without_an_llm_the_sieve_is_all_there_is(house: House) -> None:
    house.says("Remember that the budget is 320 euros.")
    drawn = await draw(None, material(house), house.parts, nobody)
    assert (drawn.scored, drawn.kept, drawn.drafts) == (1, 1, ())


async def test_what_the_llm_finds_worth_it_is_distilled_too(house: House) -> None:
    unclear = house.says("The tower by the old mill looked taller than I thought.")
    model = house.model(lambda prompt: '{"keep": [1]}' if prompt.purpose == "score" else NOTHING)
    drawn = await draw(model, material(house), house.parts, nobody)
    assert [prompt.purpose for prompt in model.prompts] == ["score", "distil"]
    assert unclear.content in model.prompts[1].user
    assert drawn.kept == 1


async def test_a_model_that_refuses_one_group_after_another_is_asked_no_more(house: House) -> None:
    house.configure(llm=Llm(concurrency=1))
    for number in range(8):
        house.says(f"Remember that the budget is {number}20 euros.", task=f"t{number}")
        house.says(f"I prefer the name plan-{number}.", task=f"t{number}")
    model = house.model(lambda _prompt: ProviderRefused("no such model"))
    drawn = await draw(model, material(house), house.parts, nobody)
    assert len(drawn.parked) >= 8
    assert len(model.prompts) < len(drawn.parked)
    assert not drawn.outage


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_the_groups_come_in_their_order_whichever_is_done_first(house: House, concurrency: int) -> None:
    house.configure(llm=Llm(concurrency=concurrency))
    for number in range(4):
        house.says(f"Remember that the budget is {number}20 euros.", task=f"t{number}")
        house.says(f"I prefer the name plan-{number}.", task=f"t{number}")

    def refuse_some(prompt: Prompt) -> str:
        return "no JSON" if re.search(r"plan-[13]", prompt.user) else NOTHING

    model = house.model(refuse_some)
    drawn = await draw(model, material(house), house.parts, nobody)
    keys = [group.key for group in drawn.parked if "/task/" in group.key]
    assert keys == ["cat/task/t1/1", "cat/task/t3/1"]


async def test_a_disk_that_is_full_is_told_as_it_is_and_nothing_more_is_paid_for(house: House) -> None:
    for number in range(6):
        house.says(f"Remember that the budget of task {number} is 320 euros.", task=f"t{number}")
    house.configure(llm=Llm(concurrency=2))

    def nowhere_to_keep_it(_prompt: Prompt) -> str:
        raise DiskFull("no space left")

    model = house.model(nowhere_to_keep_it)
    with pytest.raises(DiskFull):
        await draw(model, material(house), house.parts, nobody)
    assert len(model.prompts) <= 2
