"""What the rules cannot decide about."""

import pytest

from dreamd.calls import Prompt, Reply
from dreamd.dream.weigh import Weighed, batches, chosen, prompt, weighed
from dreamd.errors import ProviderUnreachable
from dreamd.pool import tokens
from dreamd.pool.language import Tongue
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Dream
from tests.dream.told import told


def reply(text: str) -> Reply:
    return Reply(text=text, stop="end")


async def test_the_numbers_of_a_reply_are_the_records_kept() -> None:
    records = [told(number, f"said {number}") for number in range(1, 4)]
    model = ScriptedProvider(['{"keep": [1, 3]}'])
    found = await weighed(model, records, Dream(), "en")
    assert found == Weighed(frozenset({records[0].memory_id, records[2].memory_id}))
    (asked,) = model.prompts
    assert asked.purpose == "score"
    assert asked.system.startswith("[dreamd:score]")
    assert "R3 human 2026-03-02: said 3" in asked.user


async def test_a_failure_ends_the_asking_keeps_what_was_heard_and_names_who_waits() -> None:
    records = [told(number, f"said {number}") for number in range(150)]
    model = ScriptedProvider(['{"keep": [1]}', ProviderUnreachable("gone")])
    found = await weighed(model, records, Dream(), "en")
    assert found.kept == {records[0].memory_id}
    assert found.reason == "gone"
    first, _ = model.prompts
    assert found.unasked == tuple(one.memory_id for one in records[first.user.count(" human ") :])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"keep": ["R2", "1"]}', {0, 1}),
        ("Sure! ```json\n[2]\n```", {1}),
        ('{"keep": [0, 7, -1, 1.5, true, null]}', set()),
        ("none of them", set()),
        ('{"keep": "all"}', set()),
    ],
)
def test_a_reply_is_read_leniently_and_numbers_of_nothing_are_passed_over(text: str, kept: set[int]) -> None:
    records = [told(number, "x") for number in (1, 2)]
    assert chosen(reply(text), records) == {records[at].memory_id for at in kept}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("limit", [512, 6000])
def test_no_call_is_over_its_limit(language: Tongue, limit: int) -> None:
    records = [told(number, "很长的话 and more words. " * 500) for number in range(100)]
    settings = Dream(max_input_tokens=limit)
    asked: list[Prompt] = [prompt(batch, settings, language) for batch in batches(records, limit, language)]
    assert all(tokens.estimate(one.system) + tokens.estimate(one.user) <= limit for one in asked)
    assert sum(one.user.count(" human ") for one in asked) == 100
