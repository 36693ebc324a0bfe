"""What the person who waits for an agent feels of dreams: foreground latency alone, with dreamd's, with a naive pool's.

    python -m tests.benchmarks.foreground [--setups one,four,...] [--seeds 5] [--seconds 12] [--scale 0.1] [--through gateway]

Each seed runs the same foreground calls against the same upstream (a process of its own) without dreams, with dreams that
saturate it through dreamd's whole chain (journal, retry, gate, provider over HTTP), and with a pool of threads that
knows nothing of anybody; in random order. Latency counts from when a call was meant to start; refused calls come again
after 50 ms, as SDKs do, for 5 s. `--scale 1` are real times: 200 ms a foreground call, 3 s a dream's. The table shows medians of
the seeds, and ratios of runs with the same seed; in brackets the worst. "wasted" are dream tokens that were broken off.

With `--virtual` time is only reckoned and the upstream played in it (`tests/virtual.py`): the same gate, long runs at
once, and figures that no machine's load touches. `--seconds` are then of real time, 600 if not given.
"""

import argparse
import asyncio
import http.client
import json
import random
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import msgspec

from dreamd.calls import Prompt
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.errors import ProviderError
from dreamd.gate.gated import GatedProvider
from dreamd.gate.lanes import Lanes
from dreamd.gateway.serve import serve
from dreamd.parts import Foreground, Parts
from dreamd.providers.base import Provider
from dreamd.sections import Gate, Gateway, Llm, State
from tests import virtual
from tests.upstream import Character, upstream_apart
from tests.virtual import LoopClock, VirtualProvider, VirtualUpstream, foreground_call

TOKEN_S = 0.1  # in real time
PERSON_TOKENS, DREAM_TOKENS = 2, 30
RETRY_S, GIVE_UP_S = 0.05, 5.0
WARM_UP_S = 30.0  # and two dreams: real time before anything is measured
MODES = ("alone", "dreamd", "naive")


@dataclass(frozen=True)
class Life:
    """`gateway.serve.Life`."""

    parts: Parts
    changed: anyio.Event


@dataclass(frozen=True)
class Turn:
    """Calls one after another, as an agent makes them; `gap` seconds between. Real time."""

    start: float
    calls: int = 1
    gap: float = 0.0


@dataclass(frozen=True)
class Setup:
    """`busy` is how many slots the foreground takes on average; None: turns of ten calls with pauses between."""

    name: str
    character: Character
    busy: float | None
    dream_tokens: int = DREAM_TOKENS
    dreams: int = 16
    longer: float = 1.0  # than other setups, for as many calls
    later: tuple[int, ...] = ()  # slots from a third of the run on, from two thirds on, ...

    def turns(self, seed: int, seconds: float) -> Iterator[Turn]:
        draw, at = random.Random(seed), 0.0
        call_s = PERSON_TOKENS * TOKEN_S
        while at < seconds:
            if self.busy is None:
                at += draw.uniform(10, 30)
                yield Turn(at, calls=10, gap=0.1)
                at += 10 * (call_s + 0.1)
            else:
                at += draw.expovariate(self.busy / call_s)
                yield Turn(at)


SETUPS = {
    setup.name: setup
    for setup in (
        Setup("one", Character(slots=1), None, longer=4),
        Setup("four", Character(slots=4), 0.8),
        Setup("refuses", Character(slots=5, full="reject"), 0.8),
        Setup("eight", Character(slots=8), 2.0),
        Setup("ten", Character(slots=8), 2.0, dream_tokens=20),
        Setup("shares", Character(slots=8, full="share"), 2.0),
        Setup("lingers", Character(slots=8, noticed_s=0.03), 2.0),
        Setup("changes", Character(slots=8), 0.8, later=(2, 16)),
        Setup("long", Character(slots=8), 2.0, dream_tokens=200, longer=2),
    )
}


