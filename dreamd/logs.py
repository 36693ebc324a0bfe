"""Events go in, structured lines come out on standard error: JSON, or plain columns on a terminal.

Values only: no log text, prompt or key ever reaches an event, so there is nothing here to redact.
"""

import contextlib
import sys
from collections.abc import Iterator, MutableMapping
from datetime import date
from pathlib import PurePath
from types import ModuleType
from typing import Any, TextIO, cast

from dreamd.events import (
    DISK_FULL,
    PHASE_FINISHED,
    SOURCE_READABLE,
    SOURCE_UNREADABLE,
    SYNC_FINISHED,
    Emit,
    Event,
)
from dreamd.sections import Logs

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


# structlog loads it where it is installed: 40 ms and 7 MB for tracebacks we never print
with _without("rich"):
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
            _plain,
            _renderer(logs, stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logs.level),
        cache_logger_on_first_use=True,
    )

    def emit(event: Event, /, **values: object) -> None:
        with contextlib.suppress(OSError):
            getattr(logger, event.level)(event.name, **values)

    return emit


def _plain(_logger: object, _method: str, values: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Paths and dates as people write them, in both renderings."""
    return {key: str(value) if isinstance(value, PurePath | date) else value for key, value in values.items()}


def _renderer(logs: Logs, stream: TextIO) -> Any:
    if logs.format == "console" or (logs.format == "auto" and stream.isatty()):
        return structlog.dev.ConsoleRenderer(colors=stream.isatty())
    return structlog.processors.JSONRenderer(default=str, ensure_ascii=False)


def on_change(emit: Emit) -> Emit:
    """The same, but a trouble that lasts is told once, though the follower and every night meet it anew.

    A full disk, until something was stored again; a log that cannot be read, until it can or the reason is another.
    """
    troubles: dict[object, object] = {}

    def told(event: Event, /, **values: object) -> None:
        source = (values.get("agent"), values.get("path"))
        if event in STORED:
            troubles.pop(DISK_FULL, None)
        if event == SOURCE_READABLE:
            troubles.pop(source, None)
        if event in (DISK_FULL, SOURCE_UNREADABLE):
            trouble, reason = (DISK_FULL, None) if event == DISK_FULL else (source, values.get("reason"))
            if trouble in troubles and troubles[trouble] == reason:
                return
            troubles[trouble] = reason
        emit(event, **values)

    return told
