"""What is done beside dream calls while there are any: turns are looked for, long waits told, the lane's state shown."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio import to_thread

from dreamd.clock import Clock
from dreamd.errors import DiskFull, DreamdError, StoreError
from dreamd.events import DREAM_WAITS, DREAM_WAITS_LONG, Emit
from dreamd.gate.lane import Lane
from dreamd.gate.shown import LaneShown, is_news, publish, shown
from dreamd.gate.state import Dream, why
from dreamd.gate.turns import Turns, Underway
from dreamd.gate.waits import Teller, Wait, wait
from dreamd.stores.base import Store

LOOK_S = 1.0
WAITS_S = 3.0  # a person who waits for a command wonders
SHOW_S = 5.0  # at most so often


class Attendant:
    """Of the lane of dreamd's own calls, beside the `turns` of agents whose calls go to the same upstream.

    `exhausted` says what of the budget is used up, "" where nothing is.
    """

    def __init__(
        self,
        lane: Lane,
        store: Store,
        *,
        turns: Turns,
        exhausted: Callable[[], str],
        long_wait_s: float,
        clock: Clock,
        emit: Emit,
    ) -> None:
        self._lane = lane
        self._store = store
        self._turns = turns
        self._exhausted = exhausted
        self._long_wait_s = long_wait_s
        self._clock = clock
        self._emit = emit
        self._one_at_a_time = anyio.Lock()
        self._looked = float("-inf")
        self._under_way: tuple[Underway, ...] = ()
        self._teller = Teller(WAITS_S)
        self._told: dict[int, float] = {}  # how long a call had waited when that was last told
        self._last: LaneShown | None = None
        self._last_at = float("-inf")

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Attends to the lane while the block runs, unless another call's block does. Errors of the block pass as they are."""
        failure: DreamdError | None = None
        await self._look()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._attend)
            try:
                yield
            except DreamdError as error:  # a task group would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if self._lane.empty:
            await self._show()
        if failure is not None:
            raise failure

    async def _attend(self) -> None:
        async with self._one_at_a_time:
            while True:
                await anyio.sleep(LOOK_S)
                await self._look()
                self._tell_waits()
                self._tell_long_waits()
                if self._clock.monotonic() - self._last_at >= SHOW_S:
                    await self._show()

    async def _look(self) -> None:
        """For turns, unless that was done just now."""
        if self._clock.monotonic() - self._looked < LOOK_S / 2:
            return
        self._looked = self._clock.monotonic()
        with suppress(StoreError):  # it is busy: what was seen last counts on
            self._under_way = await to_thread.run_sync(self._turns.that_count, self._waited_s)
            self._lane.turns(len(self._under_way))

    @property
    def _first(self) -> Dream | None:
        """The call that waits longest."""
        return min(self._lane.state.waiting, key=lambda dream: dream.came, default=None)

    @property
    def _waited_s(self) -> float:
        return self._clock.monotonic() - self._first.came if self._first else 0.0

    def _wait_of(self, dream: Dream) -> Wait | None:
        return wait(self._lane.state, dream, self._under_way, self._exhausted(), self._clock.now())

    def _tell_waits(self) -> None:
        one = self._wait_of(self._first) if self._first else None
        if self._teller.is_due(one, self._clock.monotonic()) and one is not None:
            self._emit(DREAM_WAITS, lane=self._lane.name, why=one.why, what=one.what, todo=one.todo)

    def _tell_long_waits(self) -> None:
        """Of each call after `long_wait_s`, and again whenever it has waited twice as long as told."""
        state = self._lane.state
        waiting = {dream.ticket: dream for dream in state.waiting}
        self._told = {ticket: waited for ticket, waited in self._told.items() if ticket in waiting}
        for ticket, dream in waiting.items():
            waited = state.now - dream.came
            if waited >= max(self._long_wait_s, 2 * self._told.get(ticket, 0.0)):
                self._told[ticket] = waited
                one = self._wait_of(dream)
                self._emit(
                    DREAM_WAITS_LONG,
                    lane=self._lane.name,
                    waits_s=round(waited),
                    why=one.why if one else why(state, dream),
                    what=one.what if one else "other calls of dreamd",
                    made_way=dream.made_way,
                )

    async def _show(self) -> None:
        counts = self._lane.counts
        one = shown(
            self._lane.name,
            self._lane.state,
            self._clock.now(),
            made_way=counts["made_way"],
            refused=counts["refused"],
        )
        self._last_at = self._clock.monotonic()
        if is_news(one, self._last) or self._lane.state.waiting:
            self._last = one
            with suppress(StoreError, DiskFull):  # it is shown the next time
                await to_thread.run_sync(publish, self._store, one)
