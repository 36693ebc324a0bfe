from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.dream.draft import Draft
from dreamd.memories import Memory
from dreamd.records import Trust
from dreamd.sections import Dream
from dreamd.stores.base import Contradiction
from tests.dream.settling import after, by_id, drafted, dreamt, said, settled, statuses
from tests.dream.told import NOW, draft

WORDS = [
    "Use tabs for indentation in this repository.", "I want tabs for indentation.", "Indentation is always tabs in my code.",
    "I hate red in charts.", "I don't like red charts.", "I like red charts.", "I hate blue charts.",
    "The grant deadline is March 13.", "No, the grant deadline is March 20, not March 13.", "The grant deadline is March 20.",
    "Our budget is limited, so nothing fancy.", "Keep in mind that the budget is limited.", "Remember: I never eat pork.",
    "I eat fish.", "No fish, I don't eat fish.", "我不吃香菜。", "点菜别放香菜，我不吃。", "以后回答请简短。", "你的回答要简短。",
    "周会9点开始。", "其实周会10点45分开始，不是9点。",
]  # fmt: skip
SAYINGS = st.lists(
    st.builds(
        lambda n, text, day, task: said(n, text, day=day, task=task),
        st.integers(0, 30), st.sampled_from(WORDS), st.integers(1, 6), st.sampled_from(["a", "b", "c"]),
    ),
    max_size=8, unique_by=lambda raw: raw.memory_id,
)  # fmt: skip


def content(insights: Sequence[Memory]) -> list[str]:
    return [insight.content for insight in insights]


# --- same, new ---


def test_the_same_in_other_words_is_one_insight_with_all_the_evidence() -> None:
    raws = [said(1, WORDS[0], day=2), said(2, WORDS[1], day=3), said(3, WORDS[2], day=4)]
    (one,) = settled(drafted(*raws), raws).new
    assert set(one.ref_ids) == {raw.memory_id for raw in raws}
    assert (one.windows, one.tasks, one.origins) == (3, 3, 3)


def test_the_same_across_dreams_is_one_insight() -> None:
    first, second = said(1, WORDS[0], day=2), said(2, WORDS[1], day=3)
    known = dreamt([first])
    result = settled(drafted(second), [first, second], known.values())
    assert result.new == ()
    (one,) = result.changed
    assert (one.memory_id, one.origins) == (next(iter(known)), 2)
    assert "long_term" in statuses(dreamt([first, second], known, drafted(second))).values()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The staging server has 16 GB", "The staging server has 64 GB"),
        ("I hate red charts", "I hate blue charts"),
        ("I like red charts", "I don't like red charts"),
        ("My manager is Ingrid Halvorsen", "My manager is Anna Keller"),
        ("我不吃香菜", "我不吃猪肉"),
    ],
)
def test_what_differs_in_a_number_a_name_a_denial_or_a_word_stays_two(left: str, right: str) -> None:
    raws = [said(1, left, day=2), said(2, right, day=3)]
    found = [draft(raw.content, raw) for raw in raws]
    assert sorted(content(settled(found, raws).new)) == sorted((left, right))


def test_a_draft_without_a_record_that_is_there_is_none() -> None:
    raw = said(1, WORDS[0])
    result = settled(drafted(raw), [])
    assert (result.new, result.held_back) == ((), ("a draft names no record that is there",))
    secret = draft("The key is [redacted:api-key]", raw)
    assert settled([secret], [raw]).new == ()


def test_a_weak_draft_adds_nothing_to_what_is_known() -> None:
    raws = [said(1, WORDS[0], day=2), said(2, "something about tabs", day=3)]
    known = dreamt([raws[0]])
    weak = draft("Use tabs for indentation", raws[1], weak=True, kind="preference", confidence=0.2)
    assert settled([weak], raws, known.values()).changed == ()
    (alone,) = settled([weak], raws).new
    assert (alone.status, alone.confidence, alone.origins) == ("candidate", 0.2, 0)


def test_untrusted_text_lends_nothing_to_a_humans_word_and_gains_nothing_from_it() -> None:
    tool = said(1, "I prefer tabs for indentation", day=2, role="tool", origin="tool")
    human = said(2, "I want tabs for indentation", day=3)
    found = [draft(raw.content, raw, kind="preference") for raw in (tool, human)]
    for order in (found, found[::-1]):
        (one,) = settled(order, [tool, human]).new
        assert (one.ref_ids, one.trust, one.origins) == ((human.memory_id,), Trust.HUMAN, 1)
    (lone,) = settled(found[:1], [tool]).new
    assert (lone.trust, lone.origins) == (Trust.UNTRUSTED, 0)