@dataclass
class Seen:
    """What one run saw. Latencies in seconds of this machine."""

    latencies: list[float] = field(default_factory=list)
    refused: int = 0
    dreams: float = 0.0  # finished in a second
    wasted: float = 0.0  # share of the dreams' tokens
    limit: str = ""  # what the gate had learned at the end

    def quantile(self, q: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


class Person:
    """Makes the foreground's calls: over connections kept alive, announced where there is a gate."""

    def __init__(self, base_url: str, path: str, foreground: Foreground | None, upstream: str) -> None:
        place = urlsplit(base_url)
        self._host, self._port = place.hostname, place.port
        self._path = path
        self._foreground = foreground
        self._upstream = upstream
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def call(self, seen: Seen, meant: float) -> None:
        body = request(PERSON_TOKENS, "quick")
        while await self._once(body) == 429:
            seen.refused += 1
            await asyncio.sleep(RETRY_S)
            if time.perf_counter() - meant > GIVE_UP_S:
                break
        seen.latencies.append(time.perf_counter() - meant)

    async def _once(self, body: bytes) -> int:
        call = self._foreground.arrive(self._upstream, len(body)) if self._foreground else None
        self._idle = [(reader, writer) for reader, writer in self._idle if not reader.at_eof()]
        reader, writer = (
            self._idle.pop() if self._idle else await asyncio.open_connection(self._host, self._port)
        )
        head = f"POST {self._path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        raw = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        status = int(raw[0].split()[1])
        assert status in (200, 429), raw
        headers = [
            (name, value.strip()) for name, _, value in (line.partition(b":") for line in raw[1:]) if name
        ]
        if call:
            call.answered(status, headers)
            call.first_byte()
        await reader.readexactly(int(dict(headers)[b"content-length"]))
        if call:
            call.done()
        self._idle.append((reader, writer))
        return status

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


def request(tokens: int, text: str) -> bytes:
    return json.dumps(
        {"model": "m", "max_tokens": tokens, "messages": [{"role": "user", "content": text}]}
    ).encode()


def dream_tokens(draw: random.Random, setup: Setup) -> int:
    """Answers differ in length, half to one and a half times the usual."""
    return draw.randint(setup.dream_tokens // 2, setup.dream_tokens * 3 // 2)


async def sleeper(job: Provider, draw: random.Random, setup: Setup, numbers: Iterator[int]) -> None:
    """One of dreamd's jobs, which always has another call to make."""
    while True:
        tokens = dream_tokens(draw, setup)
        prompt = Prompt(purpose="distil", system="s", user=f"number {next(numbers)}", max_tokens=tokens)
        try:
            await job.complete(prompt)
        except ProviderError:
            await asyncio.sleep(0.2)


def naive(url: str, setup: Setup, seed: int, over: threading.Event) -> None:
    """A thread that calls and calls; its last call is broken off with the upstream."""
    draw, place = random.Random(seed), urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port)
    with suppress(OSError, http.client.HTTPException):
        while not over.is_set():
            body = request(dream_tokens(draw, setup), "dream")
            connection.request("POST", "/v1/chat/completions", body, {"X-Dreamd-Purpose": "distil"})
            answer = connection.getresponse()
            answer.read()
            if answer.status == 429:
                time.sleep(RETRY_S)


@asynccontextmanager
async def dreaming(mode: str, parts: Parts, setup: Setup, url: str, seed: int) -> AsyncIterator[None]:
    """Saturating dreams while the block runs."""
    over, numbers = threading.Event(), count()
    if mode == "naive":
        for number in range(setup.dreams):
            threading.Thread(target=naive, args=(url, setup, seed + number, over), daemon=True).start()
    async with anyio.create_task_group() as tasks:
        for number in range(setup.dreams if mode == "dreamd" else 0):
            assert parts.provider
            job = parts.provider(f"dream:agent{number}:{date(2026, 3, 2)}")
            tasks.start_soon(sleeper, job, random.Random(seed + number), setup, numbers)
        yield
        over.set()
        tasks.cancel_scope.cancel()


async def work(person: Person, turns: list[Turn], scale: float, began: float, seen: Seen) -> None:
    async def one(turn: Turn) -> None:
        await asyncio.sleep(began + turn.start * scale - time.perf_counter())
        meant = began + turn.start * scale
        for _ in range(turn.calls):
            await person.call(seen, meant)
            await asyncio.sleep(turn.gap * scale)
            meant = time.perf_counter()

    async with anyio.create_task_group() as tasks:
        for turn in turns:
            tasks.start_soon(one, turn)


async def changing(setup: Setup, seconds: float, change: Callable[[int], Awaitable[object]]) -> None:
    """The upstream's slots, while a run of so many seconds goes on."""
    for slots in setup.later:
        await anyio.sleep(seconds / (len(setup.later) + 1))
        await change(slots)


async def measured(mode: str, setup: Setup, url: str, seed: int, asked: argparse.Namespace) -> Seen:
    seconds, seen = asked.seconds * setup.longer / asked.scale, Seen()
    turns = list(setup.turns(seed, seconds))
    with tempfile.TemporaryDirectory() as folder, open_parts(config_of(folder, setup, url)) as parts:
        async with anyio.create_task_group() as tasks:
            person = await person_of(parts, url, tasks.start_soon, asked)
            async with dreaming(mode, parts, setup, url, seed), httpx.AsyncClient() as asking:
                warm = [replace(turn, start=turn.start / 4) for turn in turns[: len(turns) // 8]]
                await work(person, warm, asked.scale, time.perf_counter(), Seen())
                await asyncio.sleep(warm_up(setup) * asked.scale)
                await asking.post(url.removesuffix("/v1") + "/reset")
                began = time.perf_counter()

                async def change(slots: int) -> None:
                    await asking.post(url.removesuffix("/v1") + f"/slots/{slots}")

                tasks.start_soon(changing, setup, seconds * asked.scale, change)
                await work(person, turns, asked.scale, began, seen)
                took = time.perf_counter() - began
                counts = (await asking.get(url.removesuffix("/v1") + "/counts")).json()["dream"]
            seen.dreams = counts["finished"] / took
            seen.wasted = counts["wasted"] / max(1, counts["tokens"])
            seen.limit = "; ".join(
                repr(lane.state.limit)
                for lane in getattr(parts.foreground and parts.foreground(), "open", ())
            )
            person.close()
            tasks.cancel_scope.cancel()
    return seen


def config_of(folder: str, setup: Setup, url: str) -> Config:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    llm = Llm(
        provider="openai", base_url=url, model="m", concurrency=setup.dreams, max_tokens_field="max_tokens"
    )
    gateway = Gateway(listen=f"127.0.0.1:{port}", upstreams={"up": url})
    return Config(state=State(dir=folder), llm=llm, gateway=gateway, gate=Gate())


async def person_of(
    parts: Parts, url: str, start: Callable[..., object], asked: argparse.Namespace
) -> Person:
    if asked.through != "gateway":
        return Person(url, "/v1/chat/completions", parts.foreground and parts.foreground(), url)
    start(serve, Life(parts, anyio.Event()))
    listen = f"http://{parts.config.gateway.listen}"
    async with httpx.AsyncClient() as client:
        for _ in range(100):
            try:
                await client.get(f"{listen}/up/models")
                break
            except httpx.ConnectError:
                await asyncio.sleep(0.05)
    return Person(listen, "/up/chat/completions", None, url)


async def reckoned(mode: str, setup: Setup, seed: int, seconds: float, stumbles: float = 0.0) -> Seen:
    """The same in virtual time."""
    upstream = VirtualUpstream(replace(setup.character, token_s=TOKEN_S), seed, stumbles=stumbles)
    lanes = Lanes(Gate(), concurrency=setup.dreams, clock=LoopClock())
    gated = GatedProvider(lanes.lane("http://upstream/v1"), VirtualProvider(upstream))
    seen, numbers = Seen(), count()
    turns = list(setup.turns(seed, seconds * setup.longer))
    began = warm_up(setup)

    async def person(turn: Turn) -> None:
        meant = turn.start + began
        await anyio.sleep_until(meant)
        for _ in range(turn.calls):
            seen.refused += await foreground_call(upstream, lanes, PERSON_TOKENS)
            seen.latencies.append(anyio.current_time() - meant)
            await anyio.sleep(turn.gap)
            meant = anyio.current_time()

    async with anyio.create_task_group() as dreams:
        for number in range(setup.dreams if mode != "alone" else 0):
            provider = VirtualProvider(upstream) if mode == "naive" else gated
            dreams.start_soon(sleeper, provider, random.Random(seed + number), setup, numbers)
        await anyio.sleep(began)

        async def change(slots: int) -> None:
            upstream.slots.number = slots

        dreams.start_soon(changing, setup, seconds * setup.longer, change)
        before, made, wasted = upstream.finished["dream"], upstream.tokens["dream"], upstream.wasted
        async with anyio.create_task_group() as people:
            for turn in turns:
                people.start_soon(person, turn)
        took = anyio.current_time() - began
        seen.dreams = (upstream.finished["dream"] - before) / took
        seen.wasted = (upstream.wasted - wasted) / max(1, upstream.tokens["dream"] - made)
        seen.limit = repr(lanes.lane("http://upstream/v1").state.limit)
        dreams.cancel_scope.cancel()
    return seen


def seen_by(mode: str, setup: Setup, seed: int, asked: argparse.Namespace) -> Seen:
    if asked.virtual:
        return virtual.run(reckoned(mode, setup, seed, asked.seconds))
    character = replace(
        setup.character, token_s=TOKEN_S * asked.scale, noticed_s=setup.character.noticed_s * asked.scale
    )
    with upstream_apart(character) as url:
        return asyncio.run(measured(mode, setup, url, seed, asked))


def run(setup: Setup, seed: int, asked: argparse.Namespace) -> dict[str, Seen]:
    found = {}
    for mode in random.Random(seed).sample(asked.modes, len(asked.modes)):
        seen = found[mode] = seen_by(mode, setup, seed, asked)
        p50, p99 = seen.quantile(0.5) * 1000, seen.quantile(0.99) * 1000
        print(
            f"{setup.name} seed {seed} {mode}: {len(seen.latencies)} calls, p50 {p50:.1f} p99 {p99:.1f} ms,"
            f" {seen.refused} refused, {seen.dreams:.2f} dreams/s, {seen.wasted:.0%} wasted",
            seen.limit if asked.verbose else "",
            flush=True,
        )
    return found


def warm_up(setup: Setup) -> float:
    return WARM_UP_S + 2 * setup.dream_tokens * TOKEN_S


def spread(values: list[float], worst: Callable[[list[float]], float]) -> str:
    return f"{statistics.median(values):.2f} ({worst(values):.2f})"


def row(setup: Setup, mode: str, runs: list[dict[str, Seen]]) -> str:
    mine = [one[mode] for one in runs]

    def middle(figure: Callable[[Seen], float]) -> float:
        return statistics.median(map(figure, mine))

    def ratios(figure: Callable[[Seen], float], to: str, worst: Callable[[list[float]], float]) -> str:
        if mode == to or to not in runs[0]:
            return ""
        return spread([figure(one[mode]) / (figure(one[to]) or 1) for one in runs], worst)

    calls, refused = sum(len(one.latencies) for one in mine), sum(one.refused for one in mine)
    cells = [
        setup.name,
        mode,
        f"{middle(lambda one: one.quantile(0.5)) * 1000:.1f}",
        f"{middle(lambda one: one.quantile(0.99)) * 1000:.1f}",
        ratios(lambda one: one.quantile(0.5), "alone", max),
        ratios(lambda one: one.quantile(0.99), "alone", max),
        f"{1000 * refused / calls:.1f}",
        f"{middle(lambda one: one.dreams):.2f}",
        ratios(lambda one: one.dreams, "naive", min) if mode == "dreamd" else "",
        f"{middle(lambda one: one.wasted):.0%}" if mode != "alone" else "",
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "| upstream | dreams | p50 ms | p99 ms | p50 / alone | p99 / alone | 429s of 1,000 | dreams/s | dreams / naive | wasted |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--setups", default=",".join(SETUPS), help=f"of {', '.join(SETUPS)}")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="of one run: 12 of this machine, or 600 virtual ones")
    parser.add_argument("--scale", type=float, default=0.1, help="of all times; 1: 200 ms and 3 s calls")
    parser.add_argument("--through", choices=["gate", "gateway"], default="gate")
    parser.add_argument("--virtual", action="store_true", help="reckon with the time instead of spending it")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", type=Path, help="keep all latencies there")
    asked = parser.parse_args()
    asked.modes = asked.modes.split(",")
    asked.seconds = asked.seconds or (600 if asked.virtual else 12)
    setups = [SETUPS[name] for name in asked.setups.split(",")]
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    runs: dict[str, list[dict[str, Seen]]] = {setup.name: [] for setup in setups}
    for seed in seeds:
        for setup in setups:
            runs[setup.name].append(run(setup, seed, asked))
    how = "in virtual time" if asked.virtual else f"through the {asked.through}, times x {asked.scale:g}"
    print(f"\nforeground {how}, {asked.seeds} seeds\n\n{HEAD}")
    for setup in setups:
        for mode in asked.modes:
            print(row(setup, mode, runs[setup.name]))
    if asked.json:
        asked.json.write_bytes(msgspec.json.encode(runs))


if __name__ == "__main__":
    main()
