"""A person's call during a dream, on a real model with one slot: answered at once, and the dream stops.

$DREAMD_REAL_LLM is the address of such a server (llama.cpp's), like http://127.0.0.1:8080; without it the test is
skipped. `pytest -s` shows what a call took alone and during dreams; no time is asserted but that the dream had long to go.
"""

import os
import statistics
import time
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import anyio
import httpx
import pytest
from anyio import to_thread

from dreamd.calls import Prompt, Reply
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.gate.lanes import Lanes
from dreamd.parts import Parts
from dreamd.sections import Llm, State

URL = os.environ.get("DREAMD_REAL_LLM", "").rstrip("/").removesuffix("/v1")
pytestmark = pytest.mark.skipif(not URL, reason="needs a model server at $DREAMD_REAL_LLM")

ROUNDS = 5
LONG, SHORT = 400, 8  # tokens
TALE = "Write a long tale of a lighthouse keeper, in many chapters. Do not stop early."


class Talk:
    """Replies of the model, and how many of its slots are at work."""

    def __init__(self, client: httpx.AsyncClient, parts: Parts, lanes: Lanes) -> None:
        self._client = client
        self._lanes = lanes
        self._parts = parts
        self._numbers = count()

    async def person(self) -> float:
        """Seconds that a call takes, through the gate; no two have a beginning in common that the server remembers."""
        asked = [{"role": "user", "content": f"{next(self._numbers)}: say a word that rhymes with cat."}]
        began = time.perf_counter()
        call = self._lanes.arrive(f"{URL}/v1")
        answer = await self._client.post(
            f"{URL}/v1/chat/completions", json={"messages": asked, "max_tokens": SHORT}
        )
        call.done()
        assert answer.json()["choices"][0]["message"]["content"]
        return time.perf_counter() - began

    async def dream(self, number: int, replies: list[Reply]) -> None:
        assert self._parts.provider
        prompt = Prompt(purpose="distil", system=f"Number {number}.", user=TALE, max_tokens=LONG)
        replies.append(await self._parts.provider(f"dream:ada:2026-03-0{number + 1}").complete(prompt))

    async def until_busy(self, wanted: bool = True) -> None:
        """Waits until a slot of the server is at work, or none."""
        busy = not wanted
        while busy != wanted:
            slots = (await self._client.get(f"{URL}/slots")).json()
            busy = any(slot["is_processing"] for slot in slots)


async def test_a_persons_call_is_answered_as_if_there_were_no_dream(tmp_path: Path) -> None:
    llm = Llm(provider="openai", base_url=f"{URL}/v1", model="m", deadline_s=1800.0)
    config = Config(state=State(dir=str(tmp_path)), llm=llm)
    with ExitStack() as stack:
        parts = await to_thread.run_sync(stack.enter_context, open_parts(config))
        assert parts.foreground
        lanes = await to_thread.run_sync(parts.foreground)
        assert isinstance(lanes, Lanes)
        async with httpx.AsyncClient(timeout=600) as client:
            await _compared(Talk(client, parts, lanes), lanes)


async def _compared(talk: Talk, lanes: Lanes) -> None:
    await talk.person()
    alone, beside, replies = [], [], []
    for number in range(ROUNDS):
        alone.append(await talk.person())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.dream, number, replies)
            await talk.until_busy()
            await anyio.sleep(1)  # it speaks
            beside.append(await talk.person())
            assert replies == []  # the dream had made way and is not through
            tasks.cancel_scope.cancel()
        await talk.until_busy(wanted=False)  # nobody listens: it stops
    assert lanes.lane(f"{URL}/v1").counts["made_way"] == ROUNDS
    took = statistics.median(alone), statistics.median(beside)
    print(f"\nalone {took[0]:.3f} s, during a dream {took[1]:.3f} s, x {took[1] / took[0]:.2f}")

    began = time.perf_counter()
    await talk.dream(8, replies)
    print(f"a dream {time.perf_counter() - began:.1f} s, {replies[0].output_tokens} tokens")
    assert max(beside) < time.perf_counter() - began
