import json
import re
from collections.abc import Sequence
from contextlib import suppress

import anyio
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.clock import StillClock
from dreamd.dream.distil import Distilled, distil
from dreamd.dream.prompt import cost
from dreamd.errors import (
    Parked,
    PromptTooLong,
    ProviderBusy,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)
from dreamd.memories import Memory
from dreamd.pool.language import Tongue
from dreamd.providers.scripted import Answer, ScriptedProvider
from dreamd.sections import Dream
from tests.dream.told import NOW, insight, insights, merge, notes, told

SETTINGS = Dream()


async def distilled(
    provider: ScriptedProvider,
    group: Sequence[Memory],
    *,
    settings: Dream = SETTINGS,
    language: Tongue = "en",
) -> Distilled:
    return await distil(provider, group, ["The user likes tea"], settings, language, StillClock(NOW))


LINE = re.compile(r"^([RP]\d+) (.*)$", re.MULTILINE)


def data_of(prompt: Prompt) -> dict[str, str]:
    """What a prompt gives to read, by label."""
    fence = re.search(r"=== data \w+ ===", prompt.system)
    assert fence is not None
    blocks = prompt.user.split(fence[0])[1::2]
    return {label: text for block in blocks for label, text in LINE.findall(block)}


def honest(prompt: Prompt) -> str:
    """A model that notes each record by its own words, merges nothing away, and concludes from the first."""
    data = data_of(prompt)
    if prompt.purpose == "distil" and '{"insights": [' not in prompt.user[-60:]:
        return notes(*[(words(text), [(label, words(text))]) for label, text in data.items()])
    if '{"insights": [' not in prompt.user[-60:]:
        return merge(*[(text.split(" | ")[0], [label]) for label, text in data.items()])
    label, text = next(iter(data.items()))
    if prompt.purpose == "distil":
        return insights(insight(words(text), [(label, words(text))]))
    return insights(insight(text.split(' "')[-1].split(" | ")[0].strip('"'), **{"from": list(data)}))


def words(text: str) -> str:
    """The words of a record's line, as far as they were shown."""
    return text.split(": ", 1)[1].partition("…")[0].strip()


def group(count: int, text: str = "the invoice number {n} is due on day {n} of the month") -> list[Memory]:
    return [told(n, text.format(n=n), day=1 + n % 3) for n in range(1, count + 1)]


async def test_a_small_group_is_one_call() -> None:
    provider = ScriptedProvider(honest)
    found = await distilled(provider, group(3))
    assert (len(provider.prompts), found.calls, found.summaries) == (1, 1, ())
    assert [draft.statement for draft in found.drafts] == [group(3)[0].content]
    assert provider.prompts[0].purpose == "distil"
    assert "The user likes tea" in provider.prompts[0].user


async def test_ten_records_are_three_summaries_and_one_conclusion() -> None:
    provider = ScriptedProvider(honest)
    found = await distilled(provider, group(10))
    assert [prompt.purpose for prompt in provider.prompts] == ["distil"] * 3 + ["merge"]
    assert len(found.summaries) == 3
    raws = {memory.memory_id for memory in group(10)}
    assert {ref for summary in found.summaries for ref in summary.ref_ids} == raws
    assert {ref for draft in found.drafts for ref in draft.ref_ids} <= raws


async def test_a_large_group_is_merged_level_by_level_down_to_the_raws() -> None:
    provider = ScriptedProvider(honest)
    records = group(60)
    found = await distilled(provider, records, settings=replace(SETTINGS, max_input_tokens=2000))
    ids = {memory.memory_id for memory in records}
    leaves = {summary.memory_id for summary in found.summaries if set(summary.ref_ids) <= ids}
    above = [summary for summary in found.summaries if summary.memory_id not in leaves]
    assert above
    assert leaves
    known = {summary.memory_id for summary in found.summaries}
    assert all(set(summary.ref_ids) <= known for summary in above)
    assert all(summary.type == "summary" and summary.role is None for summary in found.summaries)


