"""One dream of one agent, from raw memories to insights."""

import pytest

from dreamd.calls import Prompt
from dreamd.dream.phase import Unfinished, dream, meta_key, summed, unfinished
from dreamd.errors import ConfigError, ProviderUnreachable, StateLocked
from dreamd.locks import dream_lock, exclusive
from dreamd.sections import Dream, Llm
from dreamd.stores.base import Changes, Usage
from tests.dream.conftest import House
from tests.dream.honest import honest as answer

BUDGET = "Remember that I always prefer the cheapest hosting plan."
NOTHING = '{"insights": []}'
TABS = "I prefer tabs over spaces in Makefiles."
AGAIN = "As ever, I prefer tabs over spaces in Makefiles."


class Killed(BaseException):
    """As SIGKILL: nobody handles it."""


async def test_what_was_said_on_two_days_in_two_tasks_is_promoted_and_what_was_said_once_is_not(
    house: House,
) -> None:
    house.says(TABS)
    first = await house.dreams()
    assert [one.status for one in house.insights()] == ["candidate"]
    assert (first.counts.records, first.counts.new, first.counts.promoted) == (1, 1, 0)
    house.next_day()
    again = house.says(AGAIN, task="t2")
    second = await house.dreams()
    (insight,) = house.insights("long_term")
    assert again.memory_id in insight.ref_ids
    assert (insight.windows, insight.tasks) == (2, 2)
    assert (second.counts.new, second.counts.merged, second.counts.promoted) == (0, 1, 1)


async def test_raw_memories_that_a_dream_looked_at_are_dreamt_and_still_in_the_dailies(house: House) -> None:
    house.says(TABS)
    house.says("A scheduled thing.", origin="scheduled")
    house.says("Injected text.", origin="injected")
    await house.dreams()
    assert [one.status for one in house.raws()] == ["dreamt", "fresh", "fresh"]
    assert [count.unfiled for count in house.store.windows("cat")] == [3]


async def test_a_second_dream_without_anything_new_changes_nothing_and_writes_nothing(house: House) -> None:
    house.says(BUDGET)
    await house.dreams()
    before, rows = house.everything(), house.store.ledger()
    again = await house.dreams()
    assert not again.new
    assert house.everything() == before
    assert house.store.ledger() == rows


async def test_dreaming_of_everything_again_doubles_nothing(house: House) -> None:
    for day in range(3):
        house.says(f"Task {day}: I prefer tabs over spaces in Makefiles.", task=f"t{day}")
        house.says(BUDGET, task=f"t{day}")
        await house.dreams()
        house.next_day()
    before = house.everything()
    forced = await house.dreams(force=True)
    assert forced.counts.records == 6
    assert forced.counts.new == 0
    assert [(one.memory_id, one.status, one.ref_ids) for one in house.everything()] == [
        (one.memory_id, one.status, one.ref_ids) for one in before
    ]


async def test_a_dry_run_shows_what_would_change_and_changes_nothing(house: House) -> None:
    house.says(BUDGET)
    before = house.everything()
    shown = await house.dreams(dry_run=True)
    assert [shift.before for shift in shown.shifts] == [None]
    assert house.everything() == before
    assert house.store.ledger() == []
    assert house.told("dream.finished") == []


async def test_the_ledger_and_the_log_tell_what_a_dream_did_and_never_what_was_said(house: House) -> None:
    house.says(BUDGET)
    done = await house.dreams()
    (row,) = house.store.ledger("cat", "dream")
    assert (row.state, row.day, row.reason) == ("done", house.clock.now().date(), "no LLM is configured")
    assert done.row == row
    (told,) = house.told("dream.finished")
    assert (told["agent"], told["records"], told["new"], told["calls"]) == ("cat", 1, 1, 0)
    assert "cheapest" not in str(house.events)


async def test_two_dreams_of_one_agent_exclude_each_other_and_those_of_two_agents_do_not(
    house: House,
) -> None:
    house.says(TABS, agent="dog")
    async with exclusive(house.state / dream_lock("cat"), house.clock, what="somebody dreams"):
        with pytest.raises(StateLocked, match="cat dreams"):
            await house.dreams()
        assert (await house.dreams("dog")).new
    with pytest.raises(ConfigError):
        await house.dreams("mouse")


# --- what has piled up ---


