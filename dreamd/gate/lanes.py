"""Where every LLM call is announced: one lane an upstream, foreground calls at once, dream calls in their turn."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from dreamd.clock import Clock
from dreamd.events import Emit, silent
from dreamd.parts import Foreground, ForegroundCall
from dreamd.sections import Gate


def upstream_name(base_url: str) -> str:
    """One name for all spellings of an upstream's address: scheme, host and port; no user, path or query."""
    parts = urlsplit(base_url if "://" in base_url else f"http://{base_url}")
    port = parts.port or {"https": 443}.get(parts.scheme, 80)
    return f"{parts.scheme}://{(parts.hostname or '').rstrip('.')}:{port}"


class Lanes(Foreground):
    """All lanes of a process. Used from one event loop at a time. `concurrency` bounds the dream calls of each lane."""

    def __init__(self, settings: Gate, *, concurrency: int, clock: Clock, emit: Emit = silent) -> None:
        self._settings = settings
        self._concurrency = concurrency
        self._clock = clock
        self._emit = emit

    def arrive(self, upstream: str, prompt_bytes: int = 0) -> ForegroundCall:
        _ = upstream, prompt_bytes  # XXX counted from the next commit on
        return _Call()


class _Call(ForegroundCall):
    def answered(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None: ...

    def first_byte(self) -> None: ...

    def done(self) -> None: ...
