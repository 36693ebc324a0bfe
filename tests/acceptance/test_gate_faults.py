"""dreamd's own calls against a server that does everything wrong: each call ends, and nothing is left behind.

The whole chain over real sockets: journal, retry, gate with its leases, provider. Pauses are cut short, not left out.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from dreamd.calls import Prompt, Reply
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.errors import ProviderError
from dreamd.events import LANE_COOLING, Event
from dreamd.gate import lane, retrying
from dreamd.gate.lanes import Lanes
from dreamd.parts import Foreground, Parts
from dreamd.sections import Gate, Llm, State
from tests.llm_server import Answer, LlmServer, Request, Script, llm_server

NOTHING = (0, (), (), ())
HUNG = Answer(hang_at=20)
LLM = {
    "provider": "openai",
    "model": "m",
    "concurrency": 4,
    "attempts": 4,
    "deadline_s": 5.0,
    "read_timeout_s": 5.0,
}


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "FIRST_COOLING_S", 0.01)
    monkeypatch.setattr(lane, "LONGEST_COOLING_S", 0.05)
    monkeypatch.setattr(retrying, "BASE_S", 0.01)


class House:
    """dreamd's chain, a server, and what was told."""

    def __init__(self, parts: Parts, lanes: Foreground, server: LlmServer, told: list[str]) -> None:
        assert isinstance(lanes, Lanes)
        self.parts = parts
        self.lanes = lanes
        self.server = server
        self.told = told
        self.ended: list[Reply | ProviderError] = []
        self.lane = self.lanes.lane(server.base_url)

    async def dream(self, number: int = 0) -> None:
        assert self.parts.provider
        job = self.parts.provider(f"dream:ada:2026-03-0{1 + number % 9}")
        prompt = Prompt(purpose="distil", system="s", user=f"call {number}", max_tokens=9)
        try:
            self.ended.append(await job.complete(prompt))
        except ProviderError as error:
            self.ended.append(error)

    async def dreams(self, number: int) -> list[type]:
        """How that many calls at once ended."""
        async with anyio.create_task_group() as tasks:
            for each in range(number):
                tasks.start_soon(self.dream, each)
        return [type(one) for one in self.ended]

    def foreground(self):
        return self.lanes.arrive(self.server.base_url)

    async def nothing_is_left(self) -> None:
        await self.server.quiet()
        state = self.lane.state
        assert (state.foreground, state.dreams, state.leaving, state.waiting) == NOTHING
        assert await to_thread.run_sync(self.parts.store.slots) == []


@asynccontextmanager
async def house(tmp_path: Path, script: Script, **llm: object) -> AsyncIterator[House]:
    told: list[str] = []

    def emit(event: Event, /, **_values: object) -> None:
        told.append(event.name)

    before = len(asyncio.all_tasks())
    async with llm_server(script) as server:
        config = Config(
            state=State(dir=str(tmp_path)),
            llm=Llm(**{"base_url": server.base_url, **LLM, **llm}),
            gate=Gate(floor=2),
        )
        with ExitStack() as stack:
            opening = open_parts(config, emit=emit, store="inmemory")
            parts = await to_thread.run_sync(stack.enter_context, opening)
            assert parts.foreground
            made = House(parts, await to_thread.run_sync(parts.foreground), server, told)
            yield made
            await made.nothing_is_left()
    assert len(asyncio.all_tasks()) == before


def once(fault: Answer) -> Callable[[Request], Answer | str]:
    """Every call fails at its first attempt."""
    seen: set[str] = set()

    def script(request: Request) -> Answer | str:
        known = request.user in seen
        seen.add(request.user)
        return "ok" if known else fault

    return script


