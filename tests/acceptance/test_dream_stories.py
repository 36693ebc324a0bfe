"""The stories that the dream was asked for, told to the real dream without an LLM, in English and Chinese.

"Hurry" twice in a day is no preference; "limited budget" over three days is one and names its sources; whoever asks where
a preference comes from sees order, chat and setting; what contradicts is flagged, never overwritten.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.deep_dream.evidence import Node, of_memory
from dreamd.dream.phase import dream
from dreamd.dream.standing import standings
from dreamd.events import silent
from dreamd.memories import Memory, raw_id
from dreamd.parts import Parts
from dreamd.records import Origin, Role, Span, Trace, Trust, trust_of
from dreamd.sections import Agent
from dreamd.stores.base import Changes, MemoryQuery
from dreamd.stores.inmemory import InMemoryStore

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Cat:
    """An agent whose records go straight into the pool; `night` dreams in the evening of the last day spoken of."""

    def __init__(self, state: Path) -> None:
        self.store = InMemoryStore()
        self.clock = StillClock(MONDAY)
        self.parts = Parts(
            config=Config(agents={"cat": Agent(zone="UTC")}),
            state=state,
            store=self.store,
            clock=self.clock,
            emit=silent,
        )
        self.count = 0

    def hears(
        self, day: int, task: str, text: str, role: Role = "user", origin: Origin = "human", **more: object
    ) -> str:
        self.count += 1
        at = MONDAY + timedelta(days=day, minutes=self.count)
        fields: dict[str, object] = {
            "memory_id": raw_id("cat", str(self.count)), "type": "raw", "content": text, "agent": "cat",
            "window": at.date(), "received_at": at, "timestamp": at, "session_id": task, "task_id": task,
            "role": role, "origin": origin, "trust": trust_of(role, origin), "span": Span("log", self.count * 100, 100),
        }  # fmt: skip
        memory = Memory(**(fields | more))  # type: ignore[arg-type]
        self.store.write(Changes(memories=(memory,)))
        self.clock.at = at.replace(hour=23)
        return memory.memory_id

    async def night(self) -> None:
        await dream(self.parts, "cat")

    def insights(self, *statuses: str) -> list[Memory]:
        found = self.store.memories(MemoryQuery(types=("insight",)))
        return [insight for insight in found if not statuses or insight.status in statuses]

    def why(self, insight: Memory) -> Node:
        return of_memory(self.parts, insight, lambda _span, _path: "gone")

    def lacks(self, insight: Memory) -> str:
        known = standings(self.store, "cat", self.parts.config, self.clock.now())
        return " ".join(next(one.lacks for one in known if one.insight.memory_id == insight.memory_id))


@pytest.fixture
def cat(tmp_path: Path) -> Cat:
    return Cat(tmp_path)


def records(node: Node) -> list[str]:
    """The ids of the records under a node."""
    below = [one for child in node.rests_on for one in records(child)]
    return ([node.memory_id] if node.kind == "record" else []) + below


HURRY = {"en": ("Hurry up please.", "I'm in a hurry, faster!"), "zh": ("快一点。", "我赶时间，快一点！")}
BUDGET = {
    "en": (
        "Our budget is limited, so show me the cheaper plan.",
        "Remember that we are on a limited budget here.",
        "That is too expensive, the budget is limited.",
    ),
    "zh": ("我们的预算有限，先看便宜的方案。", "这个方案太贵了，预算有限。", "新的材料也一样，预算很有限。"),
}
QUIET = {"en": "Thanks, that looks good.", "zh": "谢谢，看起来不错。"}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_hurry_twice_in_one_day_is_no_preference(cat: Cat, language: str) -> None:
    for task, text in zip(("morning", "noon"), HURRY[language], strict=True):
        cat.hears(0, task, text)
    await cat.night()
    for day in (1, 2, 3):
        cat.hears(day, f"day {day}", QUIET[language])
        await cat.night()
    assert cat.insights("long_term", "candidate") == []
    assert all("day" in cat.lacks(insight) for insight in cat.insights())


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_limited_budget_over_three_days_is_known_and_names_its_three_sources(
    cat: Cat, language: str
) -> None:
    said = []
    for day, text in enumerate(BUDGET[language]):
        said.append(cat.hears(day, f"request {day}", text))
        cat.hears(day, f"request {day}", QUIET[language])
        await cat.night()
    (known,) = cat.insights("long_term")
    assert "budget" in known.content or "预算" in known.content
    assert sorted(records(cat.why(known))) == sorted(said)
    assert (known.windows, known.tasks, known.origins) == (3, 3, 3)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_by_the_third_day_two_days_were_enough_to_know_it(cat: Cat, language: str) -> None:
    for day, text in enumerate(BUDGET[language][1:] if language == "zh" else BUDGET[language][::2]):
        cat.hears(day, f"request {day}", text)
        await cat.night()
    assert len(cat.insights("long_term")) == 1


FULLER = {
    "en": (
        ("Make me a shopping list, the budget is limited, at most 800 euros a month.", "Please find an air fryer, the budget is limited.",
         "What shall I cook for my friends? The budget is still limited."),
        "800",
    ),
    "zh": (
        ("帮我列这周的采购清单，预算有限，每月不超过 800 元。", "想买一台空气炸锅，别忘了预算有限。", "周末请 6 个朋友吃饭，怎么准备？预算还是有限。"),
        "800",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_figure_that_only_one_day_names_is_no_veto_and_is_laid_into_nobodys_mouth(
    cat: Cat, language: str
) -> None:
    texts, figure = FULLER[language]
    said = []
    for day, text in enumerate(texts):
        said.append(cat.hears(day, f"request {day}", text))
        await cat.night()
    (known,) = cat.insights("long_term")
    assert figure not in known.content
    assert sorted(records(cat.why(known))) == sorted(said)
    (exact,) = cat.insights("candidate")
    assert figure in exact.content
    assert exact.ref_ids == (said[0],)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_hurry_on_two_days_in_two_tasks_comes_back_and_is_known(cat: Cat, language: str) -> None:
    cat.hears(0, "one", HURRY[language][0])
    await cat.night()
    assert [one.status for one in cat.insights()] == ["archived"]
    cat.hears(1, "two", {"en": "Now hurry up!", "zh": "请快一点"}[language])
    await cat.night()
    assert "archived" not in [one.status for one in cat.insights()]


MOVED = {
    "en": ("We release version 1.4 on March 13.", "The release of 1.4 moves from March 13 to March 20, the translations are late."),
    "zh": ("1.4版定在3月13日发布。", "1.4版的发布从3月13日推迟到3月20日，翻译还没好。"),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_date_that_the_human_moved_stays_as_history_beside_the_new_one(
    cat: Cat, language: str
) -> None:
    for day, text in enumerate(MOVED[language]):
        cat.hears(day, f"day {day}", text)
        await cat.night()
    (old,) = cat.insights("superseded")
    (new,) = cat.insights("candidate")
    assert "13" in old.content
    assert "20" in new.content
    assert old.valid_until is not None
    assert [(pair.left_id, pair.right_id) for pair in cat.store.contradictions("cat")] == [
        (old.memory_id, new.memory_id)
    ]


COURIER = {
    "en": (
        "I prefer SF Express for parcels.",
        "Parcels to me should come with SF Express.",
        "SF Express, 3 parcels",
    ),
    "zh": ("寄快递我喜欢用顺丰。", "寄快递还是用顺丰吧，我习惯了。", "顺丰，3件"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_where_a_preference_comes_from_can_be_told_and_an_order_log_alone_makes_none(
    cat: Cat, language: str
) -> None:
    setting, tone, order = COURIER[language]
    trace = Trace(arguments=order, result=order)
    log = [
        cat.hears(day, f"order {day}", "", "tool", "tool", tool="place_order", ok=True, trace=trace)
        for day in (0, 1, 2)
    ]
    await cat.night()
    assert cat.insights() == []
    chat = cat.hears(3, "chat", tone)
    await cat.night()
    assert cat.insights("long_term") == []
    settings = cat.hears(5, "settings", setting)
    await cat.night()
    (known,) = cat.insights("long_term")
    sources = records(cat.why(known))
    assert {chat, settings} <= set(sources)
    assert known.trust is Trust.HUMAN
    assert not set(log) & set(sources)
    told = cat.why(known).rests_on
    assert {node.role for node in told} == {"user"}
    assert {node.text for node in told} == {setting, tone}


OPPOSED = {
    "en": ("The API allows 100 requests per minute.", "Our API allows 100 requests per minute, no more.", "The API allows 250 requests per minute."),
    "zh": ("接口每分钟允许100次请求。", "我们的接口每分钟允许100次请求。", "接口每分钟允许250次请求。"),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_contradicts_is_flagged_with_both_sides_and_overwrites_nothing(
    cat: Cat, language: str
) -> None:
    for day, text in enumerate(OPPOSED[language]):
        cat.hears(day, f"task {day}", text)
        await cat.night()
    left = next(insight for insight in cat.insights() if "100" in insight.content)
    right = next(insight for insight in cat.insights() if "250" in insight.content)
    assert left.status == "long_term"
    assert right.status == "candidate"
    assert left.contradictions_flag
    assert right.contradictions_flag
    (pair,) = cat.store.contradictions("cat")
    assert {pair.left_id, pair.right_id} == {left.memory_id, right.memory_id}
    assert "100" in pair.reason
    assert "250" in pair.reason


CORRECTED = {
    "en": ("The grant deadline is March 13.", "The deadline for the grant is March 13.", "No, the grant deadline is March 20, not March 13."),
    "zh": ("基金申请的截止日期是3月13日。", "基金申请的截止日期还是3月13日。", "不对，基金申请的截止日期是3月20日，不是3月13日。"),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_correction_supersedes_and_the_old_one_stays_as_history(cat: Cat, language: str) -> None:
    for day, text in enumerate(CORRECTED[language]):
        cat.hears(day, f"task {day}", text)
        await cat.night()
    old = next(insight for insight in cat.insights() if insight.status == "superseded")
    assert "13" in old.content
    assert old.valid_from
    assert old.valid_until
    assert old.valid_from.date() == MONDAY.date()
    live = cat.insights("candidate", "long_term")
    assert [insight for insight in live if "20" in insight.content]
    assert not [insight for insight in live if "20" not in insight.content]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_night_without_news_changes_nothing(cat: Cat, language: str) -> None:
    for day, text in enumerate(BUDGET[language]):
        cat.hears(day, f"request {day}", text)
        await cat.night()
    before = cat.insights()
    await cat.night()
    assert cat.insights() == before
