from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.dream.promote import independent, lacks, on_purpose, own_words, support, support_of, sweep
from dreamd.memories import Memory
from dreamd.records import Span, Trust
from dreamd.sections import Promote
from tests.dream.settling import PROMOTE, by_id, drafted, dreamt, said, statuses
from tests.dream.told import NOW
from tests.stores.making import summary

TABS = "I prefer tabs for indentation"


def counts(*raws: Memory, statement: str = "") -> tuple[int, int, int]:
    found = support(raws, statement)
    return found.windows, found.tasks, found.records


def insight(statement: str, *raws: Memory, **more: object) -> Memory:
    fields = {"type": "insight", "status": "candidate", "kind": "fact", "trust": Trust.HUMAN}
    return summary(statement, tuple(raw.memory_id for raw in raws), "cat", **(fields | more))


# --- what is independent ---


def test_records_of_two_days_and_two_tasks_count_as_such() -> None:
    assert counts(said(1, TABS), said(2, "Tabs for indentation, please", day=3)) == (2, 2, 2)
    assert counts(said(1, TABS, task="t"), said(2, "Tabs, as I said", task="t")) == (1, 1, 2)


@pytest.mark.parametrize(
    "copy",
    [
        TABS,
        f"  {TABS.upper()}!! ",
        f"> {TABS}",
        f'You wrote: "{TABS}"',
        f"“{TABS}”",
        f"> {TABS}\n> and so on\n",
    ],
    ids=["fork", "dressed up", "quoted", "cited", "in quotation marks", "quoted with more"],
)
def test_a_copy_fork_or_quotation_is_no_second_record(copy: str) -> None:
    assert counts(said(1, TABS), said(2, copy, day=5), statement=TABS) == (1, 1, 1)


def test_of_copies_the_first_counts_with_its_day() -> None:
    first, other = said(1, TABS, day=2), said(2, "Indentation is with tabs", day=2, task="task-1")
    assert counts(said(9, TABS, day=8), other, first) == (1, 1, 2)


def test_what_one_line_of_a_log_holds_is_one_record() -> None:
    place = Span("log", 100, 50)
    parts = [replace(said(1, TABS), span=place), replace(said(2, "Tabs, I say", day=3), span=place)]
    assert counts(*parts) == (1, 1, 1)
    assert counts(parts[0], replace(parts[1], span=Span("log", 200, 50))) == (2, 2, 2)


def test_the_echo_of_an_agent_is_none_but_what_it_found_first_is_one() -> None:
    human, echo = (
        said(2, TABS, day=2),
        said(3, "Noted: you prefer tabs for indentation", day=4, role="assistant"),
    )
    assert counts(human, echo) == (1, 1, 1)
    found = said(1, "The build needs version 3", day=1, role="assistant")
    assert counts(found, said(5, "So the build needs version 3", day=3)) == (2, 2, 2)


@pytest.mark.parametrize(
    "raw",
    [
        said(2, TABS, day=3, role="tool", origin="tool"),
        said(2, TABS, day=3, origin="injected"),
        said(2, TABS, day=3, origin="scheduled"),
        said(2, TABS, day=3, origin="subagent"),
        said(2, f"[dreamd:distil] {TABS}", day=3),
        summary(TABS, ("a",), "cat", trust=Trust.HUMAN),
        said(2, "> only a quotation", day=3),
    ],
    ids=["tool", "injected", "scheduled", "subagent", "dreamd's own", "derived", "empty"],
)
def test_text_that_nobody_stands_for_does_not_vote(raw: Memory) -> None:
    assert counts(said(1, TABS), raw) == (1, 1, 1)


def test_only_records_that_bear_the_statement_out_vote_for_it() -> None:
    about, other = said(1, TABS), said(2, "The rent is due on March 3", day=3)
    assert counts(about, other, statement=TABS) == (1, 1, 1)
    assert counts(about, said(3, "I prefer spaces, never tabs", day=4), statement=TABS) == (1, 1, 1)


def test_a_preference_is_seen_in_the_humans_words_alone() -> None:
    agent = [said(n, f"The user prefers tabs, {n}", day=n, role="assistant") for n in (2, 3)]
    assert support(agent, "The user prefers tabs", "preference").records == 0
    assert support(agent).records == 2