# --- contradictions ---


def test_both_sides_of_a_contradiction_are_kept_flagged_and_linked() -> None:
    raws = [said(1, "I eat fish.", day=2), said(2, "No fish, I don't eat fish.", day=3)]
    known = dreamt(raws[:1])
    result = settled(drafted(raws[1]), raws, known.values())
    (left,), (right,) = result.changed, result.new
    assert result.contradictions == (
        Contradiction(
            agent="cat", left_id=left.memory_id, right_id=right.memory_id,
            reason="one denies what the other says", at=NOW,
        ),
    )  # fmt: skip
    assert left.contradictions_flag
    assert right.contradictions_flag
    assert (left.content, left.status, left.ref_ids) == ("I eat fish", "candidate", (raws[0].memory_id,))
    assert left.confidence < next(iter(known.values())).confidence
    assert result.superseded == ()


def test_a_contradiction_is_found_by_any_wording_of_today() -> None:
    raws = [
        said(1, "The API limit is 100 requests per minute", day=2),
        said(2, "The limit of the API is 250 requests per minute", day=3),
    ]
    found = [draft(raw.content, raw) for raw in raws]
    assert len(settled(found, raws).contradictions) == 1


# --- corrections ---

PUT_RIGHT = [
    said(1, "The grant deadline is March 13.", day=2), said(2, "The deadline for the grant is March 13.", day=3),
    said(3, "No, the grant deadline is March 20, not March 13.", day=5),
]  # fmt: skip


def test_a_correction_supersedes_with_its_successor_in_the_same_result() -> None:
    known = dreamt(PUT_RIGHT[:2])
    result = settled(drafted(PUT_RIGHT[2]), PUT_RIGHT, known.values())
    (old,), (new,) = result.superseded, result.new
    assert (old.status, old.valid_until, old.contradictions_flag) == (
        "superseded",
        PUT_RIGHT[2].happened,
        True,
    )
    assert set(old.ref_ids) == {raw.memory_id for raw in PUT_RIGHT[:2]}
    assert "March 20" in new.content
    assert new.status == known[old.memory_id].status
    assert len(result.contradictions) == 1


def test_old_words_read_late_do_not_revive_what_was_superseded() -> None:
    known = dreamt(PUT_RIGHT)
    late = said(9, "The grant deadline is March 13, mind that.", day=4)
    result = settled(drafted(late), [*PUT_RIGHT, late], known.values())
    assert (result.new, result.changed, result.superseded) == ((), (), ())


def test_new_words_for_what_was_superseded_are_a_new_insight() -> None:
    known = dreamt(PUT_RIGHT)
    again = said(9, "No, the grant deadline is March 13 again, not March 20.", day=8)
    result = settled(drafted(again), [*PUT_RIGHT, again], known.values())
    (new,), (old,) = result.new, result.superseded
    assert ("March 13" in new.content, "March 20" in old.content) == (True, True)
    assert sorted(statuses(after(result, known.values())).values()).count("superseded") == 2


# --- no more than a dream may do ---


def many(number: int, day: int = 2) -> list[Memory]:
    return [said(n, f"Our tool number{n}x costs {n + 100} euros", day=day) for n in range(number)]


def test_new_insights_beyond_the_cap_wait_and_come_with_the_next_dream() -> None:
    raws = many(7)
    found = [draft(raw.content, raw) for raw in raws]
    known: dict[str, Memory] = {}
    for news in (3, 3, 1, 0):
        result = settled(found, raws, known.values(), Dream(max_new=3))
        assert len(result.new) == news
        waits = {raw.memory_id for raw in raws} - {
            ref for one in (*known.values(), *result.new) for ref in one.ref_ids
        }
        assert result.waiting == waits
        assert bool(result.waits) == bool(waits)
        known = after(result, known.values())


def test_what_is_best_supported_or_said_on_purpose_goes_first() -> None:
    raws = [*many(5), said(20, "Remember: I never eat pork.")]
    found = [*(draft(raw.content, raw) for raw in raws[:5]), *drafted(raws[5])]
    (first,) = settled(found, raws, dream=Dream(max_new=1)).new
    assert "pork" in first.content


