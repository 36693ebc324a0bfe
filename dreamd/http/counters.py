"""What the face has done since it opened: for `/metrics`."""

from collections import Counter, defaultdict

from msgspec import Struct, field


class Counters(Struct):
    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """By method, route and status."""
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Of answering, by route."""
    in_flight: int = 0
    body_bytes: int = 0
    """Of requests in flight, held in memory."""
    connections: int = 0
    turned_away: int = 0
    """Connections, for there were too many."""
