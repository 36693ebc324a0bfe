"""Work that outlives its request: begun in the face's task group, asked about by its id, the latest few remembered.

It outlives the face too: what a new configuration breaks off is begun again under it, with the same id, and ended
even where that one opens no face.
"""

from collections.abc import Awaitable, Callable
from datetime import date, datetime
from typing import Literal

from anyio import create_task_group
from anyio.abc import TaskGroup
from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.phase import Dreamt
from dreamd.errors import DreamdError, told
from dreamd.events import JOB_FAILED
from dreamd.http.problems import Problem, Refused, bug, problem
from dreamd.parts import Outcome, Parts

_MOST_RUNNING, _MOST_KEPT = 4, 100


class NightDone(Struct, frozen=True):
    """What the phases of a night did; `totals` counts phases by what became of them, and calls and tokens."""

    day: date
    outcomes: tuple[Outcome, ...]
    totals: dict[str, int]


class Job(Struct, frozen=True, kw_only=True):
    """A night or some dreams, asked for over HTTP. It is forgotten when dreamd stops; what it wrote is not."""

    id: str
    kind: Literal["night", "dreams"]
    state: Literal["running", "done", "failed"] = "running"
    asked_at: datetime
    ended_at: datetime | None = None
    night: NightDone | None = None
    dreams: tuple[Dreamt, ...] = ()
    problem: Problem | None = None


Result = NightDone | tuple[Dreamt, ...]
Work = Callable[[Parts], Awaitable[Result]]  # may be broken off at any instant and called again


class Errand(Struct):
    """A job and how it is done."""

    job: Job
    work: Work

    @property
    def running(self) -> bool:
        return self.job.state == "running"


class Jobs:
    """`errands` by their ids are the owner's, who gives them to the next face: what runs is begun again."""

    def __init__(
        self, tasks: TaskGroup, parts: Parts, new_id: Callable[[], str], errands: dict[str, Errand]
    ) -> None:
        self._tasks, self._parts, self._new_id, self._errands = tasks, parts, new_id, errands
        for errand in errands.values():
            if errand.running:
                self._begin(errand)

    @property
    def running(self) -> int:
        return sum(errand.running for errand in self._errands.values())

    def start(self, kind: Literal["night", "dreams"], work: Work) -> Job:
        """Raises Refused when too many are under way."""
        if self.running >= _MOST_RUNNING:
            raise Refused(
                409, f"{self.running} jobs are under way already", hint="wait for one of them to end"
            )
        job = Job(id=self._new_id(), kind=kind, asked_at=self._parts.clock.now())
        errand = self._errands[job.id] = Errand(job, work)
        self._forget_the_oldest()
        self._begin(errand)
        return job

    def of(self, job_id: str) -> Job:
        """Raises Refused for one that is not known (any more)."""
        if job_id not in self._errands:
            raise Refused(404, "no such job", hint="the latest ones are known until dreamd stops")
        return self._errands[job_id].job

    def _begin(self, errand: Errand) -> None:
        self._tasks.start_soon(self._run, errand, name=f"job {errand.job.id}")

    async def _run(self, errand: Errand) -> None:
        """One that is cancelled still counts as running: the next face begins it again."""
        ended = await self._done(errand)
        errand.job = replace(ended, ended_at=self._parts.clock.now())

    async def _done(self, errand: Errand) -> Job:
        job = errand.job
        try:
            result = await errand.work(self._parts)
        except DreamdError as error:
            return replace(job, state="failed", problem=problem(error))
        except Exception as error:  # noqa: BLE001 - a bug in one job must not close the face
            self._parts.emit(JOB_FAILED, job=job.id, kind=job.kind, **told(error))
            return replace(job, state="failed", problem=problem(bug()))
        if isinstance(result, NightDone):
            return replace(job, state="done", night=result)
        return replace(job, state="done", dreams=result)

    def _forget_the_oldest(self) -> None:
        while len(self._errands) > _MOST_KEPT:
            del self._errands[next(name for name, errand in self._errands.items() if not errand.running)]


async def finish(parts: Parts, errands: dict[str, Errand]) -> None:
    """Begin again what runs, and wait until it has ended: there is no face, and nobody can ask for more."""
    async with create_task_group() as tasks:
        Jobs(tasks, parts, str, errands)