def test_changes_beyond_the_cap_wait_and_come_with_the_next_dream() -> None:
    raws = many(4)
    known = by_id(*settled([draft(raw.content, raw) for raw in raws], raws).new)
    more = [replace(said(n + 50, f"As said, {raw.content}", day=4)) for n, raw in enumerate(raws)]
    found = [draft(raw.content, one) for raw, one in zip(raws, more, strict=True)]
    for changes in (3, 1, 0):
        result = settled(found, [*raws, *more], known.values(), Dream(max_changed=3))
        assert len(result.changed) == changes
        assert len(result.waiting) == (1 if changes == 3 else 0)
        known = after(result, known.values())
    assert all(one.origins == 2 for one in known.values())


def test_corrections_beyond_the_cap_wait_and_come_with_the_next_dream() -> None:
    first = [said(n, f"The room for team{n}x is number {n + 10}.", day=2) for n in range(3)]
    then = [
        said(n + 50, f"No, the room for team{n}x is number {n + 30}, not number {n + 10}.", day=5)
        for n in range(3)
    ]
    found = [draft(raw.content.rstrip("."), raw) for raw in (*first, *then)]
    known: dict[str, Memory] = {}
    for total in (1, 2, 3, 3):
        result = settled(found, [*first, *then], known.values(), Dream(max_superseded=1))
        known = after(result, known.values())
        assert list(statuses(known).values()).count("superseded") == total
        assert bool(result.waits) == (total < 3)


@pytest.mark.parametrize(
    ("insights", "share", "most"), [(4, 0.05, 1), (39, 0.05, 1), (60, 0.05, 3), (30, 0.5, 10)]
)
def test_a_dream_supersedes_ten_and_five_percent_at_most_and_one_always(
    insights: int, share: float, most: int
) -> None:
    count = (insights + 1) // 2
    old = [said(n, f"The room for team{n}x is number {n + 1000}.", day=2) for n in range(count)]
    new = [
        said(n + 500, f"No, the room for team{n}x is number {n + 3000}, not number {n + 1000}.", day=5)
        for n in range(insights - count)
    ]
    found = [draft(raw.content.rstrip("."), raw) for raw in (*old, *new)]
    settings = Dream(max_new=1000, max_contradictions=1000, max_superseded_share=share)
    result = settled(found, [*old, *new], dream=settings)
    assert list(statuses(after(result)).values()).count("superseded") == min(most, insights - count)


def test_what_a_person_puts_right_does_not_wait_for_ever_however_few_insights_there_are() -> None:
    first = [said(n, f"The room for team{n}x is number {n + 10}.", day=2) for n in range(2)]
    then = [
        said(n + 50, f"No, the room for team{n}x is number {n + 30}, not number {n + 10}.", day=5)
        for n in range(2)
    ]
    raws = [*first, *then]
    known = after(settled([draft(raw.content.rstrip("."), raw) for raw in raws], raws))
    assert list(statuses(known).values()).count("superseded") == 1
    known = after(settled([], raws, known.values()), known.values())
    assert list(statuses(known).values()).count("superseded") == 2


def test_thirty_that_all_contradict_each_other_are_all_flagged_and_linked_a_few_at_a_time() -> None:
    raws = [said(n, f"The API limit is {n + 100} requests per minute", day=2) for n in range(30)]
    result = settled([draft(raw.content, raw) for raw in raws], raws)
    assert all(one.contradictions_flag for one in result.new)
    assert len(result.contradictions) == Dream().max_contradictions
    assert result.late == 30 * 29 // 2 - len(result.contradictions)
    assert any("contradiction" in told for told in result.waits)
    more = settled([], raws, after(result).values(), linked=result.contradictions)
    assert len(more.contradictions) == Dream().max_contradictions
    assert not {*map(sides, more.contradictions)} & {*map(sides, result.contradictions)}
    assert more.late == result.late - len(more.contradictions)


def sides(pair: Contradiction) -> frozenset[str]:
    return frozenset((pair.left_id, pair.right_id))


def test_a_word_of_the_moment_is_put_away_and_comes_back_on_another_day() -> None:
    first, same_day, later = (
        said(1, "hurry up", day=2),
        said(2, "Now hurry up!", day=2),
        said(3, "So, hurry up please", day=3),
    )
    known = dreamt([first])
    assert [one.status for one in known.values()] == ["archived"]
    known = dreamt([first, same_day], known, drafted(same_day))
    assert [one.status for one in known.values()] == ["archived"]
    known = dreamt([first, same_day, later], known, drafted(later))
    assert [one.status for one in known.values()] == ["long_term"]


