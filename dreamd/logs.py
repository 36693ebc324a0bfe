"""Events go in, structured lines come out on standard error: JSON, or plain columns on a terminal.

Values only: no log text, prompt or key ever reaches an event, so there is nothing here to redact.
"""

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, TextIO, cast

from dreamd.config import Logs
from dreamd.events import DISK_FULL, PHASE_FINISHED, SYNC_FINISHED, Emit, Event

STORED = (SYNC_FINISHED, PHASE_FINISHED)


@contextlib.contextmanager
def _without(name: str) -> Iterator[None]:
    """What is imported inside does not find the package `name`."""
    known = sys.modules.get(name)
    sys.modules[name] = cast("ModuleType", None)
    try:
        yield
    finally:
        del sys.modules[name]
        if known is not None:
            sys.modules[name] = known


with _without(
    "rich"
):  # structlog loads it where it is installed: 40 ms and 7 MB for tracebacks we never print
    import structlog


def emitter(logs: Logs, to: TextIO | None = None) -> Emit:
    """Where events of at least `logs.level` are told, with a UTC timestamp, by default on standard error.

    A log that cannot be written (full disk, closed pipe) loses its lines and disturbs nobody.
    """
    stream = to or sys.stderr
    logger = structlog.wrap_logger(
        structlog.PrintLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _renderer(logs, stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logs.level),
        cache_logger_on_first_use=True,
    )

    def emit(event: Event, /, **values: object) -> None:
        with contextlib.suppress(OSError):
            getattr(logger, event.level)(event.name, **values)

    return emit


def _renderer(logs: Logs, stream: TextIO) -> Any:
    if logs.format == "console" or (logs.format == "auto" and stream.isatty()):
        return structlog.dev.ConsoleRenderer(colors=stream.isatty())
    return structlog.processors.JSONRenderer(default=str, ensure_ascii=False)


def on_change(emit: Emit) -> Emit:
    """The same, but a full disk is told once, until something was stored again."""
    full = False

    def told(event: Event, /, **values: object) -> None:
        nonlocal full
        if full and event == DISK_FULL:
            return
        full = event == DISK_FULL or (full and event not in STORED)
        emit(event, **values)

    return told
