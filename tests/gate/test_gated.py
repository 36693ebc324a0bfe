from collections.abc import Sequence

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.clock import SystemClock
from dreamd.errors import ProviderBusy, ProviderRefused, ProviderUnreachable
from dreamd.events import silent
from dreamd.gate.deadline import Budget
from dreamd.gate.gated import GatedProvider
from dreamd.gate.lane import Lane
from dreamd.gate.limit import PROOFS
from dreamd.providers.base import Provider, listener
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Gate

PROMPT = Prompt(purpose="distil", system="s", user="u", max_tokens=9)


def lane(calls: int = 1, concurrency: int = 8) -> Lane:
    """Of an upstream that takes so many calls."""
    settings = Gate(floor=calls, ceiling=calls)
    gate = Lane("test", settings, concurrency=concurrency, clock=SystemClock(), emit=silent)
    gate.state = replace(gate.state, spare=0)
    return gate


class Held(Provider):
    """Answers when it is let go, and counts who is in."""

    def __init__(self) -> None:
        self.go = anyio.Event()
        self.inside = 0
        self.most = 0
        self.begun = 0

    async def complete(self, prompt: Prompt) -> Reply:
        self.begun += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await self.go.wait()
        finally:
            self.inside -= 1
        return Reply(text=prompt.user, stop="end")

    async def aclose(self) -> None:
        self.go.set()


