"""Whether somebody who promised to wake up has overslept: what the watchdog asks of the night's watch."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from dreamd.clock import Clock


class Pulse:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until = math.inf

    @contextmanager
    def asleep(self, at_most_s: float) -> Iterator[None]:
        self._until = self._clock.monotonic() + at_most_s
        try:
            yield
        finally:
            self._until = math.inf

    def late(self) -> bool:
        return self._clock.monotonic() > self._until
