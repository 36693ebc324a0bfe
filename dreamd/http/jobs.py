"""Work that outlives its request: begun in the face's task group, asked about by its id, the latest few remembered."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import date, datetime
from typing import Literal

from anyio.abc import TaskGroup
from msgspec import Struct
from msgspec.structs import replace

from dreamd.clock import Clock
from dreamd.dream.phase import Dreamt
from dreamd.errors import DreamdError, told
from dreamd.events import JOB_FAILED, Emit
from dreamd.http.problems import Problem, Refused, bug, problem
from dreamd.parts import Outcome

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


class Jobs:
    def __init__(self, tasks: TaskGroup, clock: Clock, new_id: Callable[[], str], emit: Emit) -> None:
        self._tasks, self._clock, self._new_id, self._emit = tasks, clock, new_id, emit
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    @property
    def running(self) -> int:
        return sum(job.state == "running" for job in self._jobs.values())

    def start(self, kind: Literal["night", "dreams"], work: Callable[[], Awaitable[Result]]) -> Job:
        """Raises Refused when too many are under way."""
        if self.running >= _MOST_RUNNING:
            raise Refused(
                409, f"{self.running} jobs are under way already", hint="wait for one of them to end"
            )
        job = Job(id=self._new_id(), kind=kind, asked_at=self._clock.now())
        self._keep(job)
        self._tasks.start_soon(self._run, job, work, name=f"job {job.id}")
        return job

    def of(self, job_id: str) -> Job:
        """Raises Refused for one that is not known (any more)."""
        if job_id not in self._jobs:
            raise Refused(404, "no such job", hint="the latest ones are known until dreamd stops")
        return self._jobs[job_id]

    async def _run(self, job: Job, work: Callable[[], Awaitable[Result]]) -> None:
        ended = replace(job, state="failed")  # cancelled
        try:
            result = await work()
            ended = (
                replace(job, state="done", night=result)
                if isinstance(result, NightDone)
                else replace(job, state="done", dreams=result)
            )
        except DreamdError as error:
            ended = replace(job, state="failed", problem=problem(error))
        except Exception as error:  # noqa: BLE001 - a bug in one job must not close the face
            self._emit(JOB_FAILED, job=job.id, kind=job.kind, **told(error))
            ended = replace(job, state="failed", problem=problem(bug()))
        finally:
            self._keep(replace(ended, ended_at=self._clock.now()))

    def _keep(self, job: Job) -> None:
        self._jobs[job.id] = job
        while len(self._jobs) > _MOST_KEPT:
            oldest = next(one.id for one in self._jobs.values() if one.state != "running")
            del self._jobs[oldest]
