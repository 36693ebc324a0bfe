"""For agents written in Python: what they do goes into a trace log, which dreamd reads like any other.

    from dreamd.trace import Tracer

    tracer = Tracer("~/traces")
    with tracer.task("Book a table for two", by="human") as task:
        with task.action("search", {"q": "noodles"}) as action:
            action.result = search("noodles")
        task.summary("Three places have a table.")
        task.end("Booked for 19:00.")

`AsyncTracer` is the same with `async with` and `await`. Needs the standard library alone. What the lines mean, and
whose words `by` makes them, says `dreamd/formats/trace.py`.

Law: when a call returns, its line is on the disk, in one piece, whatever then happens to the agent; other threads and
processes may write to the same log; no call waits for dreamd, and none ever raises for the log's sake. A line for which
the disk has no room waits for the next call.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import json
import logging
import os
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Generic, Literal, Self, TypeVar

By = Literal["human", "scheduled", "subagent", "agent"]
Role = Literal["user", "assistant", "system"]

VERSION = 1  # of the format
LONGEST = 64 << 10  # characters of a text, or of an action's arguments or result; dreamd keeps no more
MAX_BYTES = 256 << 20  # of a log, before the session goes on in another
MAX_WAITING = 256  # lines for which there was no room
PATIENCE_S = (
    2.0  # with whoever holds the log's lock; then it is appended without: one write is one piece all the same
)

_LOOK_AGAIN_S = 0.005
_LONGEST_NAME = 48  # characters of a session in a file's name
_UNFIT = re.compile(r"[^\w-]+")
_UNWRITABLE = (OSError, ValueError)  # the system's own, and a path with a NUL

_log = logging.getLogger(__name__)
R = TypeVar("R")


def utc_now() -> datetime:
    return datetime.now(UTC)


def fresh_id() -> str:
    return secrets.token_hex(8)


class Log:
    """A session's log: `<place>/<session>.jsonl`, or `place` itself where it ends so. Made when first written."""

    def __init__(self, place: str | Path, session: str, max_bytes: int = MAX_BYTES) -> None:
        self.place = Path(place).expanduser()
        self._name = _file_name(session)
        self._max_bytes = max_bytes
        self._waiting: deque[bytes] = deque()
        self._turn = threading.RLock()  # reentrant: a signal's own lines may come amid another's
        self._pid = os.getpid()
        self._dropped = 0
        self._told = False
        self._patience_s = PATIENCE_S

    @property
    def missing(self) -> int:
        """How many lines are not on the disk: they wait for room, or were too many to wait."""
        return self._dropped + len(self._waiting)

    def put(self, line: bytes) -> None:
        """Line up; `flush` writes. Takes microseconds."""
        if (
            self._pid != os.getpid()
        ):  # a fork: what waits is the parent's, and so is the thread that holds the lock
            self._pid, self._turn = os.getpid(), threading.RLock()
            self._waiting, self._dropped = deque(), 0
        self._waiting.append(line)

    def flush(self) -> None:
        """All lines that were lined up are on the disk afterwards. Threads that come together share one fsync."""
        with self._turn:
            lines = self._taken()
            written = not lines  # by the thread that had its turn before
            try:
                if lines:
                    locked = _append(self._path(), b"".join(lines), self._patience_s)
                    self._patience_s = (
                        PATIENCE_S if locked else 0.0
                    )  # whoever does not let go is waited for once
                    written, self._told = True, False
            except _UNWRITABLE as error:
                self._tell(error)
            finally:
                if not written:
                    self._put_back(lines)

    def _taken(self) -> list[bytes]:
        lines: list[bytes] = []
        with contextlib.suppress(IndexError):
            while True:
                lines.append(self._waiting.popleft())
        return lines

    def _put_back(self, lines: list[bytes]) -> None:
        self._waiting.extendleft(reversed(lines))
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self._dropped += 1

    def _tell(self, error: Exception) -> None:
        """Once, until a line is written again."""
        if not self._told:
            reason = getattr(error, "strerror", None) or type(error).__name__
            _log.warning("cannot write the trace log in %s: %s; its lines wait in memory", self.place, reason)
        self._told = True

    def _path(self) -> Path:
        """The session's first log that has room. None is ever renamed, so all processes find the same."""
        first = self.place if self.place.suffix == ".jsonl" else self.place / f"{self._name}.jsonl"
        number = count(2)
        path = first
        while _size(path) >= self._max_bytes:
            path = first.with_name(f"{first.stem}.{next(number)}.jsonl")
        return path