@given(st.permutations([said(n, f"tabs {n % 3}", day=n % 4 + 1, task=f"t{n % 2}") for n in range(8)]))
def test_the_order_of_records_does_not_matter(raws: list[Memory]) -> None:
    assert support(raws) == support(sorted(raws, key=lambda raw: raw.seq))
    assert len({raw.content for raw in independent(raws)}) == len(independent(raws))


RAWS = st.lists(
    st.builds(
        lambda n, text, day, task, role: said(n, f"I use {text} for indentation", day=day, task=task, role=role),
        st.integers(0, 99), st.sampled_from(["tabs", "tabs only", "tabs, yes"]), st.integers(1, 4),
        st.sampled_from("abc"), st.sampled_from(["user", "user", "assistant"]),
    ),
    max_size=6, unique_by=lambda raw: raw.memory_id,
)  # fmt: skip


@given(RAWS, st.sampled_from(["tabs", "tabs always", "tabs only"]), st.sampled_from("abcd"))
def test_later_evidence_never_takes_a_promotion_away(raws: list[Memory], text: str, task: str) -> None:
    statement = "I use tabs for indentation"
    before = support(raws, statement)
    more = support([*raws, said(100, f"I use {text} for indentation", day=9, task=task)], statement)
    assert (more.windows, more.tasks, more.records) >= (before.windows, before.tasks, before.records)
    passed = not lacks(insight(statement), before, PROMOTE)
    assert not passed or not lacks(insight(statement), more, PROMOTE)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("> you said so\nI did", " \nI did"),
        ('He says "I hate red charts" often', "He says   often"),
        ('Use "tabs" here', 'Use "tabs" here'),
        ("你说过“我喜欢简短的回答”吗", "你说过 吗"),
        ("it's the user's", "it's the user's"),
    ],
)
def test_own_words_are_what_is_not_quoted(text: str, own: str) -> None:
    assert own_words(text) == own


# --- said on purpose ---


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Remember: I am allergic to peanuts.", "I am allergic to peanuts"),
        ("From now on answer in German.", "answer in German"),
        ("记住，我不吃香菜", "我不吃香菜"),
        ("以后回答请简短", "回答请简短"),
    ],
)
def test_what_the_human_says_to_be_remembered_passes_at_once(text: str, statement: str) -> None:
    raw = said(1, text)
    assert on_purpose(raw, statement)
    assert lacks(insight(statement, raw), support([raw], statement), PROMOTE) == ()


@pytest.mark.parametrize(
    "raw",
    [
        said(1, "Remember: I am allergic to peanuts.", role="assistant"),
        said(1, "Remember: I am allergic to peanuts.", role="tool", origin="tool"),
        said(1, "Remember: I am allergic to peanuts.", origin="injected"),
        replace(said(1, "Remember: I am allergic to peanuts."), trust=Trust.AGENT),
        said(1, 'The page says "Remember: I am allergic to peanuts."'),
        said(1, "> Remember: I am allergic to peanuts."),
        said(1, "Did I say: remember I am allergic to peanuts?"),
        said(1, "I am allergic to peanuts."),
        said(1, "Remember: I am not allergic to peanuts."),
    ],
)
def test_nobody_else_and_nothing_else_passes_at_once(raw: Memory) -> None:
    assert not on_purpose(raw, "I am allergic to peanuts")


# --- the gate ---


def test_what_is_lacking_is_said_in_sentences() -> None:
    one = insight(TABS, kind="preference")
    assert lacks(one, support([said(1, TABS)], TABS), Promote(min_records=3)) == (
        "seen in 1 day, needs 2", "seen in 1 task, needs 2", "seen in 1 independent record, needs 3",
    )  # fmt: skip
    assert lacks(one, support([]), PROMOTE) == ("no record of the human's own words states it",)
    fact = insight("The build needs version 3")
    assert lacks(fact, support([]), PROMOTE) == ("no record that can be trusted states it by itself",)
    two = support([said(1, TABS), said(2, "Tabs for indentation", day=3)], TABS)
    assert lacks(one, two, PROMOTE) == ()
    assert lacks(insight("the key is [redacted:api-key]"), two, PROMOTE) == (
        "it holds the mark of a removed secret",
    )


def test_a_hurry_twice_in_one_day_is_no_preference_and_a_budget_over_three_days_is_a_fact() -> None:
    hurry = [said(1, "Hurry up please"), said(2, "Please hurry up, I am in a rush")]
    assert "long_term" not in statuses(dreamt(hurry)).values()
    budget = [
        said(3, "Our budget is limited.", day=2), said(4, "Keep in mind that the budget is limited", day=3),
        said(5, "The budget is limited, take the cheaper one", day=4),
    ]  # fmt: skip
    (found,) = [one for one in dreamt(budget).values() if one.status == "long_term"]
    assert set(found.ref_ids) == {raw.memory_id for raw in budget}


