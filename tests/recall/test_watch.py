from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.errors import DiskFull, ProviderUnreachable
from dreamd.events import Event
from dreamd.parts import Parts
from dreamd.recall.following import PAGE
from dreamd.recall.watch import AGAIN_S, LOOK_S, watch
from dreamd.stores.base import Mark
from tests.recall.pouring import house, pour, record


class Enough(Exception):
    pass


class Sleeps:
    """A clock that notes how long was slept and ends after some sleeps."""

    def __init__(self, most: int) -> None:
        self.slept: list[float] = []
        self._most = most

    def now(self) -> object:
        raise NotImplementedError

    def monotonic(self) -> float:
        return float(len(self.slept))

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) >= self._most:
            raise Enough
        await anyio.lowlevel.checkpoint()


async def watched(parts: Parts, most: int, told: list[str] | None = None) -> list[float]:
    clock = Sleeps(most)

    def emit(event: Event, /, **_: object) -> None:
        if told is not None:
            told.append(event.name)

    with pytest.raises(Enough):
        await watch(replace(parts, clock=clock, emit=emit))
    return clock.slept


async def test_the_index_comes_up_to_the_pool_a_page_at_a_time_and_then_looks_now_and_then(
    parts: Parts,
) -> None:
    pour(parts, *(record(number, f"message{number}") for number in range(2 * PAGE + 1)))
    slept = await watched(parts, 4)
    assert all(seconds < LOOK_S for seconds in slept[:2])
    assert slept[2:] == [LOOK_S, LOOK_S]
    assert parts.index is not None
    assert (await to_thread.run_sync(parts.index.mark)).seq == 2 * PAGE + 1


class Down:
    model = "m"

    def __init__(self, answers: list[bool]) -> None:
        self._answers = answers

    async def of(self, texts: list[str]) -> list[list[float]]:
        if not self._answers.pop(0):
            raise ProviderUnreachable("down")
        return [[1.0, 0.5] for _ in texts]


async def test_a_server_of_embeddings_that_goes_and_returns_is_told_once_each(tmp_path: Path) -> None:
    with house(tmp_path, meaning=Down([False, False, True])) as parts:
        pour(parts, record(1, "x"))
        told: list[str] = []
        slept = await watched(parts, 4, told)
        assert told == ["embeddings.unavailable", "embeddings.returned"]
        assert slept[:2] == [AGAIN_S, AGAIN_S]


async def test_a_full_disk_is_told_and_waited_for(parts: Parts) -> None:
    class Full:
        def mark(self) -> Mark:
            raise DiskFull("full")

    told: list[str] = []
    assert await watched(replace(parts, index=Full()), 1, told) == [AGAIN_S]
    assert told == ["disk.full"]
