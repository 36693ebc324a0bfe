"""What dreamd's own calls may take."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.calls import Prompt
from dreamd.gate.budget import day_began, needs, shortfall, uses
from dreamd.sections import Budget, Llm
from dreamd.stores.base import Spent

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
KOLKATA = ZoneInfo("Asia/Kolkata")  # half an hour off: no whole hours of UTC


def spent(agent: str, calls: int = 1, tokens: int = 0, minutes_ago: int = 30, estimated: int = 0) -> Spent:
    return Spent(
        agent=agent,
        calls=calls,
        input_tokens=tokens,
        output_tokens=0,
        estimated=estimated,
        first_at=NOON - timedelta(minutes=minutes_ago),
    )


def short(budget: Budget, *taken: Spent, agent: str = "ada", tokens: int = 100, now: datetime = NOON):
    return shortfall(budget, agent, tokens, hour=taken, day=taken, now=now, zone=UTC)


def test_without_a_budget_nothing_is_ever_short() -> None:
    assert short(Budget(), spent("ada", calls=10**6, tokens=10**9)) is None


@pytest.mark.parametrize(
    "budget",
    [
        Budget(calls_per_hour=5),
        Budget(agent_calls_per_hour=3),
        Budget(tokens_per_day=1000),
        Budget(agent_tokens_per_day=600),
    ],
)
def test_what_is_left_of_each_budget_may_be_taken_to_the_last(budget: Budget) -> None:
    assert short(budget, spent("ada", calls=2, tokens=500), spent("bob", calls=2, tokens=400)) is None
    assert short(budget, spent("ada", calls=3, tokens=501), spent("bob", calls=2, tokens=400)) is not None


def test_another_agents_budget_is_nobody_elses() -> None:
    budget = Budget(agent_calls_per_hour=1, agent_tokens_per_day=100)
    assert short(budget, spent("bob", calls=9, tokens=900)) is None


def test_calls_are_free_again_when_the_first_of_them_is_an_hour_old() -> None:
    found = short(Budget(calls_per_hour=2), spent("ada", minutes_ago=20), spent("bob", minutes_ago=50))
    assert found is not None
    assert found.wait_s == 600


def test_tokens_are_free_again_at_midnight() -> None:
    found = short(Budget(tokens_per_day=1000), spent("ada", tokens=1000))
    assert found is not None
    assert (found.wait_s, "all agents" in found.words) == (12 * 3600, True)


def test_what_lasts_longest_is_told() -> None:
    budget = Budget(agent_calls_per_hour=1, tokens_per_day=1)
    found = short(budget, spent("ada", calls=1, tokens=1))
    assert found is not None
    assert found.wait_s == 12 * 3600


def test_an_agents_own_share_is_told_from_what_all_have_together() -> None:
    used = spent("ada", calls=1, tokens=1)
    for budget, own in (
        (Budget(agent_calls_per_hour=1, calls_per_hour=9), True),
        (Budget(agent_tokens_per_day=1000, tokens_per_day=1), False),
        (Budget(agent_calls_per_hour=1, tokens_per_day=1), False),
    ):
        found = short(budget, used)
        assert found is not None
        assert found.own is own


def test_a_call_that_no_day_has_tokens_for_says_so() -> None:
    found = short(Budget(tokens_per_day=99))
    assert found is not None
    assert "one call needs 100 tokens" in found.words
    assert found.never


def test_that_no_day_has_tokens_enough_is_told_before_what_lasts_a_day() -> None:
    found = short(Budget(tokens_per_day=200, agent_tokens_per_day=99), spent("ada", tokens=200))
    assert found is not None
    assert found.never


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)), st.sampled_from([UTC, KOLKATA, None]))  # noqa: DTZ001
def test_the_day_began_at_most_a_day_and_an_hour_ago(at: datetime, zone: ZoneInfo | None) -> None:
    now = at.replace(tzinfo=UTC)
    assert timedelta() <= now - day_began(now, zone) <= timedelta(hours=25)


def test_the_day_is_the_zones() -> None:
    assert day_began(NOON, KOLKATA) == datetime(2026, 3, 1, 18, 30, tzinfo=UTC)


def test_a_call_needs_its_prompt_and_its_longest_answer() -> None:
    prompt = Prompt(purpose="distil", system="be brief", user="你好" * 100, max_tokens=500)
    asked, answered = needs(prompt)
    assert (asked >= 200, answered) == (True, 500)


@given(st.lists(st.tuples(st.sampled_from(["ada", "bob"]), st.integers(0, 9), st.integers(0, 999))))
def test_use_adds_up(taken: list[tuple[str, int, int]]) -> None:
    day = [spent(agent, calls, tokens) for agent, calls, tokens in taken]
    whole, *each = uses(Budget(), Llm(), hour=day[:1], day=day, agents=["ada", "carol"])
    assert (whole.tokens_today, whole.calls_today) == (
        sum(u.tokens_today for u in each),
        sum(u.calls_today for u in each),
    )
    assert {"ada", "carol"} <= {use.agent for use in each}


def test_unknown_prices_stay_unknown_and_known_ones_are_reckoned() -> None:
    day = [spent("ada", tokens=2_000_000)]
    assert uses(Budget(), Llm(), hour=[], day=day, agents=[])[0].cost_today is None
    assert uses(Budget(), Llm(input_price=1.5), hour=[], day=day, agents=[])[0].cost_today == 3.0


def test_use_shows_the_bounds_it_is_held_to() -> None:
    budget = Budget(tokens_per_day=9, calls_per_hour=8, agent_tokens_per_day=7, agent_calls_per_hour=6)
    whole, ada = uses(budget, Llm(), hour=[], day=[], agents=["ada"])
    assert (whole.tokens_per_day, whole.calls_per_hour) == (9, 8)
    assert (ada.tokens_per_day, ada.calls_per_hour) == (7, 6)
