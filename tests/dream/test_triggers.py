"""When a dream is due."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.dream.triggers import Step, Tally, Waiting, busy, due, tallied, triggered
from dreamd.memories import Memory
from dreamd.sections import Dream
from dreamd.stores.base import TurnState

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SETTINGS = Dream(checkpoint_steps=5, pool_threshold=20, idle_s=900, debounce_s=60, turn_timeout_s=3600)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def came(
    count: int, at: datetime = NOON, *, agent: str = "anna", session: str = "s", task: str = "t"
) -> list[Memory]:
    return [
        Memory(
            memory_id=f"{agent}{session}{at.isoformat()}{number}", type="raw", content="x", agent=agent,
            window=date(2026, 3, 2), received_at=at, session_id=session, task_id=task, role="user", origin="human",
        )
        for number in range(count)
    ]  # fmt: skip


def tally(count: int, at: datetime = NOON, **where: str) -> Tally:
    return tallied({}, came(count, at, **where))[where.get("agent", "anna")]


def turn(*, busy: bool, at: datetime | None = NOON, agent: str = "anna", session: str = "s") -> TurnState:
    return TurnState(agent, session, busy, at)


def asked(
    after_s: float, tallies: dict[str, Tally], turns: list[TurnState], waiting: tuple[Waiting, ...] = ()
) -> Step:
    return due(NOON + seconds(after_s), tallies, turns, waiting, SETTINGS)


def test_a_turn_that_ended_with_something_new_in_its_session_calls_for_a_dream() -> None:
    assert triggered(NOON, tally(2), [turn(busy=False)], SETTINGS) == "task"
    assert triggered(NOON, tally(2), [turn(busy=False, session="another")], SETTINGS) is None
    assert triggered(NOON, tally(2), [turn(busy=True)], SETTINGS) is None


def test_many_steps_of_one_task_are_a_checkpoint_and_many_records_fill_the_pool() -> None:
    assert triggered(NOON, tally(4), [], SETTINGS) is None
    assert triggered(NOON, tally(5), [], SETTINGS) == "checkpoint"
    assert triggered(NOON, tally(20), [turn(busy=False)], SETTINGS) == "pool"
    spread = tallied({"anna": tally(4)}, came(4, task="another"))["anna"]
    assert triggered(NOON, spread, [], SETTINGS) is None


def test_records_that_nobody_dreamt_of_are_dreamt_of_when_the_agent_is_idle() -> None:
    assert triggered(NOON + seconds(899), tally(1), [], SETTINGS) is None
    assert triggered(NOON + seconds(900), tally(1), [], SETTINGS) == "idle"
    assert triggered(NOON + seconds(9000), Tally(), [turn(busy=False)], SETTINGS) is None


def test_a_dream_waits_for_quiet() -> None:
    first = asked(0, {"anna": tally(5)}, [])
    assert (first.ready, first.waiting) == ((), (Waiting("anna", "checkpoint", NOON),))
    more = tally(6, NOON + seconds(40))
    assert asked(80, {"anna": more}, [], first.waiting).ready == ()
    assert asked(100, {"anna": more}, [], first.waiting).ready == first.waiting


def test_an_agent_that_is_never_quiet_dreams_all_the_same() -> None:
    since = (Waiting("anna", "pool", NOON),)
    assert asked(899, {"anna": tally(20, NOON + seconds(898))}, [], since).ready == ()
    assert asked(900, {"anna": tally(20, NOON + seconds(899))}, [], since).ready == since


def test_a_dream_waits_while_a_turn_of_that_agent_is_under_way() -> None:
    since = (Waiting("anna", "task", NOON),)
    at_work = [turn(busy=False), turn(busy=True, session="other"), turn(busy=True, agent="bert")]
    assert asked(300, {"anna": tally(2)}, at_work, since).ready == ()
    assert asked(300, {"anna": tally(2)}, [turn(busy=False)], since).ready == since


def test_a_turn_of_which_nothing_was_heard_for_long_has_died() -> None:
    under_way = [turn(busy=True)]
    assert busy(NOON + seconds(3599), tally(1), under_way, SETTINGS)
    assert not busy(NOON + seconds(3600), tally(1), under_way, SETTINGS)
    assert busy(NOON + seconds(3600), tally(1, NOON + seconds(10)), under_way, SETTINGS)
    assert not busy(NOON, Tally(), [turn(busy=True, at=None)], SETTINGS)
    assert busy(NOON, tally(1), [turn(busy=True, at=None)], SETTINGS)


def test_a_turn_that_was_broken_off_is_not_kept_alive_by_other_sessions() -> None:
    broken_off = [turn(busy=True), turn(busy=False, session="other")]
    assert not busy(
        NOON + seconds(3600), tally(1, NOON + seconds(3590), session="other"), broken_off, SETTINGS
    )


def test_a_turn_of_a_log_that_is_read_late_has_died() -> None:
    read_late = [replace(one, timestamp=NOON - seconds(7200)) for one in came(3, NOON)]
    old = [turn(busy=True, at=NOON - seconds(7200))]
    assert not busy(NOON + seconds(1), tallied({}, read_late)["anna"], old, SETTINGS)


def test_a_turn_of_a_clock_that_was_far_ahead_has_died() -> None:
    ahead = NOON + timedelta(days=9000)
    records = [replace(one, timestamp=ahead) for one in came(3, NOON)]
    assert not busy(NOON + seconds(3600), tallied({}, records)["anna"], [turn(busy=True, at=ahead)], SETTINGS)


def test_once_due_a_dream_stays_due_though_what_called_for_it_is_gone() -> None:
    since = (Waiting("anna", "task", NOON),)
    assert asked(70, {"anna": tally(1)}, [], since).ready == since
    assert asked(70, {"anna": Tally()}, [], since).waiting == ()


def test_who_waits_longest_is_next() -> None:
    waiting = (Waiting("bert", "idle", NOON + seconds(1)), Waiting("anna", "idle", NOON + seconds(2)))
    tallies = {"anna": tally(1), "bert": tally(1, agent="bert"), "cleo": tally(5, agent="cleo")}
    step = asked(2000, tallies, [], waiting)
    assert [one.agent for one in step.waiting] == ["bert", "anna", "cleo"]
    assert [one.agent for one in step.ready] == ["bert", "anna"]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4000), st.sampled_from("st")), max_size=30),
    st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.integers(0, 4000)), max_size=6),
    st.integers(0, 9000),
)
def test_nobody_dreams_of_nothing_or_during_a_turn(
    records: list[tuple[str, int, str]], turns: list[tuple[str, bool, int]], now: int
) -> None:
    tallies = tallied(
        {},
        [one for agent, at, task in records for one in came(1, NOON + seconds(at), agent=agent, task=task)],
    )
    states = [turn(busy=b, at=NOON + seconds(at), agent=agent) for agent, b, at in turns]
    step = asked(now, tallies, states)
    assert set(step.ready) <= set(step.waiting)
    for one in step.ready:
        assert tallies[one.agent].fresh
        own = [replace(state) for state in states if state.agent == one.agent]
        assert not busy(NOON + seconds(now), tallies[one.agent], own, SETTINGS)