@pytest.mark.parametrize(("calls", "concurrency"), [(2, 8), (8, 2)])
async def test_no_more_dream_calls_are_in_flight_than_the_limit(calls: int, concurrency: int) -> None:
    held = Held()
    gated = GatedProvider(lane(calls, concurrency), held)
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(gated.complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        assert held.inside == 2
        held.go.set()
    assert held.most == 2


async def test_a_foreground_call_cancels_the_dream_which_begins_anew_after_it() -> None:
    held, gate = Held(), lane()
    async with anyio.create_task_group() as group:
        group.start_soon(GatedProvider(gate, held).complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        call = gate.arrive(10)
        await anyio.wait_all_tasks_blocked()
        assert held.inside == 0
        held.go.set()
        call.done()
    assert held.begun == 2
    assert gate.counts["made_way"] == 1
    assert gate.state.in_flight == 0


async def test_a_connection_is_hung_up_before_the_foreground_call_goes_on() -> None:
    hung_up: list[int] = []

    class Connected(Held):
        async def complete(self, prompt: Prompt) -> Reply:
            follows = listener.get()
            assert follows is not None
            follows.connected(lambda: hung_up.append(self.begun))
            return await super().complete(prompt)

    held, gate = Connected(), lane()
    async with anyio.create_task_group() as group:
        group.start_soon(GatedProvider(gate, held).complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        gate.arrive(10)
        assert hung_up == [1]
        group.cancel_scope.cancel()


async def test_an_error_of_the_broken_connection_is_not_the_calls() -> None:
    class Breaking(Held):
        async def complete(self, prompt: Prompt) -> Reply:
            try:
                return await super().complete(prompt)
            except BaseException as cancelled:
                raise ProviderUnreachable("the connection broke") from cancelled

    held, gate = Breaking(), lane()
    async with anyio.create_task_group() as group:
        group.start_soon(GatedProvider(gate, held).complete, PROMPT)
        await anyio.wait_all_tasks_blocked()
        gate.arrive(10).done()
        held.go.set()
    assert held.begun == 2


async def test_a_call_that_had_its_reply_keeps_it_though_it_should_make_way() -> None:
    gate = lane()

    class Late(ScriptedProvider):
        async def complete(self, prompt: Prompt) -> Reply:
            reply = await super().complete(prompt)
            gate.arrive(10)
            return reply

    late = Late(["paid for"])
    assert (await GatedProvider(gate, late).complete(PROMPT)).text == "paid for"
    assert len(late.prompts) == 1
    assert not gate.state.waiting
    assert not gate.state.leaving


async def test_what_a_cancelled_attempt_took_is_not_held_against_the_deadline() -> None:
    held, gate, budget = Held(), lane(), Budget(60)

    async def call() -> None:
        with budget.within():
            await GatedProvider(gate, held).complete(PROMPT)

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        await anyio.sleep(0.03)
        gate.arrive(10).done()
        held.go.set()
    assert budget.left > 59.98


async def test_a_refusal_cools_the_lane_and_a_good_reply_ends_the_row() -> None:
    gate = lane(4)
    gated = GatedProvider(gate, ScriptedProvider([ProviderBusy("busy", retry_after_s=0.01), "yes"]))
    with pytest.raises(ProviderBusy):
        await gated.complete(PROMPT)
    assert gate.state.cooling_until > gate.state.now
    assert gate.refusals == 1
    await gated.complete(PROMPT)
    assert gate.refusals == 0


@pytest.mark.parametrize(("timed_out", "calls"), [(True, 2), (False, 4)])
async def test_a_time_out_halves_the_limit_and_a_server_that_is_down_does_not(
    timed_out: bool, calls: int
) -> None:
    gate = Lane("t", Gate(), concurrency=8, clock=SystemClock(), emit=silent)
    gate.state = replace(gate.state, spare=0)
    for number in (1, *[2] * PROOFS, *[3] * PROOFS, *[4] * PROOFS):
        gate.judge("good", number, gate.state.now)
    error = ProviderUnreachable("no answer", timed_out=timed_out)
    held = [gate.arrive(1) for _ in range(3)]
    with pytest.raises(ProviderUnreachable):
        await GatedProvider(gate, ScriptedProvider([error])).complete(PROMPT)
    assert gate.state.limit.calls == calls
    for call in held:
        call.done()


async def test_a_call_that_fails_frees_its_place() -> None:
    gated = GatedProvider(lane(), ScriptedProvider([ProviderRefused("no"), "yes"]))
    with pytest.raises(ProviderRefused):
        await gated.complete(PROMPT)
    assert (await gated.complete(PROMPT)).text == "yes"


async def test_closing_reaches_the_provider() -> None:
    held = Held()
    await GatedProvider(lane(), held).aclose()
    assert held.go.is_set()


Call = tuple[
    str, int, int
]  # its kind, how many steps it works, after how many steps it is cancelled (0: never)
_calls = st.lists(
    st.tuples(st.sampled_from(["foreground", "dream"]), st.integers(0, 3), st.integers(0, 4)), max_size=12
)


@settings(max_examples=50, deadline=None)
@given(limit=st.integers(1, 3), calls=_calls)
def test_under_any_order_of_arrivals_ends_and_cancellations_all_leave_and_none_is_forgotten(
    limit: int, calls: Sequence[Call]
) -> None:
    gate = anyio.run(_play, limit, calls)
    assert gate.state.in_flight == 0
    assert gate.state.waiting == ()


class Stepping(Provider):
    """Works so many steps a call."""

    def __init__(self, gate: Lane, limit: int, steps: int) -> None:
        self.gate, self.limit, self.steps = gate, limit, steps

    async def complete(self, prompt: Prompt) -> Reply:
        assert len(self.gate.state.dreams) <= self.limit
        for _ in range(self.steps):
            await anyio.lowlevel.checkpoint()
        return Reply(text="done", stop="end")

    async def aclose(self) -> None: ...


async def _play(limit: int, calls: Sequence[Call]) -> Lane:
    gate = lane(limit)
    done: list[int] = []

    async def call(number: int, kind: str, steps: int, scope: anyio.CancelScope) -> None:
        with scope:
            if kind == "dream":
                await GatedProvider(gate, Stepping(gate, limit, steps)).complete(PROMPT)
            else:
                arrived = gate.arrive(1)
                try:
                    for _ in range(steps):
                        await anyio.lowlevel.checkpoint()
                finally:
                    arrived.done()
            done.append(number)

    async def cancel(scope: anyio.CancelScope, steps: int) -> None:
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        scope.cancel()

    with anyio.fail_after(5):  # a lost wake-up would hang here
        async with anyio.create_task_group() as group:
            for number, (kind, steps, cancelled_after) in enumerate(calls):
                scope = anyio.CancelScope()
                group.start_soon(call, number, kind, steps, scope)
                if cancelled_after:
                    group.start_soon(cancel, scope, cancelled_after)
    never_cancelled = {number for number, (_, _, after) in enumerate(calls) if not after}
    assert never_cancelled <= set(done)
    return gate
