"""What a dream over many raw memories costs: `python -m tests.benchmarks.dream [SHAPE] [ROWS ...]` (5,000 and 50,000).

SHAPE is how they stand in groups: `worlds` (days of work, by tasks; the default), `one` (a single task has them all) or
`pairs` (each two are a task). For each size, without an LLM and with one that answers at once, in processes of their
own: peak memory, time, the number of calls, the largest request in estimated tokens. Then how these grow. Not a test:
nothing is asserted.
"""

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from functools import partial

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.dream.phase import Dreamt, dream
from dreamd.eval.pouring import pour
from dreamd.eval.worlds import world
from dreamd.gate.journal import Journalled
from dreamd.parts import Parts
from dreamd.pool import tokens
from dreamd.providers.base import Provider
from dreamd.providers.scripted import reply_of
from dreamd.sections import Agent, Dream, State

DAYS = 30
NOW = datetime(2026, 5, 1, tzinfo=UTC)
AGENT = "agent1"


class Counting:
    """Answers every call with the first record it is shown, and counts."""

    def __init__(self) -> None:
        self.calls = 0
        self.largest = 0

    def answer(self, prompt: Prompt) -> str:
        self.calls += 1
        self.largest = max(self.largest, tokens.estimate(prompt.system) + tokens.estimate(prompt.user))
        if prompt.purpose == "score":
            return json.dumps({"keep": []})
        seen = re.search(r"^([RPN]\d+) \w+ [\d-]+: (.{10,80})", prompt.user, re.MULTILINE)
        quotes = [{"ref": seen[1], "text": seen[2]}] if seen else []
        text = seen[2] if seen else ""
        note = {"text": text, "quotes": quotes, "from": [seen[1]] if seen else []}
        insight = {
            "statement": text,
            "kind": "fact",
            "quotes": quotes,
            "entities": [],
            "applies_when": "",
            "confidence": 0.5,
        }
        return json.dumps(
            {"notes": [note] if seen else [], "insights": [insight] if seen else []}, ensure_ascii=False
        )


class AtOnce(Provider):
    """Answers at once, and keeps nothing of what it was asked."""

    def __init__(self, counting: Counting) -> None:
        self._counting = counting

    async def complete(self, prompt: Prompt) -> Reply:
        await anyio.lowlevel.checkpoint()
        return reply_of(self._counting.answer(prompt), prompt)

    async def aclose(self) -> None:
        pass


def measured(rows: int, shape: str, *, with_llm: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        config = Config(state=State(dir=folder), agents={AGENT: Agent(zone="UTC", language="en")})
        with open_parts(config, clock=StillClock(NOW)) as parts:
            stored = _live(parts, rows, shape)
            return {"rows": stored} | (_with_llm(parts) if with_llm else _by_rule(parts))


def _live(parts: Parts, rows: int, shape: str) -> int:
    """Worlds of other seeds one after the other, until there are enough records, as one agent's."""
    stored, seed = 0, 0
    while stored < rows:
        lines = world(seed, DAYS, 1, "en").lines[: rows - stored]
        named = [
            replace(line, record=replace(line.record, identity=f"{seed}/{line.record.identity}", session_id=f"{seed}/{line.record.session_id}", task_id=_task(shape, f"{seed}/{line.record.task_id}", stored + at)))
            for at, line in enumerate(lines)
        ]  # fmt: skip
        pour(parts.store, named, NOW)
        stored, seed = stored + len(named), seed + 1
    return stored


def _task(shape: str, name: str, at: int) -> str:
    return {"worlds": name, "one": "task", "pairs": f"task{at // 2}"}[shape]


def _by_rule(parts: Parts) -> dict[str, float]:
    began, worked = time.perf_counter(), time.process_time()
    dreamt: Dreamt = anyio.run(partial(dream, parts, AGENT))
    return {
        "MiB peak without LLM": _peak(), "seconds without LLM": time.perf_counter() - began,
        "of the processor": time.process_time() - worked, "insights without LLM": dreamt.counts.new,
    }  # fmt: skip


def _with_llm(parts: Parts) -> dict[str, float]:
    counting = Counting()
    chain = partial(Journalled, AtOnce(counting), store=parts.store, clock=parts.clock, emit=parts.emit)
    began, worked = time.perf_counter(), time.process_time()
    dreamt: Dreamt = anyio.run(partial(dream, replace(parts, provider=lambda job: chain(job=job)), AGENT))
    return {
        "MiB peak with LLM": _peak(), "seconds with LLM": time.perf_counter() - began,
        "of the processor, with LLM": time.process_time() - worked, "calls": counting.calls,
        "largest request, tokens": counting.largest, "insights with LLM": dreamt.counts.new, "parked": dreamt.counts.parked,
    }  # fmt: skip


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(shape: str, sizes: list[int]) -> None:
    print(f"max_input_tokens {Dream().max_input_tokens:,}, {shape}")
    results = [_apart(shape, rows, "rules") | _apart(shape, rows, "llm") for rows in sizes]
    for name in results[0]:
        values = [result[name] for result in results]
        growth = f"x {values[-1] / values[0]:.1f}" if len(values) > 1 and values[0] else ""
        print(f"  {name:28}" + "".join(f"{value:14,.1f}" for value in values) + f"   {growth}")


def _apart(shape: str, rows: int, how: str) -> dict[str, float]:
    """Measured in a process of its own."""
    command = [sys.executable, "-m", __spec__.name, "--one", shape, str(rows), how]
    return dict(json.loads(subprocess.check_output(command)))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        print(json.dumps(measured(int(arguments[2]), arguments[1], with_llm=arguments[3] == "llm")))
    else:
        named = arguments[:1] if arguments and not arguments[0].isdigit() else ["worlds"]
        main(named[0], [int(one) for one in arguments if one.isdigit()] or [5_000, 50_000])
