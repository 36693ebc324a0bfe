from collections.abc import Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.calls import Prompt, Reply
from dreamd.clock import StillClock, SystemClock
from dreamd.errors import (
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)
from dreamd.events import CALL_FAILED, CALL_FINISHED, CALL_RETRIED, Event, silent
from dreamd.gate.gated import GatedProvider
from dreamd.gate.lane import Lane
from dreamd.gate.retrying import BASE_S, CAP_S, Failures, Retrying, backoff, pause
from dreamd.providers.base import Provider
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Gate, Llm

PROMPT = Prompt(purpose="deep-dream", system="the secret system", user="the secret log", max_tokens=9)
DOWN = ProviderUnreachable("the server is down")


class House:
    """A retrying provider over a script, the clock it sleeps on, and what it told."""

    def __init__(self, clock: StillClock, provider: Provider, **llm: float) -> None:
        self.told: list[tuple[Event, dict[str, object]]] = []
        self.provider = provider
        self.retrying = Retrying(provider, clock=clock, draw=lambda: 0.5, llm=Llm(**llm), emit=self._tell)

    def _tell(self, event: Event, /, **values: object) -> None:
        self.told.append((event, values))

    @property
    def events(self) -> list[Event]:
        return [event for event, _ in self.told]


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_the_backoff_is_bounded_and_never_at_once(failures: int, draw: float) -> None:
    whole = min(CAP_S, BASE_S * 2 ** (min(failures, 20) - 1))
    assert whole / 2 <= backoff(failures, draw) <= whole


@given(st.integers(1, 50))
def test_the_backoff_does_not_shrink_from_one_failure_to_the_next(failures: int) -> None:
    assert backoff(failures + 1, 0.5) >= backoff(failures, 0.5)


@given(st.floats(0, 1e6), st.floats(0, 1))
def test_nobody_comes_back_before_the_server_said(asked: float, draw: float) -> None:
    seconds = pause(ProviderBusy("busy", retry_after_s=asked), Failures(1), 4, draw)
    assert seconds is not None
    assert seconds >= asked


async def test_what_may_pass_is_repeated(clock: StillClock) -> None:
    script = ScriptedProvider([DOWN, ProviderBusy("busy", retry_after_s=30), "at last"])
    house = House(clock, script)
    assert (await house.retrying.complete(PROMPT)).text == "at last"
    assert script.prompts == [PROMPT] * 3
    assert clock.ticks == pytest.approx(backoff(1, 0.5) + 30 * 1.05)
    assert house.events == [CALL_RETRIED, CALL_RETRIED, CALL_FINISHED]


async def test_a_finished_call_is_told_with_its_cost_and_without_its_text(clock: StillClock) -> None:
    house = House(
        clock, ScriptedProvider([Reply(text="hush", stop="end", model="m", input_tokens=5, output_tokens=2)])
    )
    await house.retrying.complete(PROMPT)
    ((event, values),) = house.told
    assert event is CALL_FINISHED
    assert values | {"seconds": 0} == {
        "purpose": "deep-dream", "model": "m", "stop": "end", "attempts": 1,
        "input_tokens": 5, "output_tokens": 2, "seconds": 0,
    }  # fmt: skip


@pytest.mark.parametrize("error", [ProviderRefused("no key"), PromptTooLong("too long")])
async def test_what_a_person_must_mend_is_not_repeated(clock: StillClock, error: ProviderError) -> None:
    script = ScriptedProvider([error, "never asked for"])
    house = House(clock, script)
    with pytest.raises(type(error)):
        await house.retrying.complete(PROMPT)
    assert len(script.prompts) == 1
    assert house.events == [CALL_FAILED]


async def test_an_unusable_reply_is_asked_for_once_more_and_no_oftener(clock: StillClock) -> None:
    script = ScriptedProvider([ReplyUnusable("html")] * 3)
    with pytest.raises(ReplyUnusable):
        await House(clock, script, attempts=9).retrying.complete(PROMPT)
    assert len(script.prompts) == 2


async def test_it_gives_up_after_the_configured_attempts_with_the_last_error(clock: StillClock) -> None:
    script = ScriptedProvider([DOWN, DOWN, ProviderBusy("busy"), "too late"])
    with pytest.raises(ProviderBusy):
        await House(clock, script, attempts=3).retrying.complete(PROMPT)
    assert len(script.prompts) == 3


async def test_a_storm_of_rate_limits_ends(clock: StillClock) -> None:
    script = ScriptedProvider(lambda _: ProviderBusy("busy", retry_after_s=0))
    with pytest.raises(ProviderBusy):
        await House(clock, script, attempts=20, deadline_s=100).retrying.complete(PROMPT)
    assert len(script.prompts) <= 7
    assert clock.ticks < 100


async def test_a_server_that_asks_for_more_than_the_deadline_leaves_is_left_at_once(
    clock: StillClock,
) -> None:
    script = ScriptedProvider([ProviderBusy("busy", retry_after_s=3600), "an hour later"])
    with pytest.raises(ProviderBusy) as caught:
        await House(clock, script, deadline_s=600).retrying.complete(PROMPT)
    assert caught.value.retry_after_s == 3600
    assert clock.ticks == 0


class Hanging(Provider):
    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, prompt: Prompt) -> Reply:
        self.calls += 1
        await anyio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None:
        self.calls = -1


async def test_a_hanging_call_is_cut_by_the_deadline(clock: StillClock) -> None:
    hanging = Hanging()
    house = House(clock, hanging, deadline_s=0.01)
    with pytest.raises(ProviderUnreachable, match=r"0.01 s.*llm.deadline_s"):
        await house.retrying.complete(PROMPT)
    assert hanging.calls == 1
    assert house.events == [CALL_FAILED]


async def test_waiting_for_a_turn_at_the_gate_is_not_held_against_the_deadline(clock: StillClock) -> None:
    gate = Lane("one slot", Gate(), concurrency=1, clock=SystemClock(), emit=silent)
    house = House(clock, GatedProvider(gate, ScriptedProvider(["worth waiting"])), deadline_s=0.02)
    replies: list[Reply] = []

    async def call() -> None:
        replies.append(await house.retrying.complete(PROMPT))

    someone = gate.arrive(1)
    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await anyio.sleep(0.05)
        assert replies == []
        someone.done()
    assert [reply.text for reply in replies] == ["worth waiting"]


async def test_no_place_at_the_gate_is_held_during_a_pause(clock: StillClock) -> None:
    gate = Lane("one slot", Gate(), concurrency=1, clock=clock, emit=silent)
    held: list[int] = []

    class Watching(StillClock):
        async def sleep(self, seconds: float) -> None:
            held.append(len(gate.state.dreams))
            await super().sleep(seconds)

    house = House(Watching(clock.now()), GatedProvider(gate, ScriptedProvider([DOWN, "ok"])))
    await house.retrying.complete(PROMPT)
    assert held == [0]


@pytest.mark.parametrize("draw", [lambda: 0.0, lambda: 1.0])
async def test_no_event_holds_a_prompt(clock: StillClock, draw: Callable[[], float]) -> None:
    house = House(clock, ScriptedProvider([DOWN, ProviderRefused("no")]))
    house.retrying = Retrying(house.provider, clock=clock, draw=draw, llm=Llm(), emit=house._tell)
    with pytest.raises(ProviderRefused):
        await house.retrying.complete(PROMPT)
    assert "secret" not in repr(house.told)


async def test_closing_reaches_the_provider(clock: StillClock) -> None:
    hanging = Hanging()
    await House(clock, hanging).retrying.aclose()
    assert hanging.calls == -1
