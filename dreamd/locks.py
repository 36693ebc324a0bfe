"""One process at a time: a lock file on the state folder that names who holds it.

The kernel drops the lock with its holder, so a lock left behind by a killed process holds nobody up.
"""

import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path

import msgspec
from anyio import to_thread
from msgspec import Struct

from dreamd.clock import Clock
from dreamd.errors import DiskFull, StateLocked, WorkspaceError

DAEMON, NIGHT = "daemon.lock", "night.lock"  # in the state folder
_LOOK_AGAIN_S = 0.05


def dream_lock(agent_id: str) -> str:
    """The lock that a dream of this agent holds, in the state folder."""
    return f"dream.{agent_id}.lock"


class Holder(Struct, frozen=True):
    """Who has a lock. `pid` is 0 when the file does not tell."""

    pid: int = 0
    since: datetime | None = None

    def __str__(self) -> str:
        since = f", since {self.since.isoformat(timespec='seconds')}" if self.since else ""
        return f"process {self.pid or 'unknown'}{since}"


@asynccontextmanager
async def exclusive(path: Path, clock: Clock, *, what: str, wait_s: float = 0.25) -> AsyncIterator[None]:
    """Hold the lock while inside.

    Raises StateLocked naming the holder when it is not free after `wait_s`; a moment is always granted, for
    `holder` takes the lock for an instant to see whether it is free. Raises WorkspaceError when the file cannot be
    opened (another user made it), DiskFull when it cannot be made.
    """
    patience = clock.monotonic() + wait_s
    while (handle := await to_thread.run_sync(_taken, path, clock.now())) is None:
        if clock.monotonic() >= patience:
            other = await to_thread.run_sync(_written, path)
            raise StateLocked(
                f"{what} on {path.parent} already: {other}", hint="stop that one, or wait for it"
            )
        await clock.sleep(_LOOK_AGAIN_S)
    try:
        yield
    finally:
        os.close(handle)


def one_night(state: Path, clock: Clock) -> AbstractAsyncContextManager[None]:
    """Hold the lock of the night while inside: who writes the agents' files. Raises as `exclusive`."""
    return exclusive(state / NIGHT, clock, what="a night is being run")


def holder(path: Path) -> Holder | None:
    """Who holds the lock now, or None. Reads only: makes no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _written(path)
    finally:
        os.close(handle)
    return None


def _taken(path: Path, now: datetime) -> int | None:
    """The descriptor that holds the lock, its holder written down; None when somebody else has it."""
    handle = _opened(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(OSError):  # a full disk: the lock holds all the same, it only does not say whose it is
            os.ftruncate(handle, 0)
            os.write(handle, msgspec.json.encode(Holder(os.getpid(), now)))
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if DiskFull.is_told_by(error):
            raise DiskFull(f"no space left to make {path}", hint="free some space") from error
        raise WorkspaceError(
            f"cannot open {path}: {error.strerror}",
            hint="dreamd's user must own its state folder and all in it",
        ) from error


def _written(path: Path) -> Holder:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return Holder()
