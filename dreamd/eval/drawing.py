"""One agent's days while they are drawn: who says what at which moment; the same seed draws the same."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple, TypeVar

from dreamd.eval.phrases import Phrases
from dreamd.eval.truth import Line, Plant
from dreamd.memories import raw_id
from dreamd.records import Origin, Record, Role, Span, Trace

T = TypeVar("T")
BEGINNING = date(2026, 3, 2)
_MORNING, _WAKING_MS = time(7), 14 * 3600 * 1000
_IN_PASSING = 0.4  # of what is said stands in a message about something else


class Moment(NamedTuple):
    day: int  # from 0
    task: str
    at: datetime | None = None  # None: any time of the waking day

    def after(self, seconds: int) -> "Moment":
        return self._replace(at=self.at and self.at + timedelta(seconds=seconds))


class Drawing:
    def __init__(self, rng: random.Random, days: int, agent: str, words: Phrases, space: str) -> None:
        self.rng, self.days, self.agent, self.words = rng, days, agent, words
        self._space = space  # between two sentences
        self._tasks = [rng.randint(2, 4) for _ in range(days)]
        self.lines: list[Line] = []
        self.plants: list[Plant] = []
        self.secrets: list[str] = []

    # --- chance ---

    def some(self, things: Sequence[T], least: int, most: int | None = None) -> list[T]:
        """Between `least` and `most` of them in any order, as far as there are so many."""
        count = self.rng.randint(least, max(least, min(most or least, len(things))))
        return self.rng.sample(things, min(count, len(things)))

    def moments(self, count: int, first: int = 0, last: int | None = None) -> list[Moment]:
        """As many different days, in order, a task of each. `last` is the day behind the last one."""
        days = sorted(self.rng.sample(range(first, self.days if last is None else last), count))
        return [self.moment(day) for day in days]

    def moment(self, day: int) -> Moment:
        return Moment(day, f"{self.agent}-{day}-{self.rng.randrange(self._tasks[day])}")

    def now(self, moment: Moment) -> Moment:
        """The same at a fixed time, for what follows on each other."""
        return moment._replace(at=self._instant(moment.day))

    def tasks(self, day: int) -> list[Moment]:
        return [Moment(day, f"{self.agent}-{day}-{number}") for number in range(self._tasks[day])]

    def filled(self, template: str) -> str:
        """With new things in the places of `{a}` to `{f}`."""
        filler = self.words.filler
        lists = {"a": filler.a, "b": filler.b, "c": filler.c, "d": filler.d, "e": filler.e, "f": filler.f}
        return template.format(**{name: self.rng.choice(things) for name, things in lists.items()})

    # --- speech ---

    def tell(self, moment: Moment, text: str) -> str:
        """The human says it, alone or beside a request; the id of the memory that it will be."""
        if self.rng.random() < _IN_PASSING:
            request = self.filled(self.rng.choice(self.words.filler.asks))
            text = self._space.join((text, request) if self.rng.random() < _IN_PASSING else (request, text))
        return self.say(moment, text)

    def say(self, moment: Moment, text: str, role: Role = "user", origin: Origin = "human") -> str:
        return self._log(moment, text, role, origin)

    def call(self, moment: Moment, tool: str, *, ok: bool, result: str = "") -> str:
        return self._log(moment, "", "tool", "tool", tool=tool, ok=ok, trace=Trace(result=result))

    def _log(
        self, moment: Moment, text: str, role: Role, origin: Origin, *, tool: str = "", ok: bool | None = None,
        trace: Trace | None = None,
    ) -> str:  # fmt: skip
        number = len(self.lines)
        at = moment.at or self._instant(moment.day)
        record = Record(
            identity=f"{moment.task}/{number}", session_id=moment.task, task_id=moment.task, role=role, origin=origin,
            span=Span(f"{self.agent}.jsonl", number * 1000, 1000), text=text, tool=tool, ok=ok, at=at, trace=trace,
        )  # fmt: skip
        self.lines.append(Line(self.agent, at.date(), at, record))
        return raw_id(self.agent, record.identity)

    def _instant(self, day: int) -> datetime:
        morning = datetime.combine(BEGINNING + timedelta(days=day), _MORNING, tzinfo=UTC)
        return morning + timedelta(milliseconds=self.rng.randrange(_WAKING_MS))