def lived(house: House, days: int = 6) -> None:
    """Of each day a preference, a rule, a price: something for every portion."""
    for day in range(days):
        house.says(f"As I said on day {day}, I prefer tabs over spaces in Makefiles.", task=f"t{day}")
        house.says(BUDGET, task=f"t{day}")
        house.says(f"Our tool number{day}x costs {day + 100} euros.", task=f"t{day}")
        house.next_day()


def standing(house: House) -> list[tuple[str, str, tuple[str, ...]]]:
    return sorted((one.content, one.status, one.ref_ids) for one in house.insights())


@pytest.mark.parametrize("most", [1, 4, 18, 2000])
async def test_a_backlog_is_dreamt_in_portions_and_ends_in_the_same_insights(house: House, most: int) -> None:
    lived(house)
    calm = House(house.state)
    lived(calm)
    calm.configure(dream=Dream(pool_threshold=100))
    await calm.dreams()
    house.configure(dream=Dream(pool_threshold=most))
    done = await house.dreams()
    assert done.counts.records == 18
    assert standing(house) == standing(calm)
    assert len(house.told("dream.finished")) == len(house.store.ledger("cat", "dream")) == 1
    before = house.everything()
    again = await house.dreams()
    assert not again.new
    assert house.everything() == before
    assert unfinished(house.parts, "cat") == Unfinished(after=18)


async def test_after_any_first_import_a_second_dream_changes_nothing(house: House) -> None:
    for number in range(90):
        house.says(f"Our tool number{number}x costs {number + 100} euros.", task=f"t{number}")
    done = await house.dreams()
    assert (done.counts.new, done.counts.waiting, len(house.insights())) == (90, 0, 90)
    before = house.everything()
    again = await house.dreams()
    assert not again.new
    assert house.everything() == before


async def test_what_is_too_much_is_counted_and_waits_for_the_next_dream_with_news(house: House) -> None:
    house.configure(dream=Dream(max_contradictions=2))
    for number in range(4):
        house.says(f"The API limit is {number + 100} requests per minute.", task=f"t{number}")
    done = await house.dreams()
    assert (done.counts.contradicted, done.counts.waiting) == (2, 4)
    assert done.waits == ("4 contradiction(s) beyond 2 a dream wait for the next",)
    assert done.waits[0] in done.row.reason
    again = await house.dreams()
    assert not again.new
    house.says("Thank you.")
    later = await house.dreams()
    assert (later.counts.contradicted, later.counts.waiting) == (2, 2)


@pytest.mark.parametrize("force", [False, True])
async def test_a_dry_run_of_a_backlog_shows_what_the_dream_then_does(house: House, force: bool) -> None:
    lived(house)
    house.configure(dream=Dream(pool_threshold=5))
    shown = await house.dreams(dry_run=True, force=force)
    assert house.insights() == []
    done = await house.dreams(force=force)
    assert [(one.statement, one.before, one.after) for one in shown.shifts] == [
        (one.statement, one.before, one.after) for one in done.shifts
    ]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("survives", range(4))
async def test_killed_in_the_middle_of_a_backlog_a_dream_pays_nothing_twice(
    house: House, survives: int, force: bool
) -> None:
    left = survives

    def mortal(prompt: Prompt) -> str:
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1
        return honest(prompt)

    lived(house)
    house.configure(llm=Llm(concurrency=1), dream=Dream(pool_threshold=5))
    house.model(mortal)
    with pytest.raises(BaseExceptionGroup):
        await house.dreams(force=force)
    alive = house.model(honest)
    await house.dreams()
    calm = House(house.state)
    lived(calm)
    calm.configure(llm=Llm(concurrency=1), dream=Dream(pool_threshold=5))
    undisturbed = calm.model(honest)
    await calm.dreams(force=force)
    assert len(alive.prompts) + survives == len(undisturbed.prompts)
    assert standing(house) == standing(calm)
    assert unfinished(house.parts, "cat") == unfinished(calm.parts, "cat")


async def test_without_an_llm_to_be_had_the_portions_behind_are_left_alone(house: House) -> None:
    lived(house)
    house.configure(llm=Llm(concurrency=1), dream=Dream(pool_threshold=5))
    model = house.model([ProviderUnreachable("no answer")])
    done = await house.dreams()
    assert (done.outage, done.counts.records, len(model.prompts)) == (True, 5, 1)
    house.model(honest)
    later = await house.dreams()
    assert later.parked == ()
    assert [one.status for one in house.raws()] == ["dreamt"] * 18


# --- with an LLM ---


def honest(prompt: Prompt) -> str:
    return answer(prompt.purpose, prompt.user)


