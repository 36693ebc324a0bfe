from collections.abc import Callable
from itertools import pairwise

import anyio
import pytest

from dreamd.errors import StoreBusy
from dreamd.supervisor.kept import FIRST_PAUSE_S, LONGEST_PAUSE_S, Failures, kept
from tests.night.conftest import House, house  # noqa: F401 - a fixture

Build = Callable[..., House]


class Weak:
    """A task that fails so often, then ends the test."""

    def __init__(self, times: int, error: Exception) -> None:
        self.left, self.error = times, error

    async def __call__(self) -> None:
        if not self.left:
            raise anyio.get_cancelled_exc_class()
        self.left -= 1
        raise self.error


async def failing(home: House, task: Weak) -> None:
    with pytest.raises(anyio.get_cancelled_exc_class()):
        await kept("follow", task, home.parts, Failures())


async def test_a_task_that_fails_is_told_and_begun_again_after_longer_and_longer_pauses(house: Build) -> None:  # noqa: F811
    home = house()
    await failing(home, Weak(11, StoreBusy("another process holds the store")))
    told = home.told.named("task.failed")
    assert [line["again_in_s"] for line in told] == [
        1,
        2,
        4,
        8,
        16,
        32,
        64,
        128,
        256,
        LONGEST_PAUSE_S,
        LONGEST_PAUSE_S,
    ]
    assert told[0]["error"] == "StoreBusy"
    assert told[0]["reason"] == "another process holds the store"


async def test_of_a_bug_the_class_and_place_are_told_and_not_its_words(house: Build) -> None:  # noqa: F811
    home = house()
    await failing(home, Weak(1, ExceptionGroup("many", [KeyError("a line of a log")])))
    (told,) = home.told.named("task.failed")
    assert told["error"] == "KeyError"
    assert "a line of a log" not in str(told)


async def test_a_task_that_returns_is_asked_again_after_a_pause_and_is_no_failure(house: Build) -> None:  # noqa: F811
    home, failures, asked = house(), Failures(), []

    async def idle() -> None:
        if len(asked) == 3:
            raise anyio.get_cancelled_exc_class()
        asked.append(home.clock.monotonic())

    with pytest.raises(anyio.get_cancelled_exc_class()):
        await kept("follow", idle, home.parts, failures)
    assert [later - earlier for earlier, later in pairwise(asked)] == [FIRST_PAUSE_S, FIRST_PAUSE_S]
    assert not failures
    assert home.told.named("task.failed") == []