def test_what_was_put_away_is_brought_back_by_what_contradicts_it() -> None:
    first, other = said(1, "The small tent sleeps 2.", day=2), said(2, "The small tent sleeps 3.", day=3)
    known = dreamt([first])
    assert [one.status for one in known.values()] == ["archived"]
    known = dreamt([first, other], known, drafted(other))
    assert [(one.status, one.contradictions_flag) for one in known.values()] == [("candidate", True)] * 2


# --- whatever is said ---


@settings(deadline=None, max_examples=60)
@given(SAYINGS)
def test_drafts_that_come_again_change_nothing_once_no_correction_waits(raws: list[Memory]) -> None:
    known = dreamt(raws)
    for _ in raws:  # one correction a dream at least
        known = dreamt(raws, known)
    assert dreamt(raws, known) == known
    later = settled(drafted(*raws), raws, known.values())
    assert (later.new, later.changed, later.superseded, later.waiting) == ((), (), (), frozenset())


@settings(deadline=None, max_examples=60)
@given(SAYINGS, st.randoms(use_true_random=False))
def test_the_order_of_drafts_does_not_matter(raws: list[Memory], draw: object) -> None:
    found = drafted(*raws)
    turned = list(found)
    draw.shuffle(turned)  # type: ignore[attr-defined]
    assert by_id(*settled(found, raws).new) == by_id(*settled(turned, raws).new)
    assert dreamt(raws, found=found) == dreamt(raws, found=turned)


@settings(deadline=None, max_examples=60)
@given(SAYINGS, SAYINGS)
def test_nothing_is_lost_and_nothing_superseded_without_a_living_successor(
    raws: list[Memory], more: list[Memory]
) -> None:
    both = [*by_id(*raws, *more).values()]
    known = dreamt(raws)
    result = settled(drafted(*more), [*raws, *more], known.values())
    insights = after(result, known.values())
    assert set(known) <= set(insights)
    for old in result.superseded:
        sides = [{pair.left_id, pair.right_id} - {old.memory_id} for pair in result.contradictions]
        others = [insights[one] for side in sides if len(side) == 1 for one in side]
        assert any(one.status in ("candidate", "long_term") for one in others)
        assert old.valid_until is not None
    for insight in insights.values():
        assert 0 <= insight.confidence <= 1
        assert set(insight.ref_ids) <= {raw.memory_id for raw in both}
        assert insight.trust == min(by_id(*both)[ref].trust for ref in insight.ref_ids)
    for pair in result.contradictions:
        assert insights[pair.left_id].contradictions_flag
        assert insights[pair.right_id].contradictions_flag


@settings(deadline=None, max_examples=60)
@given(SAYINGS, st.sampled_from(WORDS), st.sampled_from(["a", "d"]))
def test_later_evidence_never_takes_a_promotion_away_unless_it_puts_right(
    raws: list[Memory], text: str, task: str
) -> None:
    known = dreamt(raws)
    more = said(99, text, day=9, task=task)
    later = dreamt([*raws, more], known, drafted(more))
    for insight in known.values():
        if insight.status == "long_term":
            assert later[insight.memory_id].status in ("long_term", "superseded")


def test_what_was_said_long_ago_is_dated_by_its_first_and_last_record() -> None:
    raws = [said(1, WORDS[0], day=2), said(2, WORDS[1], day=9)]
    (one,) = settled(drafted(*raws), raws).new
    assert (one.valid_from, one.timestamp) == (raws[0].timestamp, raws[1].timestamp)
    assert raws[1].happened - raws[0].happened > timedelta(days=6)


def test_a_draft_by_a_model_counts_as_one_by_rule() -> None:
    raw = said(1, WORDS[0])
    found: list[Draft] = [
        draft("Tabs are used for indentation", raw, kind="preference", confidence=0.3),
        *drafted(raw),
    ]
    (one,) = settled(found, [raw]).new
    assert one.ref_ids == (raw.memory_id,)


def test_what_was_said_in_other_words_before_is_compared_too() -> None:
    first = said(1, "The limit of the API is 100 requests per minute.", day=2)
    again = said(2, "Our API limit stays at 100 requests per minute.", day=3)
    other = said(3, "Our API limit stays at 250 requests per minute.", day=4)
    known = dreamt([first, again])
    result = settled(drafted(other), [first, again, other], known.values())
    assert len(result.contradictions) == len(known) == 1
