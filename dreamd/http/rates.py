"""How many requests a client may still make: a bucket each, filled as time passes, kept for the latest clients only."""

from collections import OrderedDict

from dreamd.clock import Clock

_MOST_CLIENTS = 1024
_MINUTE_S = 60.0


class Rates:
    """`per_minute` requests of each client, a sixth of them at once. 0: without end."""

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_s = per_minute / _MINUTE_S
        self._most = max(per_minute / 6, 1.0)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client -> what was left, when

    def wait_s(self, client: str) -> float:
        """0 when the client may ask now, which is counted; else for how many seconds it must wait."""
        if not self._per_s:
            return 0.0
        now = self._clock.monotonic()
        left, since = self._buckets.pop(client, (self._most, now))
        left = min(left + (now - since) * self._per_s, self._most)
        allowed = left >= 1.0
        self._buckets[client] = (left - 1.0 if allowed else left, now)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1.0 - left) / self._per_s