async def test_figures_survive_every_level_though_no_model_repeats_them() -> None:
    def careless(prompt: Prompt) -> str:
        data = data_of(prompt)
        if '{"insights": [' in prompt.user[-60:]:
            return insights(
                *[
                    insight("The deposit was agreed to be 4,271.50 euros", **{"from": [label]})
                    for label, text in data.items()
                    if "4,271.50" in text
                ]
            )
        if prompt.purpose == "distil":
            return notes(*[("A matter of money", [(label, words(text))]) for label, text in data.items()])
        return merge()

    records = group(40)
    records[17] = told(18, "The deposit was agreed: 4,271.50 euros")
    found = await distilled(ScriptedProvider(careless), records)
    assert [draft.ref_ids for draft in found.drafts] == [(records[17].memory_id,)]


async def test_what_a_timer_or_a_harness_said_is_never_shown() -> None:
    provider = ScriptedProvider(honest)
    hidden = [told(8, "nightly heartbeat", "user", "scheduled"), told(9, "be terse", "user", "injected")]
    await distilled(provider, [*hidden, *group(2)])
    assert len(data_of(provider.prompts[0])) == 2
    assert await distilled(ScriptedProvider([]), hidden) == Distilled()
    assert await distilled(ScriptedProvider([]), []) == Distilled()


async def test_notes_copied_from_the_example_are_left_out_and_not_asked_for_again() -> None:
    copy = notes(
        ("The user asks to label every bed in Latin", [("R9001", "label every bed in Latin please")])
    )
    llm = ScriptedProvider([copy, copy, copy])
    found = await distilled(llm, group(10))
    assert found.drafts == found.summaries == ()
    assert found.calls == len(llm.prompts) == 3
    assert set(found.refused) == {"a note was refused: it is the prompt's example"}


async def test_an_unusable_reply_is_asked_for_again_in_halves() -> None:
    def first_prose(prompt: Prompt) -> str:
        return "Sure, here is what I think." if len(data_of(prompt)) == 4 else honest(prompt)

    provider = ScriptedProvider(first_prose)
    found = await distilled(provider, group(4))
    assert [len(data_of(prompt)) for prompt in provider.prompts] == [4, 2, 2]
    assert "one whole JSON object" in provider.prompts[1].user
    assert (found.calls, len(found.drafts)) == (3, 2)


@pytest.mark.parametrize("error", [PromptTooLong("too long"), ReplyUnusable("HTML")])
async def test_a_group_without_any_usable_answer_is_parked(error: PromptTooLong | ReplyUnusable) -> None:
    provider = ScriptedProvider(lambda _: error)
    with pytest.raises(Parked, match="4 records") as caught:
        await distilled(provider, group(4))
    assert caught.value.__cause__ is error
    assert [len(data_of(prompt)) for prompt in provider.prompts] == [4, 2, 1]


async def test_one_giant_is_shown_shorter_each_time() -> None:
    provider = ScriptedProvider(lambda _: PromptTooLong("too long"))
    with pytest.raises(Parked):
        await distilled(provider, [told(1, "a long story " * 90_000)])
    sizes = [cost(prompt) for prompt in provider.prompts]
    assert len(sizes) == SETTINGS.attempts
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= SETTINGS.max_input_tokens


async def test_one_record_is_never_asked_for_twice_in_the_same_words() -> None:
    provider = ScriptedProvider(lambda _: "no JSON")
    with pytest.raises(Parked):
        await distilled(provider, group(1))
    assert len({prompt.user for prompt in provider.prompts}) == SETTINGS.attempts


async def test_a_refusal_parks_the_group_at_once_and_an_outage_is_the_callers() -> None:
    provider = ScriptedProvider([ProviderRefused("401")])
    with pytest.raises(Parked) as caught:
        await distilled(provider, group(4))
    assert isinstance(caught.value.__cause__, ProviderRefused)
    for outage in (ProviderBusy("full"), ProviderUnreachable("no route")):
        with pytest.raises(type(outage)):
            await distilled(ScriptedProvider([outage]), group(4))


async def test_a_merge_without_a_usable_answer_carries_its_notes() -> None:
    def mumbling(prompt: Prompt) -> Answer:
        merging = prompt.purpose == "merge" and '{"insights": [' not in prompt.user[-60:]
        return Reply(text='{"notes": [', stop="length") if merging else honest(prompt)

    found = await distilled(
        ScriptedProvider(mumbling), group(60), settings=replace(SETTINGS, max_input_tokens=2000)
    )
    assert "a merge had no usable answer: its notes were carried as they are" in found.refused
    assert found.drafts


