"""What the gateway costs: latency, requests per second, time to first byte, chunk lag, CPU and memory, beside others.

    python -m tests.benchmarks.gateway [--rounds N] [--seconds S] [--only direct,dreamd,nginx] [--litellm PROGRAM]

In one run, in a new order each round: a direct call, dreamd, nginx where it is installed, LiteLLM's proxy where its
program is given. The gateways share one core, the client and the upstream
another, where there are two. Client and upstream are bare epoll loops, each a process. A chunk carries the time at which
the upstream sent it, so its lag is measured one way. Each request of a client is of another length than the one before;
with --new-heads it also has another id.

Requests per second compare gateways only while each has its core to the full (`core %`): one that is quicker than client
and upstream waits for them. CPU a request compares them always.
"""

import argparse
import json
import math
import os
import random
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from heapq import heappop, heappush
from itertools import cycle
from pathlib import Path

import anyio

from dreamd.clock import SystemClock
from dreamd.gate.lanes import Lanes
from dreamd.gateway.serve import opened
from dreamd.gateway.settings import settled
from dreamd.sections import Gate, Gateway

PATH = "/v1/chat/completions"
CHUNKS = 50
PLAYS = (
    "reply",
    "large",
    "burst",
    "paced",
)  # one answer; to 400 kB; 50 chunks at once; 50 each 10 ms after 50 ms
FIRST_S, NEXT_S = 0.05, 0.01
LENGTHS = 8  # of requests
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_SENT = re.compile(rb"@(\d+)@")
DONE = b"data: [DONE]\n\n"


# the upstream


def reply() -> bytes:
    body = json.dumps(
        {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "x" * 1150}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 400, "completion_tokens": 200, "total_tokens": 600},
        }
    ).encode()  # fmt: skip
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: req_1\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def stream_head() -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event() -> bytes:
    whole = {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": f"@{time.monotonic_ns()}@"}, "finish_reason": None}],
    }  # fmt: skip
    return framed(b"data: %b\n\n" % json.dumps(whole).encode())


def framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def whole_request(pieces: list[bytes]) -> bool:
    """Told without joining them: the head is in the first one."""
    head, _, body = pieces[0].partition(b"\r\n\r\n")
    if length := _LENGTH.search(head):
        return len(body) + sum(map(len, pieces[1:])) >= int(length[1])
    return pieces[-1].endswith(b"0\r\n\r\n") or b"chunked" not in head


