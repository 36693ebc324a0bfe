"""A provider that waits its turn: the gate's rules (`state.py`) on the event loop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import anyio

from dreamd.calls import Prompt, Reply
from dreamd.gate.deadline import stands_still
from dreamd.gate.state import GateState, Lane, Step, arrive, leave
from dreamd.providers.base import Provider


class Gate:
    """The one gate of all LLM calls: at most `limit` dream calls in flight. Used from one event loop at a time."""

    def __init__(self, limit: int) -> None:
        self._state = GateState(limit)
        self._tickets = count(1)
        self._doors: dict[int, anyio.Event] = {}

    @property
    def state(self) -> GateState:
        return self._state

    @asynccontextmanager
    async def turn(self, lane: Lane) -> AsyncIterator[None]:
        """A call's place in the gate, for as long as the block runs. A dream call may wait here, whatever the deadline."""
        ticket, door = next(self._tickets), anyio.Event()
        self._doors[ticket] = door
        self._go(arrive(self._state, ticket, lane))
        try:
            if not door.is_set():
                with stands_still():
                    await door.wait()
            yield
        finally:
            del self._doors[ticket]
            self._go(leave(self._state, ticket))

    def _go(self, step: Step) -> None:
        self._state = step.state
        for ticket in step.started:
            self._doors[ticket].set()


class GatedProvider(Provider):
    """Each call takes a turn at the gate. Raises what the provider within raises."""

    def __init__(self, gate: Gate, provider: Provider, lane: Lane = "dream") -> None:
        self._gate = gate
        self._provider = provider
        self._lane: Lane = lane

    async def complete(self, prompt: Prompt) -> Reply:
        async with self._gate.turn(self._lane):
            return await self._provider.complete(prompt)

    async def aclose(self) -> None:
        await self._provider.aclose()
