"""What dreamd's own calls may take: tokens a day, calls an hour, of one agent and of all (pure).

Exhausted means waiting, never losing; but what no day has tokens for waits for nothing and fails at once, and what one
agent used up alone is no reason for others to wait. What a call will take is reserved when it begins, by estimate, and put
right when its provider tells; so the bound holds to within what estimates are wrong. Every attempt counts, a broken-off one too.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import time as time_of_day

from msgspec import Struct
from msgspec.structs import replace

from dreamd.calls import Prompt
from dreamd.pool.tokens import estimate
from dreamd.sections import Budget, Llm
from dreamd.stores.base import Spent

HOUR = timedelta(hours=1)


class Shortfall(Struct, frozen=True):
    """What is exhausted, in words, and for how many seconds at least.

    `never`: no day would have enough; `own`: it is the agent's share, others may have theirs.
    """

    words: str
    wait_s: float
    never: bool = False
    own: bool = False


class Use(Struct, frozen=True, kw_only=True):
    """What an agent, or all ("" as agent), took. Limits of 0 are none; `cost` is None where no price is known.

    `estimated` are calls of today whose tokens nobody told.
    """

    agent: str = ""
    calls_this_hour: int = 0
    calls_per_hour: int = 0
    tokens_today: int = 0
    tokens_per_day: int = 0
    calls_today: int = 0
    estimated: int = 0
    cost_today: float | None = None


def needs(prompt: Prompt) -> tuple[int, int]:
    """The tokens a call may take: what is asked, and the longest answer."""
    return estimate(prompt.system) + estimate(prompt.user), prompt.max_tokens


def day_began(now: datetime, zone: tzinfo | None = None) -> datetime:
    """When the local day of `now` began; by default in this machine's zone."""
    return _midnight(now, zone, days=0)


def shortfall(
    budget: Budget,
    agent: str,
    tokens: int,
    *,
    hour: Sequence[Spent],
    day: Sequence[Spent],
    now: datetime,
    zone: tzinfo | None = None,
) -> Shortfall | None:
    """What keeps a call of an agent's from starting; of several, what lasts longest.

    `hour` and `day` are what was spent since an hour ago and since `day_began`.
    """
    tomorrow = (_midnight(now, zone, days=1) - now).total_seconds()
    own_hour, own_day = (
        [one for one in hour if one.agent == agent],
        [one for one in day if one.agent == agent],
    )
    own = [
        *_calls(budget.agent_calls_per_hour, own_hour, now, agent),
        *_tokens(budget.agent_tokens_per_day, own_day, tokens, tomorrow, agent),
    ]
    found = [
        *_calls(budget.calls_per_hour, hour, now, "all agents"),
        *_tokens(budget.tokens_per_day, day, tokens, tomorrow, "all agents"),
        *(replace(one, own=True) for one in own),
    ]
    return max(found, key=lambda one: (one.never, one.wait_s), default=None)


def uses(
    budget: Budget, llm: Llm, *, hour: Sequence[Spent], day: Sequence[Spent], agents: Sequence[str]
) -> tuple[Use, ...]:
    """All together, then each agent that is configured or took something."""
    every = dict.fromkeys([*agents, *(one.agent for one in day)])
    whole = _use(llm, "", hour, day, budget.calls_per_hour, budget.tokens_per_day)
    return (whole, *(_use_of(budget, llm, agent, hour, day) for agent in every))


def _use_of(budget: Budget, llm: Llm, agent: str, hour: Sequence[Spent], day: Sequence[Spent]) -> Use:
    own_hour, own_day = (
        [one for one in hour if one.agent == agent],
        [one for one in day if one.agent == agent],
    )
    return _use(llm, agent, own_hour, own_day, budget.agent_calls_per_hour, budget.agent_tokens_per_day)


def _use(llm: Llm, agent: str, hour: Sequence[Spent], day: Sequence[Spent], calls: int, tokens: int) -> Use:
    return Use(
        agent=agent,
        calls_this_hour=sum(one.calls for one in hour),
        calls_per_hour=calls,
        tokens_today=sum(one.tokens for one in day),
        tokens_per_day=tokens,
        calls_today=sum(one.calls for one in day),
        estimated=sum(one.estimated for one in day),
        cost_today=_cost(llm, day),
    )


def _cost(llm: Llm, day: Sequence[Spent]) -> float | None:
    if not llm.input_price and not llm.output_price:
        return None
    asked, answered = sum(one.input_tokens for one in day), sum(one.output_tokens for one in day)
    return round((asked * llm.input_price + answered * llm.output_price) / 1e6, 6)


def _calls(most: int, spent: Sequence[Spent], now: datetime, whose: str) -> Iterator[Shortfall]:
    if most and sum(one.calls for one in spent) >= most:
        free_at = min(one.first_at for one in spent) + HOUR
        yield Shortfall(f"the {most} calls an hour of {whose} are used up", (free_at - now).total_seconds())


def _tokens(
    most: int, spent: Sequence[Spent], tokens: int, tomorrow_s: float, whose: str
) -> Iterator[Shortfall]:
    if most and tokens > most:
        yield Shortfall(
            f"one call needs {tokens} tokens, more than the {most} a day of {whose}", tomorrow_s, never=True
        )
    elif most and sum(one.tokens for one in spent) + tokens > most:
        yield Shortfall(f"the {most} tokens a day of {whose} are used up", tomorrow_s)


def _midnight(now: datetime, zone: tzinfo | None, *, days: int) -> datetime:
    day = now.astimezone(zone).date() + timedelta(days=days)
    return datetime.combine(day, time_of_day(), tzinfo=zone).astimezone(UTC)
