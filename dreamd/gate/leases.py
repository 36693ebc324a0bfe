"""Slots that all processes of a store share: each of dreamd's own calls holds one while it runs, and says what it took.

A slot is a lease: it is renewed while its call runs and free again by itself when the process died. The store grants it
in one transaction, so that however many processes ask, no more calls run than the lane's rules allow.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Literal, TypeVar

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.clock import Clock
from dreamd.errors import BudgetSpent, DiskFull, DreamdError, ProviderRefused, StoreError
from dreamd.events import BUDGET_SPENT, Emit, silent
from dreamd.gate.budget import HOUR, Shortfall, day_began, needs, shortfall
from dreamd.parts import Shortage, last_shortage, limits_of, shortage_key
from dreamd.pool.tokens import estimate
from dreamd.sections import Budget
from dreamd.stores.base import Changes, Slot, Store

T = TypeVar("T")

RENEWALS = 3  # within the time of a lease
SHARED_S = 0.5  # until a slot that another process holds is asked for again
LONGEST_WAIT_S = 60.0  # until an exhausted budget is looked at again: clocks and configurations change


class NotNow(Struct, frozen=True):
    """Why a call may not start yet, and when to ask again."""

    why: Literal["budget", "shared"]
    words: str
    wait_s: float


class Leases:
    """The slots of one process. `new_id` gives names that no other process gives."""

    def __init__(
        self,
        store: Store,
        *,
        budget: Budget,
        lease_s: float,
        clock: Clock,
        new_id: Callable[[], str],
        emit: Emit = silent,
    ) -> None:
        self._store = store
        self._budget = budget
        self._lease_s = lease_s
        self._clock = clock
        self._new_id = new_id
        self._emit = emit
        self.exhausted = ""  # what of the budget was used up when a slot was last asked for
        self._taking = anyio.Lock()  # between looking at the budget and taking from it

    async def take(self, lane: str, agent: str, prompt: Prompt, *, most: int) -> Slot | NotNow:
        """A slot of the lane, if fewer than `most` calls of all processes hold one.

        Whoever is given one gives it back, cancelled or not. Raises StoreError, DiskFull, ProviderRefused when no
        day has tokens enough, and BudgetSpent when the agent's own share is used up.
        """
        async with self._taking:
            # what was taken must be known to whom it was given
            return await _finished(lambda: self._take(lane, agent, prompt, most))

    @asynccontextmanager
    async def held(self, slot: Slot) -> AsyncIterator[None]:
        """The slot is renewed while the block runs. Errors of the block pass as they are."""
        failure: DreamdError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._renew, slot)
            try:
                yield
            except DreamdError as error:  # a task group would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def give_back(self, slot: Slot, reply: Reply | None = None) -> None:
        """The call ended, with its reply or broken off. What cannot be written down ends by itself."""
        with suppress(StoreError, DiskFull):
            await _finished(lambda: self._write(_settled(slot, reply)))

    def _take(self, lane: str, agent: str, prompt: Prompt, most: int) -> Slot | NotNow:
        asked, answered = needs(prompt)
        exhausted = self._exhausted(agent, asked + answered)
        self.exhausted = exhausted.words if exhausted else ""
        if exhausted is not None:
            return exhausted
        slot = Slot(
            slot_id=self._new_id(),
            lane=lane,
            agent=agent,
            purpose=prompt.purpose,
            began_at=self._clock.now(),
            held_until=self._clock.now() + timedelta(seconds=self._lease_s),
            input_tokens=asked,
            output_tokens=answered,
        )
        if self._store.write(Changes(slots=(slot,), most_slots=most)).taken:
            return slot
        return NotNow("shared", "other processes of dreamd hold the slots", SHARED_S)

    def _exhausted(self, agent: str, tokens: int) -> NotNow | None:
        if self._budget == Budget():
            return None
        now = self._clock.now()
        found = shortfall(
            self._budget,
            agent,
            tokens,
            hour=self._store.spent(now - HOUR),
            day=self._store.spent(day_began(now)),
            now=now,
        )
        if found is None:
            return None
        if found.never:  # it would wait for ever, and the night with it
            raise ProviderRefused(
                found.words, hint="raise it in [budget], or lower the phase's max_input_tokens"
            )
        if found.own:  # other agents' nights come after this one's, and have budget
            self._remember(agent, found, now)
            raise BudgetSpent(found.words, hint="it is tried again")
        return NotNow("budget", found.words, min(max(found.wait_s, SHARED_S), LONGEST_WAIT_S))

    def _remember(self, agent: str, found: Shortfall, now: datetime) -> None:
        """For the status, and for who would only be refused again; told once a day."""
        until, today = now + timedelta(seconds=found.wait_s), now.astimezone().date()
        with suppress(StoreError, DiskFull):
            before = last_shortage(self._store, agent)
            one = Shortage(found.words, until, limits_of(self._budget), today)
            self._store.write(Changes(meta={shortage_key(agent): msgspec.json.encode(one).decode()}))
            if before is None or before.told != today:
                self._emit(BUDGET_SPENT, agent=agent, reason=found.words, until=until)

    async def _renew(self, slot: Slot) -> None:
        while True:
            await anyio.sleep(self._lease_s / RENEWALS)
            until = self._clock.now() + timedelta(seconds=self._lease_s)
            with suppress(StoreError, DiskFull):  # the next renewal comes before the lease ends
                await to_thread.run_sync(self._write, replace(slot, held_until=until))

    def _write(self, slot: Slot) -> None:
        self._store.write(Changes(slots=(slot,)))


async def _finished(work: Callable[[], T]) -> T:
    """In a thread, and not left before it is done."""
    done: list[T] = []
    with anyio.CancelScope(shield=True):
        done.append(await to_thread.run_sync(work))
    return done[0]


def _settled(slot: Slot, reply: Reply | None) -> Slot:
    """Given back, with what the call took as the provider told it, else by estimate. A broken-off one took its prompt."""
    if reply is None:
        return replace(slot, held_until=None, output_tokens=0)
    told = reply.input_tokens > 0 or reply.output_tokens > 0
    return replace(
        slot,
        held_until=None,
        input_tokens=reply.input_tokens if told else slot.input_tokens,
        output_tokens=reply.output_tokens if told else estimate(reply.text),
        told=told,
    )
