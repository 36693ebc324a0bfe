"""Log to pool: MB/s with redaction, spans and SQLite, beside the ceiling of counting newlines, and the peak memory.

    python -m tests.benchmarks.ingest [--size MB] [--keep FILE]

The log is Claude Code's, generated: prompts, replies, tools with results twice, thinking, progress; a quarter of the
texts Chinese, some lines of 1 MB.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dreamd.clock import SystemClock
from dreamd.config import Config
from dreamd.events import silent
from dreamd.parts import Parts
from dreamd.sections import Agent
from dreamd.stores.sqlite import OPEN
from dreamd.tail.sync import sync

_EN = [
    "the",
    "build",
    "failed",
    "because",
    "one",
    "test",
    "reads",
    "the",
    "clock",
    "and",
    "the",
    "fixture",
    "in",
    "that",
    "folder",
    "was",
    "never",
    "updated",
    "so",
    "I",
    "will",
    "move",
    "the",
    "parser",
    "into",
    "its",
    "own",
    "module",
    "run",
    "the",
    "suite",
    "again",
    "and",
    "report",
    "what",
    "changed",
    "between",
    "version",
    "3",
    "and",
    "version",
    "4",
]
_ZH = "我先看一下日志里的错误信息然后修改配置文件再运行测试最后把结果写进周报里请确认是否需要保留旧的接口".strip()


def words(draw: random.Random, count: int) -> str:
    if draw.random() < 0.25:
        return "".join(draw.choices(_ZH, k=count * 3))
    return " ".join(draw.choices(_EN, k=count))


def lines(draw: random.Random) -> Iterator[bytes]:
    """An endless session in Claude Code's form."""
    number, parent = 0, None

    def record(kind: str, message: dict[str, object] | None = None, **more: object) -> bytes:
        nonlocal number, parent
        number += 1
        at = f"2026-03-{1 + number // 40_000 % 28:02}T{number // 1800 % 24:02}:{number // 30 % 60:02}:{number % 30:02}.000Z"
        uuid = f"{draw.getrandbits(128):032x}"
        whole = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/lin/kettle",
            "sessionId": "5e551011-0000-4000-8000-000000000001",
            "version": "2.1.226",
            "gitBranch": "main",
            "type": kind,
            **({"message": message} if message else {}),
            **more,
            "uuid": uuid,
            "timestamp": at,
        }
        parent = uuid
        return json.dumps(whole, ensure_ascii=False).encode() + b"\n"

    while True:
        yield record("user", {"role": "user", "content": words(draw, draw.randint(5, 80))})
        for _ in range(draw.randint(1, 4)):
            call = f"toolu_{draw.getrandbits(64):016x}"
            mid = f"msg_{draw.getrandbits(64):016x}"
            said = [
                {
                    "type": "thinking",
                    "thinking": words(draw, draw.randint(20, 200)),
                    "signature": "c2ln" * 60,
                },
                {"type": "text", "text": words(draw, draw.randint(10, 120))},
                {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": words(draw, 12)}},
            ]
            for block in said:
                usage = {"input_tokens": 1200, "output_tokens": 88}
                yield record(
                    "assistant",
                    {"id": mid, "role": "assistant", "model": "m", "content": [block], "usage": usage},
                )
            yield record("progress", data={"type": "bash_progress", "output": words(draw, 20)})
            big = draw.random() < 0.001
            output = words(draw, 140_000 if big else int(draw.paretovariate(1.1) * 130) % 12_000)
            result = [{"tool_use_id": call, "type": "tool_result", "content": output}]
            yield record("user", {"role": "user", "content": result}, toolUseResult={"stdout": output})


def generate(path: Path, megabytes: int) -> int:
    draw, size = random.Random(7), 0
    with path.open("wb") as file:
        for line in lines(draw):
            size += file.write(line)
            if size >= megabytes * 1_000_000:
                return size
    return size


def count_newlines(path: Path) -> int:
    found = 0
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(1 << 20):
            found += chunk.count(b"\n")
    return found


def ingest(log: Path, folder: Path) -> int:
    folder.mkdir()
    store = OPEN(folder)
    agent = Agent(format="claude_code", logs=(str(log),), zone="Asia/Shanghai")
    parts = Parts(
        config=Config(agents={"a": agent}), state=folder, store=store, clock=SystemClock(), emit=silent
    )
    try:
        return sync(parts).agents["a"].records
    finally:
        store.close()


def peak_rss_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=100, help="MB of log")
    options.add_argument("--log", type=Path, help="keep the generated log here, or use it when it is there")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="dreamd-bench-") as temporary:
        folder = Path(temporary)
        log = asked.log or folder / "session.jsonl"
        size = log.stat().st_size if log.exists() else generate(log, asked.size)
        begun = time.perf_counter()
        number = count_newlines(log)
        counted = time.perf_counter() - begun
        before = peak_rss_mib()
        begun = time.perf_counter()
        records = ingest(log, folder / "state")  # what lies in the state folder is never read as a log
        took = time.perf_counter() - begun
        print(f"{size / 1e6:.0f} MB, {number} lines, {records} records stored")
        print(f"newlines counted  {size / 1e6 / counted:8.0f} MB/s")
        print(
            f"log to pool       {size / 1e6 / took:8.1f} MB/s  {records / took:.0f} records/s  {counted / took:.1%} of the ceiling"
        )
        print(f"peak RSS          {peak_rss_mib():8.1f} MiB  ({before:.1f} before)")


if __name__ == "__main__":
    main()
