"""Calls that made way and may still be in their slots: how many, and how long a server takes to notice (learned)."""

from collections import deque

NOTICED_S, LONGEST_S = 0.3, 5.0  # until a server has noticed that nobody listens; longer where it was seen to
LONGER, SHORTER = 1.5, 0.995  # than a call had to wait for that; with each call that had not


class Breaks:
    """Of one upstream. Moments are monotonic seconds."""

    def __init__(self) -> None:
        self.noticed_s = NOTICED_S
        self._moments: deque[float] = deque()
        self._try_at = float("-inf")

    def add(self, calls: int, now: float, *, tried: bool) -> None:
        """So many make way; `tried` where one of them was a try."""
        self._moments.extend([now] * calls)
        if tried:
            self._try_at = now

    def left(self, now: float) -> int:
        """How many may still be in their slots."""
        while self._moments and self._moments[0] < now - self.noticed_s:
            self._moments.popleft()
        return len(self._moments)

    def beside_try(self, now: float) -> bool:
        """Whether calls may wait because of a try, whatever is spare."""
        return now - self._try_at < self.noticed_s

    def waited(self, seconds: float) -> None:
        """A call beside them waited so long."""
        self.noticed_s = min(max(self.noticed_s, LONGER * seconds), LONGEST_S)

    def refused(self) -> None:
        """A call beside them was refused: nobody knows how long it would have had to wait."""
        self.waited(self.noticed_s)

    def went_well(self) -> None:
        self.noticed_s = max(NOTICED_S, self.noticed_s * SHORTER)