class _Voice(Generic[R]):
    """What an agent may tell. R is None, or an awaitable of it."""

    def __init__(
        self,
        place: str | Path | Log,
        session: str = "",
        task_id: str = "",
        *,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = fresh_id,
    ) -> None:
        """Into the folder (or `.jsonl` file) `place`. `session` names the conversation; "": a new one."""
        self.session = session or f"{now():%Y%m%d-%H%M%S}-{new_id()}"
        self.task_id = task_id
        self.log = place if isinstance(place, Log) else Log(place, self.session)
        self.now, self.new_id = now, new_id

    def goal(self, text: str, *, by: By = "agent") -> R:
        """What is to be reached; a later goal of the task replaces it."""
        return self.tell("goal", by=by, text=text)

    def subgoal(self, text: str, *, by: By = "agent") -> R:
        """The step under way."""
        return self.tell("subgoal", by=by, text=text)

    def message(self, role: Role, text: str, *, by: By | None = None) -> R:
        """What was said. A user's message is a human's unless `by` says otherwise."""
        return self.tell("message", role=role, by=by, text=text)

    def summary(self, text: str) -> R:
        """One line on where things stand."""
        return self.tell("summary", text=text)

    def checkpoint(self, text: str = "") -> R:
        """A place to pause at."""
        return self.tell("checkpoint", text=text)

    def end(self, text: str = "", *, ok: bool = True) -> R:
        """The task is over."""
        return self.tell("end", ok=ok, text=text)

    def tell(self, kind: str, **fields: object) -> R:
        """A line of any kind, as the format has them; what is None or "" is left out."""
        return self._write(
            _line(kind, self.session, self.task_id, _moment(self.now()), self.new_id(), fields)
        )

    def _write(self, line: bytes) -> R:
        raise NotImplementedError


class _Call(Generic[R]):
    """A tool call. Set `result`, or `error` when it failed without raising."""

    def __init__(self, voice: _Voice[R], tool: str, arguments: object) -> None:
        self.result: object = None
        self.error = ""
        self._voice, self._tool, self._arguments = voice, tool, arguments
        self._id = voice.new_id()

    def _begin(self) -> R:
        return self._voice.tell("action", id=self._id, tool=self._tool, arguments=self._arguments)

    def _end(self, raised: BaseException | None) -> R:
        error = self.error if raised is None else _said(raised)
        return self._voice.tell("result", of=self._id, error=error, result=None if error else self.result)


class Tracer(_Voice[None]):
    """Tells from threads and plain code."""

    def action(self, tool: str, arguments: object = None) -> "Action":
        """A tool call, as a context: it is on the disk when the call begins, and again when it ends or raises."""
        return Action(self, tool, arguments)

    def task(self, goal: str, *, by: By = "agent", task_id: str = "") -> "Task":
        """A task, as a context: its goal is told at the start, and its end unless `end` was called."""
        return Task(self, goal, by, task_id)

    def _write(self, line: bytes) -> None:
        self.log.put(line)
        self.log.flush()


class Action(_Call[None]):
    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> None:
        self._end(raised)


class Task(Tracer):
    def __init__(self, tracer: Tracer, goal: str, by: By, task_id: str) -> None:
        super().__init__(
            tracer.log, tracer.session, task_id or tracer.new_id(), now=tracer.now, new_id=tracer.new_id
        )
        self._goal, self._by, self._ended = goal, by, False

    def end(self, text: str = "", *, ok: bool = True) -> None:
        self._ended = True
        super().end(text, ok=ok)

    def __enter__(self) -> Self:
        self.goal(self._goal, by=self._by)
        return self

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> None:
        if not self._ended:
            self.end("" if raised is None else _said(raised), ok=raised is None)


