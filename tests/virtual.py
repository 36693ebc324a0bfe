"""Time that is only reckoned, and an upstream that lives in it: hours of traffic in seconds, the same on every machine.

    run(main)  # as asyncio.run, but whenever all tasks wait, the loop's clock jumps to the next timer

Nothing in it may wait for the world: no sockets, no threads.
"""

import asyncio
import random
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import anyio

from dreamd.calls import Prompt, Reply
from dreamd.clock import Clock
from dreamd.errors import ProviderBusy
from dreamd.parts import Foreground
from dreamd.providers.base import Provider, listener
from tests.upstream import Character, Kind, Slots

T = TypeVar("T")

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ONE_WAY_S = 0.0005  # on the network
REJECTED_S = 0.05  # until a refused call comes again


class _Jumping(selectors.BaseSelector):
    """Says at once that nothing happened, and that the time it was to wait for has come."""

    def __init__(self) -> None:
        self.now = 0.0
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list:
        assert timeout is not None, "all tasks wait for something that never comes"
        self.now += max(0.0, timeout)
        return []

    def register(self, fileobj, events, data=None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def get_map(self):
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)


class LoopClock(Clock):
    """The loop's time."""

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class VirtualUpstream:
    """Slots as `tests.upstream` has them; each token takes up to twice `uneven` more or less than the usual time.

    Of all calls the share `stumbles` is late by half a token's time on average.
    """

    def __init__(self, character: Character, seed: int, uneven: float = 0.05, stumbles: float = 0.0) -> None:
        self.character = character
        self.slots = Slots(character.slots)
        self.tokens: dict[Kind, int] = {"dream": 0, "foreground": 0}
        self.finished: dict[Kind, int] = {"dream": 0, "foreground": 0}
        self.wasted = 0
        self._draw = random.Random(seed)
        self._uneven = uneven
        self._stumbles = stumbles

    async def call(self, kind: Kind, tokens: int) -> bool:
        """False when it was refused. `first` is told through the listener, as a provider does."""
        await anyio.sleep(ONE_WAY_S)
        if self.character.full == "reject" and self.slots.full:
            await anyio.sleep(ONE_WAY_S)
            return False
        if self.character.full == "share":
            self.slots.taken += 1
        else:
            await self.slots.wait()
        made = 0
        try:
            async for _ in self._tokens(tokens):
                made += 1
                self.tokens[kind] += 1
                if made == 1 and (follows := listener.get()):
                    follows.first_byte()
        finally:
            noticed_s = ONE_WAY_S + self.character.noticed_s  # when hanging up has come through
            asyncio.get_running_loop().call_later(0 if made == tokens else noticed_s, self.slots.leave)
            self.wasted += made if made < tokens else 0
        self.finished[kind] += 1
        await anyio.sleep(ONE_WAY_S)
        return True

    async def _tokens(self, tokens: int):
        if self._draw.random() < self._stumbles:
            await anyio.sleep(self._draw.expovariate(2 / self.character.token_s))
        for token in range(tokens):
            shared = max(1.0, self.slots.taken / self.slots.number) if self.character.full == "share" else 1.0
            uneven = 1 + self._uneven * self._draw.uniform(-2, 2)
            first = self.character.first_s if token == 0 else 0.0
            await anyio.sleep((self.character.token_s * uneven + first) * shared)
            yield token


class VirtualProvider(Provider):
    def __init__(self, upstream: VirtualUpstream) -> None:
        self._upstream = upstream

    async def complete(self, prompt: Prompt) -> Reply:
        if not await self._upstream.call("dream", prompt.max_tokens):
            raise ProviderBusy("full", retry_after_s=REJECTED_S)
        return Reply(
            text="word " * prompt.max_tokens, stop="end", input_tokens=9, output_tokens=prompt.max_tokens
        )

    async def aclose(self) -> None: ...


async def foreground_call(upstream: VirtualUpstream, foreground: Foreground, tokens: int) -> int:
    """A person's call until it is answered: how often it was refused."""
    refused = 0
    while True:
        call = foreground.arrive("http://upstream/v1", 1000)
        token = listener.set(_Foreground(call))
        try:
            if await upstream.call("foreground", tokens):
                return refused
            call.answered(429, [(b"retry-after-ms", b"50")])
        finally:
            call.done()
            listener.reset(token)
        refused += 1
        await anyio.sleep(REJECTED_S)


class _Foreground:
    """A ForegroundCall that is told what a provider's listener is."""

    def __init__(self, call) -> None:
        self._call = call

    def first_byte(self) -> None:
        self._call.answered(200, [])
        self._call.first_byte()
