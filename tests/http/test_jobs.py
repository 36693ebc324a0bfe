"""Work that outlives its request."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path

import anyio
import anyio.abc
import pytest

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.errors import StateLocked
from dreamd.events import Emit, silent
from dreamd.http.jobs import Errand, Jobs, NightDone, finish
from dreamd.http.problems import Refused
from dreamd.parts import Parts
from dreamd.stores.inmemory import InMemoryStore

DONE = NightDone(date(2026, 3, 2), (), {})


def jobs(
    tasks: anyio.abc.TaskGroup, emit: Emit = silent, *, errands: dict[str, Errand] | None = None
) -> Jobs:
    numbers: Iterator[int] = count()
    clock = StillClock(datetime(2026, 3, 2, tzinfo=UTC))
    parts = Parts(config=Config(), state=Path(), store=InMemoryStore(), clock=clock, emit=emit)
    return Jobs(tasks, parts, lambda: f"{next(numbers):x}", {} if errands is None else errands)


async def at_once(_parts: Parts) -> NightDone:
    return DONE


async def locked(_parts: Parts) -> NightDone:
    raise StateLocked("a night is being run", hint="wait for it")


async def endless(_parts: Parts) -> NightDone:
    return await anyio.sleep_forever()


async def test_a_job_runs_and_then_tells_what_it_did() -> None:
    async with anyio.create_task_group() as tasks:
        known = jobs(tasks)
        job = known.start("night", at_once)
        assert (job.state, known.running) == ("running", 1)
    ended = known.of(job.id)
    assert (ended.state, ended.night) == ("done", DONE)
    assert ended.ended_at is not None


async def test_a_job_that_fails_says_why_and_ends_nothing_else() -> None:
    async with anyio.create_task_group() as tasks:
        known = jobs(tasks)
        job = known.start("night", locked)
    ended = known.of(job.id)
    assert ended.state == "failed"
    assert ended.problem is not None
    assert (ended.problem.detail, ended.problem.hint) == ("a night is being run", "wait for it")


async def test_a_job_that_is_broken_off_is_begun_again_with_the_next_face_and_its_parts() -> None:
    errands: dict[str, Errand] = {}
    begun: list[Parts] = []

    async def at_the_second_time(parts: Parts) -> NightDone:
        begun.append(parts)
        return DONE if len(begun) > 1 else await endless(parts)

    async with anyio.create_task_group() as tasks:
        known = jobs(tasks, errands=errands)
        before, job = known.start("night", at_once), known.start("night", at_the_second_time)
        while not begun or known.of(before.id).state == "running":
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert known.of(job.id).state == "running"
    async with anyio.create_task_group() as tasks:
        again = jobs(tasks, errands=errands)
        assert again.running == 1
    assert {again.of(one.id).state for one in (before, job)} == {"done"}
    assert len({id(parts) for parts in begun}) == 2


async def test_only_so_many_run_at_a_time() -> None:
    async with anyio.create_task_group() as tasks:
        known = jobs(tasks)
        for _ in range(4):
            known.start("dreams", endless)
        with pytest.raises(Refused, match="under way already"):
            known.start("night", at_once)
        tasks.cancel_scope.cancel()


async def test_the_oldest_jobs_are_forgotten() -> None:
    async with anyio.create_task_group() as tasks:
        known = jobs(tasks)
        first = known.start("night", at_once)
        for _ in range(150):
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            last = known.start("night", at_once)
    assert known.of(last.id).state == "done"
    with pytest.raises(Refused, match="no such job"):
        known.of(first.id)


async def test_a_bug_fails_its_job_is_told_and_closes_nothing() -> None:
    async def broken(_parts: Parts) -> NightDone:
        raise KeyError("words of a log")

    told: list[str] = []
    async with anyio.create_task_group() as tasks:
        known = jobs(tasks, lambda event, **fields: told.append(f"{event.name} {fields}"))
        job = known.start("night", broken)
    ended = known.of(job.id)
    assert (ended.state, ended.problem and ended.problem.status) == ("failed", 500)
    assert len(told) == 1
    assert "job.failed" in told[0]
    assert "KeyError" in told[0]
    assert "words of a log" not in f"{told} {ended}"


async def test_without_a_face_what_runs_is_ended_and_what_has_ended_is_left() -> None:
    errands: dict[str, Errand] = {}
    async with anyio.create_task_group() as tasks:
        known = jobs(tasks, errands=errands)
        failed, job = known.start("night", locked), known.start("night", endless)
        while errands[failed.id].running:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert errands[job.id].running
    errands[job.id].work = at_once
    clock = StillClock(datetime(2026, 3, 2, tzinfo=UTC))
    parts = Parts(config=Config(), state=Path(), store=InMemoryStore(), clock=clock, emit=silent)
    await finish(parts, errands)
    assert [errands[one.id].job.state for one in (failed, job)] == ["failed", "done"]
