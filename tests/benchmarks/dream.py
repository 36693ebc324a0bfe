"""What a dream over many raw memories costs: `python -m tests.benchmarks.dream [ROWS ...]` (5,000 and 50,000).

For each size, in a process of its own: peak memory, time without an LLM, and with an LLM that answers at once the number
of calls, the largest request in estimated tokens, and the time. Then how these grow. Not a test: nothing is asserted.
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
from msgspec.structs import replace

from dreamd.calls import Prompt
from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.dream.phase import Dreamt, dream
from dreamd.eval.pouring import pour
from dreamd.eval.worlds import world
from dreamd.gate.journal import Journalled
from dreamd.parts import Parts
from dreamd.pool import tokens
from dreamd.providers.scripted import ScriptedProvider
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


def measured(rows: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        config = Config(state=State(dir=folder), agents={AGENT: Agent(zone="UTC", language="en")})
        with open_parts(config, clock=StillClock(NOW)) as parts:
            stored = _live(parts, rows)
            base = _peak()
            began = time.perf_counter()
            plain = anyio.run(partial(dream, parts, AGENT, dry_run=True))
            seconds, peak = time.perf_counter() - began, _peak()
            return {
                "rows": stored, "MiB before": base, "MiB peak without LLM": peak, "seconds without LLM": seconds,
                "insights without LLM": plain.counts.new, **_with_llm(parts),
            }  # fmt: skip


def _live(parts: Parts, rows: int) -> int:
    """Worlds of other seeds one after the other, until there are enough records, as one agent's."""
    stored, seed = 0, 0
    while stored < rows:
        lines = world(seed, DAYS, 1, "en").lines[: rows - stored]
        named = [
            replace(line, record=replace(line.record, identity=f"{seed}/{line.record.identity}", session_id=f"{seed}/{line.record.session_id}", task_id=f"{seed}/{line.record.task_id}"))
            for line in lines
        ]  # fmt: skip
        pour(parts.store, named, NOW)
        stored, seed = stored + len(named), seed + 1
    return stored


def _with_llm(parts: Parts) -> dict[str, float]:
    counting = Counting()
    llm = ScriptedProvider(counting.answer)
    chain = partial(Journalled, llm, store=parts.store, clock=parts.clock, emit=parts.emit)
    began = time.perf_counter()
    dreamt: Dreamt = anyio.run(partial(dream, replace(parts, provider=lambda job: chain(job=job)), AGENT))
    return {
        "calls": counting.calls, "largest request, tokens": counting.largest, "seconds with LLM": time.perf_counter() - began,
        "MiB peak with LLM": _peak(), "insights with LLM": dreamt.counts.new, "parked": dreamt.counts.parked,
    }  # fmt: skip


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(sizes: list[int]) -> None:
    print(f"max_input_tokens {Dream().max_input_tokens:,}")
    results = [
        json.loads(subprocess.check_output([sys.executable, "-m", __spec__.name, "--one", str(rows)]))
        for rows in sizes
    ]
    for name in results[0]:
        values = [result[name] for result in results]
        growth = f"x {values[-1] / values[0]:.1f}" if len(values) > 1 and values[0] else ""
        print(f"  {name:26}" + "".join(f"{value:14,.1f}" for value in values) + f"   {growth}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(int(sys.argv[2]))))
    else:
        main([int(argument) for argument in sys.argv[1:]] or [5_000, 50_000])