async def test_progress_is_told_and_ends_at_what_was_made() -> None:
    told_: list[tuple[int, int]] = []
    found = await distil(
        ScriptedProvider(honest), group(10), [], SETTINGS, "en", StillClock(NOW),
        lambda made, expected: told_.append((made, expected)),
    )  # fmt: skip
    assert told_ == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert found.calls == 4


async def test_the_same_group_asks_the_same_twice_so_that_the_journal_knows_it() -> None:
    first, second = ScriptedProvider(honest), ScriptedProvider(honest)
    assert await distilled(first, group(30)) == await distilled(second, group(30))
    assert first.prompts == second.prompts


async def test_a_chinese_group_is_asked_in_chinese() -> None:
    provider = ScriptedProvider(honest)
    records = group(10, "第 {n} 号发票在 {n} 日到期")
    found = await distilled(provider, records, language="zh")
    assert "规则" in provider.prompts[0].user
    assert [draft.statement for draft in found.drafts]


@pytest.mark.parametrize("limit", [512, 900, 6000])
async def test_no_request_is_over_the_limit_whatever_there_is(limit: int) -> None:
    provider = ScriptedProvider(honest)
    records = [
        told(n, ("很长的一段话，" if n % 2 else "a long line, ") * (n * n * 40), day=n) for n in range(1, 12)
    ]
    await distilled(provider, records, settings=replace(SETTINGS, max_input_tokens=limit))
    assert max(map(cost, provider.prompts)) <= limit


async def test_calls_grow_no_faster_than_records() -> None:
    calls = []
    for count in (100, 400):
        provider = ScriptedProvider(honest)
        found = await distilled(provider, group(count))
        assert max(map(cost, provider.prompts)) <= SETTINGS.max_input_tokens
        calls.append(found.calls)
    assert calls[1] <= 4.2 * calls[0]
    assert calls[0] <= 100 / 4 * 4 / 3 + 5


LABELS = st.sampled_from(["R1", "R2", "R9", "P1", "P2", "P40", "1", "R1-R4", "x", ""])
TEXTS = st.sampled_from(
    ["the invoice number 3 is due on day 3", "the invoice number 3 is due on day 4 of the month", "is due", "", "Anna", "你好"]
)  # fmt: skip
QUOTES = st.lists(st.fixed_dictionaries({"ref": LABELS, "text": TEXTS}), max_size=3) | TEXTS | st.none()
ITEMS = st.dictionaries(
    st.sampled_from(["text", "statement", "kind"]), TEXTS | st.sampled_from(["preference", "decision"])
)
ENTRIES = st.tuples(ITEMS, QUOTES, st.lists(LABELS, max_size=3)).map(
    lambda parts: parts[0] | {"quotes": parts[1], "from": parts[2]}
)
REPLIES = st.tuples(st.sampled_from(["notes", "insights", "other"]), st.lists(ENTRIES, max_size=5)).map(
    lambda parts: json.dumps({parts[0]: parts[1]})
)


@examples(max_examples=60)
@given(st.lists(REPLIES | TEXTS.filter(bool), min_size=1, max_size=6), st.integers(1, 14))
def test_whatever_a_model_says_drafts_rest_on_records_of_the_input(replies: list[str], count: int) -> None:
    records = group(count)
    asked = ScriptedProvider(lambda prompt: replies[len(prompt.user) % len(replies)])
    with suppress(Parked):
        found = anyio.run(distilled, asked, records)
        known = {memory.memory_id for memory in records}
        assert all(draft.ref_ids and draft.quotes and set(draft.ref_ids) <= known for draft in found.drafts)
        assert {ref for summary in found.summaries for ref in summary.ref_ids} <= known | {
            summary.memory_id for summary in found.summaries
        }
    assert max(map(cost, asked.prompts)) <= SETTINGS.max_input_tokens
    assert len(asked.prompts) <= 8 * count
