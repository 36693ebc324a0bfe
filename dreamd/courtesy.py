"""Courtesy: how work in a thread makes way for calls that pass the event loop, with which it shares the interpreter.

While a call is under way the thread works in slices of `SLICE_S` and pauses `PAUSE` times as long after each, so that it
is in nobody's way and still always goes on. Without calls it costs a look at the clock.
"""

import time
from collections.abc import Callable

SLICE_S = 0.002  # what holds the loop up no longer than a breath
PAUSE = 50.0  # times a slice: tests/benchmarks/chunk_lag.py shows what it is worth
LONGEST_PAUSE_S = 1.0  # where one piece of work could not be sliced


class Courtesy:
    """Of one thread. `busy` says whether a call is under way, `wait` makes the thread wait for so many seconds."""

    def __init__(
        self,
        busy: Callable[[], bool],
        wait: Callable[[float], object],
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._busy = busy
        self._wait = wait
        self._now = now
        self._began = now()

    def enough(self) -> bool:
        """Whether the slice is over: what is begun should be ended now, and `rest` called."""
        return self._now() - self._began >= SLICE_S and self._busy()

    def rest(self) -> None:
        """Pause when the slice is over; a new one begins."""
        worked = self._now() - self._began
        if worked < SLICE_S:
            return
        if self._busy():
            self._wait(min(PAUSE * worked, LONGEST_PAUSE_S))
        self._began = self._now()
