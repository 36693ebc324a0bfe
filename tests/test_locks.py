import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from anyio import to_thread

from dreamd.clock import StillClock
from dreamd.errors import StateLocked, WorkspaceError
from dreamd.locks import Holder, exclusive, holder, one_night


async def look(path: Path) -> Holder | None:
    return await to_thread.run_sync(holder, path)


HOLD = """
import fcntl, os, sys
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(handle, fcntl.LOCK_EX)
os.write(handle, b'{"pid":%d,"since":null}' % os.getpid())
print("held", flush=True)
sys.stdin.read()
"""


async def test_a_lock_names_its_holder_while_it_is_held(tmp_path: Path, clock: StillClock) -> None:
    path = tmp_path / "x.lock"
    assert await look(path) is None
    async with exclusive(path, clock, what="a test runs"):
        assert await look(path) == Holder(os.getpid(), datetime(2026, 3, 2, 12, 0, tzinfo=UTC))
    assert await look(path) is None


async def test_a_second_process_is_refused_and_told_the_first(tmp_path: Path, clock: StillClock) -> None:
    path = tmp_path / "x.lock"
    with subprocess.Popen(  # noqa: ASYNC220 - the first process has nothing to do but to hold
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        await to_thread.run_sync(first.stdout.readline)
        with pytest.raises(StateLocked, match=f"process {first.pid}"):
            async with exclusive(path, clock, what="a test runs"):
                pytest.fail("both hold it")
        first.kill()
    async with exclusive(path, clock, what="a test runs"):
        assert await look(path) is not None


async def test_a_holder_that_says_nothing_is_still_a_holder(tmp_path: Path, clock: StillClock) -> None:
    path = tmp_path / "x.lock"
    async with exclusive(path, clock, what="a test runs"):
        await to_thread.run_sync(path.write_bytes, b"\0garbage")
        assert str(await look(path)) == "process unknown"


async def test_a_lock_file_that_cannot_be_opened_is_a_clear_error(tmp_path: Path, clock: StillClock) -> None:
    (tmp_path / "night.lock").mkdir()
    with pytest.raises(WorkspaceError, match="must own"):
        async with one_night(tmp_path, clock):
            pytest.fail("held")
