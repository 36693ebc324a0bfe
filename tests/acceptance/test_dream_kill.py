"""SIGKILL at random instants of a dream with a slow LLM: it goes on, pays nothing twice, ends as if nothing had been.

DREAMD_KILLS=100 for the long version.
"""

import os
import random
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.acceptance.house import DREAMD, Home
from tests.dream.honest import honest
from tests.llm_server import Answer, Request, llm_server_beside

KILLS = int(os.environ.get("DREAMD_KILLS", "4"))
SEED = int(os.environ.get("DREAMD_SEED", "1"))
CONCURRENCY = 2  # llm.concurrency's default
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "I prefer tabs over spaces in Makefiles.",
    "Remember that the budget for the bridge is 320 euros.",
    "We decided to release on 2026-05-01.",
    "I always want the tests to run before a commit.",
)


def lived(home: Home) -> None:
    """Three days of an agent, a task a day, in which the same things are said among others."""
    for day in range(3):
        at = MONDAY + timedelta(days=day)
        for number, text in enumerate(SAID):
            answer = f"All right, noted as point {day}{number}."
            home.says(at + timedelta(minutes=10 * number), text, answer, session=f"s{day}")
        home.says(
            at + timedelta(hours=2),
            f"I prefer the name bridge-{day} for branches.",
            "Yes.",
            session=f"s{day}",
        )


def insights(home: Home) -> list[tuple[str, str, str, list[str]]]:
    found = home.json("insights", "--status", "candidate", "--status", "long_term", "--status", "superseded")
    assert isinstance(found, list)
    held = [one["insight"] for one in found]
    return sorted((one["memory_id"], one["content"], one["status"], sorted(one["ref_ids"])) for one in held)


def test_killed_at_any_instant_a_dream_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    draw = random.Random(SEED)
    lives: list[list[bytes]] = [[]]  # what each process asked

    def slow(request: Request) -> Answer:
        lives[-1].append(request.body)
        return Answer(text=honest(request.purpose, request.user), think_s=0.1)

    with llm_server_beside(slow) as server:
        calm = Home(tmp_path / "calm", server.base_url)
        lived(calm)
        assert calm.run("dream").returncode == 0
        asked_calmly = Counter(lives[-1])
        home = Home(tmp_path / "killed", server.base_url)
        lived(home)
        assert home.run("sync").returncode == 0
        lives.clear()
        for _ in range(KILLS):
            lives.append([])
            _killed(home, draw.uniform(0.3, 1.2))
        lives.append([])
        done = home.run("dream")
        assert done.returncode == 0, done.stdout + done.stderr
    assert insights(home) == insights(calm) != []
    _no_answer_paid_twice(lives, asked_calmly)


def _killed(home: Home, after_s: float) -> None:
    with subprocess.Popen(
        [*DREAMD, "--config", str(home.config), "dream"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.kill()


def _no_answer_paid_twice(lives: list[list[bytes]], calmly: Counter[bytes]) -> None:
    """Nothing is asked that a calm dream does not ask; again only what was in flight when a life ended."""
    in_flight = [set(life[-CONCURRENCY:]) for life in lives]
    asked = Counter(body for life in lives for body in life)
    assert set(asked) == set(calmly)
    for body, times in asked.items():
        assert times <= 1 + sum(body in last for last in in_flight[:-1])