async def test_calls_go_through_the_journal_and_their_cost_is_in_the_ledger(house: House) -> None:
    house.model(honest)
    house.says(TABS)
    done = await house.dreams()
    (row,) = house.store.ledger("cat", "dream")
    assert sum(usage.calls for usage in row.usage) == len(house.llm.prompts if house.llm else ()) == 1
    assert done.row.usage == row.usage == done.spent
    assert (done.row.reason, done.counts.kept) == ("", 1)


async def test_what_the_model_fails_at_is_parked_and_dreamt_of_again(house: House) -> None:
    house.configure(dream=Dream(attempts=1))
    house.model(["no JSON", "no JSON", "no JSON"])
    said = house.says(TABS)
    parked = await house.dreams()
    (group,) = parked.parked
    assert group.ids == (said.memory_id,)
    assert parked.counts.new == 1  # the rules saw it all the same
    assert [one.status for one in house.raws()] == ["fresh"]
    assert unfinished(house.parts, "cat").parked == parked.parked
    (told,) = house.told("dream.parked")
    assert told["records"] == 1
    house.model(honest)
    again = await house.dreams()
    assert again.parked == unfinished(house.parts, "cat").parked == ()
    assert [one.status for one in house.raws()] == ["dreamt"]
    assert len(house.insights()) == 1


async def test_an_outage_parks_the_rest_without_asking_and_keeps_what_was_paid(house: House) -> None:
    house.configure(llm=Llm(concurrency=1))
    model = house.model([NOTHING, ProviderUnreachable("no answer")])
    for task in ("t1", "t2", "t3"):
        house.says(TABS, task=task)
        house.says(f"I prefer the {task} way of naming branches.", task=task)
    done = await house.dreams()
    assert len(model.prompts) == 2
    assert len(done.parked) >= 2
    assert all("no answer" in group.reason for group in done.parked)


@pytest.mark.parametrize("survives", range(3))
async def test_killed_between_calls_a_dream_goes_on_and_ends_as_if_nothing_had_been(
    house: House, survives: int
) -> None:
    for task in ("t1", "t2", "t3"):
        house.says(TABS, task=task)
        house.says(f"I prefer the {task} way of naming branches.", task=task)
    left = survives

    def mortal(prompt: Prompt) -> str:
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1
        return honest(prompt)

    house.configure(llm=Llm(concurrency=1))
    house.model(mortal)
    with pytest.raises(BaseExceptionGroup):
        await house.dreams()
    assert house.insights() == []
    house.says("I prefer what came after the kill.", task="t9")
    house.next_day()
    alive = house.model(honest)
    resumed = await house.dreams()
    assert resumed.counts.records == 6
    assert sum(usage.resumed for usage in resumed.spent) == survives
    calls = len(alive.prompts) + survives

    calm = House(house.state)
    calm.configure(llm=Llm(concurrency=1))
    for task in ("t1", "t2", "t3"):
        calm.says(TABS, task=task)
        calm.says(f"I prefer the {task} way of naming branches.", task=task)
    calm.next_day()
    undisturbed = calm.model(honest)
    await calm.dreams()
    assert len(undisturbed.prompts) == calls
    assert [(one.memory_id, one.content, one.status) for one in calm.insights()] == [
        (one.memory_id, one.content, one.status) for one in house.insights()
    ]


async def test_a_dry_run_keeps_no_reply(house: House) -> None:
    model = house.model(honest)
    house.says(TABS)
    await house.dreams(dry_run=True)
    await house.dreams()
    assert len(model.prompts) == 2


async def test_progress_counts_the_groups(house: House) -> None:
    house.model(honest)
    house.says(TABS)
    seen: list[tuple[int, int]] = []
    await dream(house.parts, "cat", progress=lambda done, of: seen.append((done, of)))
    assert seen == [(0, 1), (1, 1)]


def test_usage_is_summed_by_purpose() -> None:
    one, other = Usage("distil", 1, 10, 2), Usage("distil", 2, 5, 1, resumed=3)
    assert summed((one, Usage("merge", 1), other)) == (Usage("distil", 3, 15, 3, 3), Usage("merge", 1))


def test_what_is_unfinished_is_kept_in_the_store(house: House) -> None:
    assert unfinished(house.parts, "cat") == Unfinished()
    house.store.write(Changes(meta={meta_key("cat"): '{"until": 7, "again": true}'}))
    assert unfinished(house.parts, "cat") == Unfinished(until=7, again=True)