class Upstream:
    """Answers as the request's model is named."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.poll = select.epoll()
        self.poll.register(listener, select.EPOLLIN)
        self.connections: dict[int, socket.socket] = {}
        self.read: dict[int, list[bytes]] = {}
        self.due: list[tuple[float, int, int]] = []  # when, whom, which chunk

    def run(self) -> None:
        while True:
            wait = max(0.0, self.due[0][0] - time.monotonic()) if self.due else -1
            for fd, _ in self.poll.poll(wait):
                if fd == self.listener.fileno():
                    self.accept()
                else:
                    self.heard(fd)
            while self.due and self.due[0][0] <= time.monotonic():
                self.next_chunk(*heappop(self.due))

    def accept(self) -> None:
        held, _ = self.listener.accept()
        held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections[held.fileno()] = held
        self.read[held.fileno()] = []
        self.poll.register(held, select.EPOLLIN)

    def heard(self, fd: int) -> None:
        held = self.connections[fd]
        try:
            data = held.recv(1 << 20)
        except ConnectionError:
            data = b""
        if not data:
            self.poll.unregister(fd)
            self.connections.pop(fd).close()
            return
        self.read[fd].append(data)
        if whole_request(self.read[fd]):
            self.answer(fd, held, self.read[fd][0])
            self.read[fd] = []

    def answer(self, fd: int, held: socket.socket, request: bytes) -> None:
        if b'"paced"' in request:
            heappush(self.due, (time.monotonic() + FIRST_S, fd, 0))
        elif b'"burst"' in request:
            held.sendall(stream_head())
            for _ in range(CHUNKS):
                held.sendall(event())
            held.sendall(framed(DONE) + b"0\r\n\r\n")
        else:
            held.sendall(REPLY)

    def next_chunk(self, when: float, fd: int, number: int) -> None:
        held = self.connections.get(fd)
        if held is None:
            return
        if number == CHUNKS:
            held.sendall(framed(DONE) + b"0\r\n\r\n")
            return
        held.sendall((stream_head() if number == 0 else b"") + event())
        heappush(self.due, (when + NEXT_S, fd, number + 1))


REPLY = reply()


# the client


class Caller:
    """One connection that asks again as soon as it was answered."""

    def __init__(self, port: int, requests: list[bytes]) -> None:
        self.requests = cycle(requests)
        self.held = socket.create_connection(("127.0.0.1", port))
        self.held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answer = b""
        self.asked = self.first = 0

    def ask(self) -> None:
        self.answer, self.first = b"", 0
        self.asked = time.monotonic_ns()
        self.held.sendall(next(self.requests))

    def heard(self, lags: list[int]) -> bool:
        """Whether the answer is complete."""
        data = self.held.recv(1 << 20)
        now = time.monotonic_ns()
        if not data:
            raise ConnectionError(self.answer[:300])
        self.first = self.first or now
        self.answer += data
        lags += [now - int(sent) for sent in _SENT.findall(data)]
        if not self.answer.startswith(b"HTTP/1.1 200"):
            raise ConnectionError(self.answer[:300])
        head, mark, body = self.answer.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        return bool(mark) and (len(body) >= int(length[1]) if length else body.endswith(b"\r\n0\r\n\r\n"))


def request(port: int, path: str, play: str, extra: int, id_line: str) -> bytes:
    prompt = "word " * (80_000 if play == "large" else 380) + "." * extra
    body = json.dumps(
        {
            "model": play,
            "stream": play in ("burst", "paced"),
            "messages": [{"role": "user", "content": prompt}],
        }
    ).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\nUser-Agent: bench/1\r\n{id_line}"
        f"Authorization: Bearer sk-bench\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def load(
    port: int, path: str, play: str, concurrency: int, seconds: float, *, new_heads: bool = False
) -> dict:
    """Closed loop. All times in ns."""
    id_lines = [f"X-Request-Id: {n}\r\n" if new_heads else "" for n in range(LENGTHS)]
    requests = [request(port, path, play, extra, line) for extra, line in enumerate(id_lines)]
    calls = Calls(port, requests, time.monotonic() + seconds)
    began = time.monotonic()
    calls.run(concurrency)
    return {
        "whole": calls.whole, "first": calls.first, "lags": calls.lags, "errors": calls.errors,
        "took": time.monotonic() - began,
    }  # fmt: skip


class Calls:
    """A closed loop of callers until the time is over."""

    def __init__(self, port: int, requests: list[bytes], until: float) -> None:
        self.port, self.requests, self.until = port, requests, until
        self.whole: list[int] = []
        self.first: list[int] = []
        self.lags: list[int] = []
        self.errors = 0
        self.poll = select.epoll()
        self.callers: dict[int, Caller] = {}

    def run(self, concurrency: int) -> None:
        for _ in range(concurrency):
            self.begin()
        while self.callers:
            for fd, _ in self.poll.poll():
                self.heard(fd, self.callers[fd])

    def begin(self) -> None:
        caller = Caller(self.port, self.requests)
        self.callers[caller.held.fileno()] = caller
        self.poll.register(caller.held, select.EPOLLIN)
        caller.ask()

    def end(self, fd: int) -> None:
        self.poll.unregister(fd)
        self.callers.pop(fd).held.close()

    def heard(self, fd: int, caller: Caller) -> None:
        try:
            if not caller.heard(self.lags):
                return
        except ConnectionError:
            self.errors += 1
            self.end(fd)
            if time.monotonic() < self.until:
                self.begin()
            return
        self.whole.append(time.monotonic_ns() - caller.asked)
        self.first.append(caller.first - caller.asked)
        if time.monotonic() < self.until:
            caller.ask()
        else:
            self.end(fd)


# the gateways


async def dreamd(port: int, upstream: int) -> None:
    section = Gateway(listen=f"127.0.0.1:{port}", upstreams={"up": f"http://127.0.0.1:{upstream}"})
    async with opened(settled(section), Lanes(Gate(), concurrency=2, clock=SystemClock())):
        await anyio.sleep_forever()


NGINX = """
worker_processes 1; daemon off; master_process off; pid {dir}/nginx.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f;
  uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s; keepalive_requests 10000000;
  upstream up {{ server 127.0.0.1:{upstream}; keepalive 2048; keepalive_requests 10000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=1024; client_max_body_size 0;
    location /up/ {{
      proxy_pass http://up/; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 1h;
    }}
  }}
}}
"""
LITELLM = """
model_list:
  - model_name: reply
    litellm_params: {{model: openai/reply, api_base: "http://127.0.0.1:{upstream}/v1", api_key: sk-bench}}
  - model_name: large
    litellm_params: {{model: openai/large, api_base: "http://127.0.0.1:{upstream}/v1", api_key: sk-bench}}
  - model_name: burst
    litellm_params: {{model: openai/burst, api_base: "http://127.0.0.1:{upstream}/v1", api_key: sk-bench}}
  - model_name: paced
    litellm_params: {{model: openai/paced, api_base: "http://127.0.0.1:{upstream}/v1", api_key: sk-bench}}