PASSING = {
    "429 with Retry-After": Answer(
        status=429, headers={"retry-after": "0"}, error=("rate_limit_error", "slow")
    ),
    "429 with retry-after-ms": Answer(
        status=429, headers={"retry-after-ms": "5"}, error=("rate_limit", "slow")
    ),
    "429 without": Answer(status=429, error=("rate_limit_error", "slow down")),
    "529": Answer(status=529, error=("overloaded_error", "overloaded")),
    "503": Answer(status=503, body="<html>busy</html>"),
    "500": Answer(status=500, error=("api_error", "oh")),
    "reset before the head": Answer(reset_at=0),
    "half a body": Answer(cut_at=30),
    "reset in the body": Answer(reset_at=30),
    "a body shorter than told": Answer(headers={"content-length": "99999"}, cut_at=10_000),
    "a body that does not unpack": Answer(headers={"content-encoding": "gzip"}),
    "HTML": Answer(body="<html>hello</html>"),
    "nothing": Answer(body=""),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
async def test_what_passes_is_waited_out_and_every_call_is_answered(tmp_path: Path, fault: Answer) -> None:
    async with house(tmp_path, once(fault)) as home:
        assert await home.dreams(6) == [Reply] * 6


@pytest.mark.parametrize("status", [429, 529])
async def test_a_server_that_refuses_is_left_alone_for_a_while_and_that_is_told(
    tmp_path: Path, status: int
) -> None:
    async with house(tmp_path, once(Answer(status=status, error=("overloaded_error", "no")))) as home:
        await home.dreams(3)
        assert LANE_COOLING.name in home.told


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
async def test_what_does_not_pass_ends_every_call_in_an_error(tmp_path: Path, fault: Answer) -> None:
    async with house(tmp_path, lambda _: fault, attempts=2) as home:
        assert all(issubclass(end, ProviderError) for end in await home.dreams(3))


HANGING = {
    "before the head": Answer(silent=True),
    "in the body": HUNG,
    "one byte at a time": Answer(drip_s=0.02),
}


@pytest.mark.parametrize("fault", HANGING.values(), ids=HANGING.keys())
async def test_a_call_that_hangs_is_given_up_at_its_deadline(tmp_path: Path, fault: Answer) -> None:
    async with house(tmp_path, lambda _: fault, deadline_s=0.1) as home:
        assert all(issubclass(end, ProviderError) for end in await home.dreams(3))


async def test_silence_in_mid_answer_ends_after_the_read_timeout(tmp_path: Path) -> None:
    async with house(tmp_path, once(HUNG), read_timeout_s=0.05) as home:
        assert await home.dreams(3) == [Reply] * 3


@pytest.mark.parametrize("fault", [Answer(silent=True), HUNG], ids=["silent", "hung"])
async def test_a_hanging_dream_makes_way_and_begins_anew(tmp_path: Path, fault: Answer) -> None:
    async with house(tmp_path, [fault, "answered"]) as home, anyio.create_task_group() as tasks:
        tasks.start_soon(home.dream)
        await home.server.asked(1)
        calls = [home.foreground() for _ in range(4)]
        await home.server.quiet()
        assert home.ended == []
        for call in calls:
            call.done()
        await home.server.asked(2)


@pytest.mark.parametrize(
    "fault", [Answer(silent=True), HUNG, Answer(think_s=0.01)], ids=["silent", "hung", "slow"]
)
async def test_who_vanishes_leaves_nothing(tmp_path: Path, fault: Answer) -> None:
    async with house(tmp_path, lambda _: fault) as home:
        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(home.dream, number)
            await home.server.asked(1)
            tasks.cancel_scope.cancel()
        assert not any(isinstance(end, ProviderError) for end in home.ended)


async def test_a_server_that_is_not_there_ends_every_call(tmp_path: Path) -> None:
    async with house(tmp_path, (), base_url="http://127.0.0.1:1", attempts=2) as home:
        assert all(issubclass(end, ProviderError) for end in await home.dreams(3))


WEATHER = [*PASSING.values(), *HANGING.values(), "good", "good", "good", "good", "good", Answer(think_s=0.01)]


@pytest.mark.parametrize("seed", range(2))
async def test_in_any_weather_no_call_is_lost_and_none_is_paid_for_twice(tmp_path: Path, seed: int) -> None:
    draw, answered = random.Random(seed), []

    def script(request: Request) -> Answer | str:
        answer = draw.choice(WEATHER)
        if answer == "good":
            answered.append(request.user)
        return answer

    async def person(home: House) -> None:
        for _ in range(20):
            await anyio.sleep(draw.uniform(0, 0.02))
            call = home.foreground()
            await anyio.sleep(draw.uniform(0, 0.01))
            call.answered(draw.choice([200, 200, 200, 429, 500]), [(b"retry-after-ms", b"3")])
            call.first_byte()
            call.done()

    async with house(tmp_path, script, deadline_s=0.4, read_timeout_s=0.05) as home:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(person, home)
            await home.dreams(15)
            tasks.cancel_scope.cancel()
        assert len(home.ended) == 15
        replies = [end for end in home.ended if isinstance(end, Reply)]
        assert len(answered) <= len(replies) + home.lane.counts["made_way"] + len(home.ended)
