from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreamd.calls import Prompt, Reply
from dreamd.errors import ProviderRefused
from dreamd.gate.gated import Gate, GatedProvider
from dreamd.gate.state import GateState, Lane
from dreamd.providers.base import Provider
from dreamd.providers.scripted import ScriptedProvider

PROMPT = Prompt(purpose="distil", system="s", user="u", max_tokens=9)


class Held(Provider):
    """Answers when it is let go, and counts who is in."""

    def __init__(self) -> None:
        self.go = anyio.Event()
        self.inside = 0
        self.most = 0

    async def complete(self, prompt: Prompt) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await self.go.wait()
        finally:
            self.inside -= 1
        return Reply(text=prompt.user, stop="end")

    async def aclose(self) -> None:
        self.go.set()


async def test_no_more_dream_calls_are_in_flight_than_the_limit() -> None:
    held = Held()
    gated = GatedProvider(Gate(2), held)
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(gated.complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        assert held.inside == 2
        held.go.set()
    assert held.most == 2


async def test_a_foreground_call_does_not_wait_for_dreams() -> None:
    held, gate = Held(), Gate(1)
    async with anyio.create_task_group() as group:
        group.start_soon(GatedProvider(gate, held).complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        reply = await GatedProvider(gate, ScriptedProvider(["at once"]), "foreground").complete(PROMPT)
        assert reply.text == "at once"
        held.go.set()


async def test_a_dream_waits_for_the_foreground_call_to_end() -> None:
    held, gate, dreams = Held(), Gate(1), ScriptedProvider(["late"])
    async with anyio.create_task_group() as group:
        group.start_soon(GatedProvider(gate, held, "foreground").complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(GatedProvider(gate, dreams).complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        assert dreams.prompts == []
        held.go.set()
    assert dreams.prompts == [PROMPT]


async def test_a_call_that_fails_frees_its_place() -> None:
    gated = GatedProvider(Gate(1), ScriptedProvider([ProviderRefused("no"), "yes"]))
    with pytest.raises(ProviderRefused):
        await gated.complete(PROMPT)
    assert (await gated.complete(PROMPT)).text == "yes"


async def test_closing_reaches_the_provider() -> None:
    held = Held()
    await GatedProvider(Gate(1), held).aclose()
    assert held.go.is_set()


Call = tuple[
    Lane, int, int
]  # its lane, how many steps it works, after how many steps it is cancelled (0: never)
_calls = st.lists(
    st.tuples(st.sampled_from(["foreground", "dream"]), st.integers(0, 3), st.integers(0, 4)), max_size=12
)


@settings(max_examples=60, deadline=None)
@given(limit=st.integers(1, 3), calls=_calls)
def test_under_any_order_of_arrivals_ends_and_cancellations_all_leave_and_none_is_forgotten(
    limit: int, calls: Sequence[Call]
) -> None:
    gate = anyio.run(_play, limit, calls)
    assert gate.state == GateState(limit)


async def _play(limit: int, calls: Sequence[Call]) -> Gate:
    gate = Gate(limit)
    started: list[int] = []

    async def call(number: int, lane: Lane, steps: int, scope: anyio.CancelScope) -> None:
        with scope:
            async with gate.turn(lane):
                if lane == "dream":
                    assert len(gate.state.dreams) <= limit
                    started.append(number)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()

    async def cancel(scope: anyio.CancelScope, steps: int) -> None:
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        scope.cancel()

    with anyio.fail_after(5):  # a lost wake-up would hang here
        async with anyio.create_task_group() as group:
            for number, (lane, steps, cancelled_after) in enumerate(calls):
                scope = anyio.CancelScope()
                group.start_soon(call, number, lane, steps, scope)
                if cancelled_after:
                    group.start_soon(cancel, scope, cancelled_after)
    assert started == sorted(started)
    return gate