class AsyncTracer(_Voice[Awaitable[None]]):
    """Tells from asyncio; the disk is waited for in a thread, and a cancelled call is written all the same."""

    def action(self, tool: str, arguments: object = None) -> "AsyncAction":
        """As `Tracer.action`."""
        return AsyncAction(self, tool, arguments)

    def task(self, goal: str, *, by: By = "agent", task_id: str = "") -> "AsyncTask":
        """As `Tracer.task`."""
        return AsyncTask(self, goal, by, task_id)

    async def _write(self, line: bytes) -> None:
        self.log.put(line)  # at once, so that lines keep their order
        try:
            job = asyncio.get_running_loop().run_in_executor(None, self.log.flush)
        except RuntimeError:  # the threads were dismissed: the agent is ending
            self.log.flush()
        else:
            await asyncio.shield(job)


class AsyncAction(_Call[Awaitable[None]]):
    async def __aenter__(self) -> Self:
        await self._begin()
        return self

    async def __aexit__(self, _: object, raised: BaseException | None, __: object) -> None:
        await self._end(raised)


class AsyncTask(AsyncTracer):
    def __init__(self, tracer: AsyncTracer, goal: str, by: By, task_id: str) -> None:
        super().__init__(
            tracer.log, tracer.session, task_id or tracer.new_id(), now=tracer.now, new_id=tracer.new_id
        )
        self._goal, self._by, self._ended = goal, by, False

    async def end(self, text: str = "", *, ok: bool = True) -> None:
        self._ended = True
        await super().end(text, ok=ok)

    async def __aenter__(self) -> Self:
        await self.goal(self._goal, by=self._by)
        return self

    async def __aexit__(self, _: object, raised: BaseException | None, __: object) -> None:
        if not self._ended:
            await self.end("" if raised is None else _said(raised), ok=raised is None)


def _line(kind: str, session: str, task_id: str, at: str, line_id: str, fields: dict[str, object]) -> bytes:
    """One line of the format; `dreamd` stands first, by which the log is known."""
    head = {"dreamd": VERSION, "kind": kind, "session": session, "task": task_id, "at": at, "id": line_id}
    told = {key: value for key, value in {**head, **fields}.items() if value is not None and value != ""}
    text = ",".join(f"{_json(key)}:{_json(value)}" for key, value in told.items())
    return f"{{{text}}}\n".encode("utf-8", "replace")


def _json(value: object) -> str:
    """Any object as JSON of a bounded length: what JSON cannot say becomes text, and what is too long its head."""
    try:
        if isinstance(value, str):
            return _quoted(_cut(value))
        try:
            encoded = _head(_pieces(value))
        except (TypeError, ValueError, RecursionError):
            return _quoted(_cut(_text(value)))
        return encoded if len(encoded) <= LONGEST else _quoted(_cut(encoded))
    except Exception:  # noqa: BLE001 - an agent's own objects may raise anything when looked at
        return _quoted(_nameless(value))


def _head(pieces: Iterable[str]) -> str:
    """All, or a little more than is kept of what is longer: nobody waits for the rest of a large thing to be encoded."""
    found: list[str] = []
    size = 0
    for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size > LONGEST:
            break
    return "".join(found)


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - likewise
        return _nameless(value)


def _nameless(value: object) -> str:
    return f"({type(value).__name__})"


_pieces = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_text).iterencode
_quoted = json.JSONEncoder(ensure_ascii=False).encode


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text(error)}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _file_name(session: str) -> str:
    """The session as part of a file's name; with a hash when it says the session only in part."""
    fit = _UNFIT.sub("_", session)[:_LONGEST_NAME]
    digest = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:12]
    return session if fit == session else f"{fit}-{digest}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _append(path: Path, data: bytes, patience_s: float) -> bool:
    """Durably, in one piece, on a line of its own even where a writer was killed in the middle of its. Whether `_lock`."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        locked = _lock(handle, patience_s)
        size = os.fstat(handle).st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        rest = b"\n" + data if torn else data
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
        if not size:
            _sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # a child that was forked meanwhile would hold it on
        os.close(handle)
    return locked


def _lock(handle: int, patience_s: float) -> bool:
    """Hold the log's lock, if that can be had in time on this file system. False: another holds it on and on."""
    patience = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= patience:
                return False
            threading.Event().wait(_LOOK_AGAIN_S)
        except OSError:
            return True  # there are no locks here
        else:
            return True


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
