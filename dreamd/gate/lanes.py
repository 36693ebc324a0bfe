"""Where every LLM call is announced: one lane an upstream, foreground calls at once, dream calls in their turn."""

import hashlib
from urllib.parse import urlsplit

from dreamd.clock import Clock
from dreamd.events import Emit, silent
from dreamd.gate.lane import Lane
from dreamd.parts import Foreground, ForegroundCall
from dreamd.sections import Gate


def upstream_name(base_url: str) -> str:
    """One name for all spellings of an upstream's address: scheme, host and port; no user, path or query."""
    parts = urlsplit(base_url if "://" in base_url else f"http://{base_url}")
    try:
        port = parts.port
    except ValueError:  # no number, or none of a port
        port = None
    port = port or {"https": 443}.get(parts.scheme, 80)
    return f"{parts.scheme}://{(parts.hostname or '').rstrip('.')}:{port}"


def key_name(key: str | bytes) -> str:
    """What an API key is called where quotas are told apart: never the key itself. "" for none."""
    whole = key.encode() if isinstance(key, str) else key
    return hashlib.sha256(whole).hexdigest()[:16] if whole else ""


class Lanes(Foreground):
    """All lanes of a process. Used from one event loop at a time.

    An upstream's slots are one lane's, whoever pays: calls with other keys than dreamd's own (`own_key`, a `key_name`)
    take slots like all others, but tell nothing of the quota that dreamd lives on. `concurrency` bounds the dream calls
    of each lane.
    """

    def __init__(
        self, settings: Gate, *, concurrency: int, clock: Clock, emit: Emit = silent, own_key: str = ""
    ) -> None:
        self._settings = settings
        self._concurrency = concurrency
        self._clock = clock
        self._emit = emit
        self._own_key = own_key
        self._lanes: dict[str, Lane] = {}
        self._spellings: dict[str, Lane] = {}

    def arrive(self, upstream: str, prompt_bytes: int = 0, key: str = "") -> ForegroundCall:
        return self.lane(upstream).arrive(prompt_bytes, own_key=key in ("", self._own_key))

    def lane(self, upstream: str) -> Lane:
        """The lane of a base URL, however it is spelled."""
        known = self._spellings.get(upstream)
        if known is None:
            name = upstream_name(upstream)
            known = self._lanes.setdefault(name, self._opened(name))
            self._spellings[upstream] = known
        return known

    def busy(self) -> bool:
        return any(lane.state.foreground for lane in self.open)

    @property
    def open(self) -> tuple[Lane, ...]:
        """All lanes that a call has gone through."""
        return tuple(self._lanes.values())

    def _opened(self, name: str) -> Lane:
        return Lane(name, self._settings, concurrency=self._concurrency, clock=self._clock, emit=self._emit)