# --- the sweep ---


def test_the_sweep_promotes_what_passes_whenever_its_evidence_came() -> None:
    raws = [said(1, TABS), said(2, "Use tabs for indentation", day=3)]
    waiting, poor = insight(TABS, *raws), insight(TABS, raws[0])
    (changed,) = sweep([waiting], by_id(*raws), PROMOTE, NOW)
    assert (changed.status, changed.windows, changed.tasks, changed.origins) == ("long_term", 2, 2, 2)
    assert sweep([changed], by_id(*raws), PROMOTE, NOW) == []
    assert [one.status for one in sweep([poor], by_id(*raws), PROMOTE, NOW)] == ["candidate"]


def test_the_sweep_leaves_what_was_superseded_archived_or_forgotten() -> None:
    raws = [said(1, TABS), said(2, "Use tabs for indentation", day=3)]
    for status in ("superseded", "archived", "withdrawn", "forgotten"):
        assert sweep([insight(TABS, *raws, status=status)], by_id(*raws), PROMOTE, NOW) == []


def test_what_passed_on_withdrawn_evidence_goes_back_and_what_has_none_is_archived() -> None:
    raws = [said(1, TABS), said(2, "Use tabs for indentation", day=3)]
    counted = {"status": "long_term", "windows": 2, "tasks": 2, "origins": 2}
    passed, pinned = insight(TABS, *raws, **counted), insight(TABS, *raws, pinned=True, **counted)
    assert [one.status for one in sweep([passed, pinned], by_id(raws[0]), PROMOTE, NOW)] == [
        "candidate",
        "long_term",
    ]
    assert [one.status for one in sweep([passed], {}, PROMOTE, NOW)] == ["archived"]


def test_stricter_thresholds_take_nothing_back() -> None:
    raws = [said(1, TABS), said(2, "Use tabs for indentation", day=3)]
    (passed,) = sweep([insight(TABS, *raws)], by_id(*raws), PROMOTE, NOW)
    assert sweep([passed], by_id(*raws), Promote(min_tasks=3), NOW + timedelta(days=1)) == []
    assert support_of(passed, by_id(*raws)).records == 2


# --- what was moved to an archive ---


def moved_away(raw: Memory, how: str) -> Memory:
    return replace(raw, status="archived", content="") if how == "archive" else replace(raw, content="")


@pytest.mark.parametrize("how", ["archive", "retention"])
def test_what_was_moved_away_still_supports_its_insight(how: str) -> None:
    raws = [
        said(1, TABS),
        said(2, "Tabs for indentation, please", day=3),
        said(3, "As always, tabs for indentation", day=4),
    ]
    known = dreamt(raws)
    for count in (1, 2, 3):
        away = [moved_away(raw, how) if at < count else raw for at, raw in enumerate(raws)]
        assert sweep(known.values(), by_id(*away), PROMOTE, NOW) == []


def test_what_was_moved_away_votes_for_no_more_than_it_did_and_what_is_withdrawn_beside_it_counts() -> None:
    raws = [said(1, TABS), said(2, "Tabs for indentation, please", day=3)]
    (known,) = dreamt(raws).values()
    assert known.status == "long_term"
    (lonely,) = sweep([known], by_id(moved_away(raws[0], "archive")), PROMOTE, NOW)
    assert (lonely.status, lonely.windows, lonely.origins) == ("candidate", 1, 1)
    once = replace(known, windows=1, tasks=1, origins=1, status="candidate")
    away = by_id(*(moved_away(raw, "archive") for raw in raws))
    assert sweep([once], away, PROMOTE, NOW) == []


def test_new_evidence_beside_what_was_moved_away_is_added_to_it() -> None:
    raws = [said(1, TABS), said(2, "Tabs for indentation, please", day=3)]
    known = dreamt(raws)
    later = said(9, "As always, tabs for indentation", day=6)
    away = [moved_away(raw, "archive") for raw in raws]
    (grown,) = dreamt([*away, later], known, drafted(later)).values()
    assert (grown.status, grown.windows, grown.origins) == ("long_term", 2, 2)
    assert len(grown.ref_ids) == 3
