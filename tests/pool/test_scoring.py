from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.memories import Memory
from dreamd.pool.scoring import Novelty, score, scores

THRESHOLD = 0.35  # the default of dream.keep_threshold


def memory(text: str, role: str = "user", origin: str = "human", *, ok: bool | None = None) -> Memory:
    return Memory(
        memory_id="m",
        type="raw",
        content=text,
        agent="cat",
        window=date(2026, 3, 2),
        received_at=datetime(2026, 3, 2, tzinfo=UTC),
        role=role,
        origin=origin,
        ok=ok,
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I hate red", "preference"),
        ("我讨厌红色", "preference"),
        ("no, use CSV instead", "correction"),
        ("不对，改成CSV", "correction"),
        ("let's go with PostgreSQL", "decision"),
        ("我们决定用PostgreSQL", "decision"),
        ("we release on March 13", "promise"),
        ("我们3月13日发布", "promise"),
        ("the deploy failed because the disk was full", "lesson"),
        ("remember: I am allergic to peanuts", "told to remember"),
        ("预算有限", "budget"),
    ],
)
def test_what_counts_is_kept_with_its_reason(text: str, reason: str) -> None:
    found = score(memory(text), Novelty())
    assert found.value >= THRESHOLD
    assert found.decided
    assert reason in found.reasons


@pytest.mark.parametrize(
    "text", ["The user clicked the button", "用户点击了按钮", "ok", "继续", "Loading...", "👍", "[Image #1]"]
)
def test_the_noise_of_interfaces_falls_below(text: str) -> None:
    found = score(memory(text), Novelty())
    assert found.value == 0.0
    assert found.decided
    assert "interface noise" in found.reasons


@pytest.mark.parametrize("origin", ["scheduled", "injected", "subagent"])
def test_what_no_human_said_scores_nothing(origin: str) -> None:
    found = score(memory("I hate red", origin=origin), Novelty())
    assert (found.value, found.reasons, found.decided) == (0.0, ("not said in a human's turn",), True)


def test_an_agents_preference_counts_for_nothing() -> None:
    found = score(memory("I hate red, you hate red", "assistant"), Novelty())
    assert "preference" not in found.reasons
    assert found.value < THRESHOLD


def test_only_a_tool_that_failed_is_worth_a_look() -> None:
    failed, went = (score(memory("", "tool", "tool", ok=ok), Novelty()) for ok in (False, True))
    assert failed.reasons == ("failure",)
    assert failed.value > went.value


def test_repetition_counts_against_but_a_preference_outweighs_it() -> None:
    first, second, third = scores(
        [memory("I hate red"), memory("I hate red!"), memory("what is the port of it")]
    )
    assert "repeated" in second.reasons
    assert THRESHOLD <= second.value < first.value
    assert "new" in third.reasons


def test_what_was_known_before_is_no_news() -> None:
    (found,) = scores([memory("the port is 8080 now")], known=["The port is 8080, now."])
    assert "repeated" in found.reasons


def test_rules_without_a_reason_leave_it_open() -> None:
    found = score(memory("have a look at the left wing of the boat and at the mast"), Novelty())
    assert not found.decided


def test_nothing_said_is_nothing_worth() -> None:
    assert score(memory("  "), Novelty()).reasons == ("empty",)


@given(
    st.text(max_size=120),
    st.sampled_from(["user", "assistant", "tool", "system"]),
    st.sampled_from(["human", "scheduled", "injected", "tool"]),
    st.none() | st.booleans(),
)
def test_a_score_is_a_share_with_reasons_and_always_the_same(
    text: str, role: str, origin: str, ok: bool | None
) -> None:
    one = memory(text, role, origin, ok=ok)
    found = score(one, Novelty())
    assert 0.0 <= found.value <= 1.0
    assert found.reasons
    assert score(one, Novelty()) == found
