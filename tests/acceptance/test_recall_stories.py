"""The stories that recall was asked for: a real dream without an LLM, then a goal, in English and Chinese.

Monday's "I hate red" comes on Thursday with the T-shirt; haste of one day is no preference, a wish for speed that passed the
gate is; a limited budget of three days is in the third day's recall.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.indexes.sqlite import OPEN
from dreamd.recall.answer import Recalled
from dreamd.recall.recalling import recall
from tests.acceptance.test_dream_stories import BUDGET, HURRY, QUIET, Cat


class Asker(Cat):
    """Whom somebody asks for something on a later day."""

    def __init__(self, state: Path) -> None:
        super().__init__(state)
        self.index = OPEN(state)
        self.parts = replace(self.parts, index=self.index)

    async def asked(self, day: int, goal: str) -> Recalled:
        self.clock.at = self.clock.at.replace(day=2, hour=15) + timedelta(days=day)
        return await recall(self.parts, goal)


@pytest.fixture
def cat(tmp_path: Path) -> Iterator[Asker]:
    made = Asker(tmp_path)
    yield made
    made.index.close()


@pytest.mark.parametrize(
    ("said", "goal", "word"),
    [("I hate red.", "help me pick a T-shirt", "red"), ("我讨厌红色。", "帮我挑一件T恤", "红色")],
)
async def test_mondays_hatred_of_red_comes_on_thursday_with_the_t_shirt(
    cat: Asker, said: str, goal: str, word: str
) -> None:
    cat.hears(0, "monday", said)
    await cat.night()
    cat.hears(1, "tuesday", "Thanks, that looks good.")
    await cat.night()
    answer = await cat.asked(3, goal)
    assert [word in one.statement for one in answer.insights] == [True]
    assert answer.insights[0].matched == ("standing",)
    assert word in answer.text


FAST = {
    "en": ("I prefer fast delivery.", "As I said, I prefer fast delivery.", "suggest a time for the parcel"),
    "zh": ("我喜欢送货快的方案。", "还是那句话，我喜欢送货快的方案。", "给包裹建议一个配送时间"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_haste_of_one_day_is_not_recalled_as_a_preference(cat: Asker, language: str) -> None:
    for task, text in zip(("morning", "noon"), HURRY[language], strict=True):
        cat.hears(0, task, text)
    await cat.night()
    answer = await cat.asked(21, FAST[language][2])
    assert answer.insights == ()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_wish_for_speed_that_passed_the_gate_comes_weeks_later(cat: Asker, language: str) -> None:
    *wishes, goal = FAST[language]
    for day, wish in enumerate(wishes):
        cat.hears(day, f"order {day}", HURRY[language][day])
        cat.hears(day, f"order {day}", wish)
        await cat.night()
    answer = await cat.asked(21, goal)
    assert ("long_term", True) in [(one.status, one.statement in wishes[0]) for one in answer.insights]


GOALS = {"en": "draft an offer for the new requirements", "zh": "为新需求起草方案"}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_limited_budget_of_the_days_before_is_in_the_third_days_recall(
    cat: Asker, language: str
) -> None:
    for day, text in enumerate(BUDGET[language][:2]):
        cat.hears(day, f"request {day}", text)
        cat.hears(day, f"request {day}", QUIET[language])
        await cat.night()
    answer = await cat.asked(2, GOALS[language])
    (known,) = [one for one in answer.insights if "budget" in one.statement or "预算" in one.statement]
    assert known.status == "long_term"
    assert known.statement in answer.text