general_settings: {{dangerously_permit_weak_or_unset_master_key: true}}
litellm_settings: {{telemetry: false, drop_params: false, num_retries: 0}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command(name: str, folder: Path, port: int, upstream: int, litellm: str) -> list[str]:
    if name == "nginx":
        conf = folder / "nginx.conf"
        conf.write_text(NGINX.format(dir=folder, port=port, upstream=upstream))
        return [shutil.which("nginx") or "nginx", "-p", str(folder), "-c", str(conf)]
    if name == "litellm":
        conf = folder / "litellm.yaml"
        conf.write_text(LITELLM.format(upstream=upstream))
        return [litellm, "--config", str(conf), "--host", "127.0.0.1", "--port", str(port)]
    return [sys.executable, "-m", "tests.benchmarks.gateway", "--serve", str(port), str(upstream)]


def started(stack: ExitStack, words: list[str], core: int | None, port: int) -> int:
    """The process, once it listens."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(child.wait)
    stack.callback(child.send_signal, signal.SIGTERM)
    if core is not None:
        os.sched_setaffinity(child.pid, {core})
    for _ in range(2400):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return child.pid
        time.sleep(0.05)
    raise TimeoutError(words[0])


def cpu_ns(pid: int) -> int:
    ran = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            ran += int((task / "schedstat").read_text().split()[0])
    return ran


def rss_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


# the run


def quantile(values: list[int], share: float) -> float:
    """In ms."""
    return sorted(values)[min(len(values) - 1, math.ceil(len(values) * share))] / 1e6 if values else math.nan


def measured(
    port: int,
    path: str,
    pid: int | None,
    play: str,
    concurrency: int,
    seconds: float,
    *,
    new_heads: bool = False,
) -> dict[str, float]:
    before = cpu_ns(pid) if pid else 0
    found = load(port, path, play, concurrency, seconds, new_heads=new_heads)
    spent = (cpu_ns(pid) - before if pid else 0) / 1e3
    calls = max(1, len(found["whole"]))
    figures = {"req/s": calls / found["took"], "cpu us/req": spent / calls, "errors": found["errors"]}
    figures["core %"] = spent / found["took"] / 1e4
    for name, key in (("p", "whole"), ("ttfb p", "first"), ("lag p", "lags")):
        if found[key]:
            figures |= {f"{name}50": quantile(found[key], 0.5), f"{name}99": quantile(found[key], 0.99)}
    if found["lags"]:
        figures["cpu us/chunk"] = spent / len(found["lags"])
    return figures


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--only", default="direct,dreamd,nginx,litellm")
    parser.add_argument("--plays", default=",".join(PLAYS))
    parser.add_argument("--concurrency", default="1,16,64")
    parser.add_argument(
        "--litellm", default=shutil.which("litellm") or "", help="its program, where installed"
    )
    parser.add_argument("--new-heads", action="store_true")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def installed(names: str, litellm: str) -> list[str]:
    there = {"direct": True, "dreamd": True, "nginx": bool(shutil.which("nginx")), "litellm": bool(litellm)}
    return [name for name in names.split(",") if there.get(name)]


def main() -> None:
    options = parsed()
    if options.serve:
        anyio.run(dreamd, *map(int, options.serve))
        return
    names = installed(options.only, options.litellm)
    cores = sorted(os.sched_getaffinity(0))
    theirs = cores[1] if len(cores) > 1 else None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        upstream = listener.getsockname()[1]
        if theirs is not None:
            os.sched_setaffinity(0, {cores[0]})
        child = os.fork()
        if child == 0:
            Upstream(listener).run()
        stack.callback(os.kill, child, signal.SIGKILL)
        places: dict[str, tuple[int, str, int | None]] = {}
        for name in names:
            if name == "direct":
                places[name] = (upstream, PATH, None)
                continue
            port = free_port()
            began = time.monotonic()
            pid = started(stack, command(name, folder, port, upstream, options.litellm), theirs, port)
            print(f"{name}: listens after {time.monotonic() - began:.2f} s, {rss_mb(pid):.0f} MB", flush=True)
            places[name] = (port, PATH if name == "litellm" else f"/up{PATH}", pid)
        scenarios = [(p, int(c)) for p in options.plays.split(",") for c in options.concurrency.split(",")]
        report(names, scenarios, rounds(places, scenarios, options))
        for name, (_, _, pid) in places.items():
            if pid:
                print(f"{name}: {rss_mb(pid):.0f} MB at the end")


Figures = dict[tuple[str, str, int], list[dict[str, float]]]


def rounds(
    places: dict[str, tuple[int, str, int | None]], scenarios: list[tuple[str, int]], options
) -> Figures:
    figures: Figures = {}
    draw = random.Random(1)
    for _ in range(options.rounds):
        order = [(name, *scenario) for name in places for scenario in scenarios]
        draw.shuffle(order)
        for name, play, concurrency in order:
            port, path, pid = places[name]
            found = measured(port, path, pid, play, concurrency, options.seconds, new_heads=options.new_heads)
            figures.setdefault((name, play, concurrency), []).append(found)
    return figures


def report(names: list[str], scenarios: list[tuple[str, int]], figures: Figures) -> None:
    """Medians of the rounds; times in ms."""
    for play, concurrency in scenarios:
        print(f"\n{play}, {concurrency} at a time")
        middles = {name: middle(figures[name, play, concurrency]) for name in names}
        for name, found in middles.items():
            if "p50" in found and name != "direct" and "direct" in middles:
                found["added p50"] = found["p50"] - middles["direct"]["p50"]
                found["added ttfb p50"] = found["ttfb p50"] - middles["direct"]["ttfb p50"]
            for peer in ({"nginx", "litellm"} & set(names)) if name == "dreamd" else ():
                found[f"x {peer}"] = found["req/s"] / middles[peer]["req/s"]
                found[f"x {peer} by cpu"] = middles[peer]["cpu us/req"] / found["cpu us/req"]
            print(f"  {name:8}", "  ".join(f"{key} {value:,.2f}" for key, value in found.items()))


def middle(found: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(one[key] for one in found if key in one) for key in found[0]}


if __name__ == "__main__":
    main()
