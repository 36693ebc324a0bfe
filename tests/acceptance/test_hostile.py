"""A daemon whose face is attacked: each attempt is refused in a line, its memory stays bounded, it goes on working."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx
import pytest

from tests.acceptance.house import Daemon, Home

RESIDENT_MIB = 160
PIPELINED, CONNECTIONS = 50, 200  # 10,000 requests in flight
GET = b"GET /v1/memories HTTP/1.1\r\nhost: d\r\n\r\n"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Home, Daemon]]:
    home = Home(tmp_path)
    with home.daemon() as daemon:
        daemon.told("READY=1")
        daemon.waits_for("http.opened")
        yield home, daemon


def resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


async def asks(path: str, counts: dict[bytes, int]) -> None:
    """All its requests at once; then it reads what comes until all are answered or it is left."""
    async with await anyio.connect_unix(path) as visitor:
        heard = b""
        try:
            await visitor.send(GET * PIPELINED)
            while heard.count(b"HTTP/1.1 ") < PIPELINED:
                heard += await visitor.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass
    for line in heard.split(b"HTTP/1.1 ")[1:]:
        counts[line[:3]] = counts.get(line[:3], 0) + 1


async def test_ten_thousand_requests_in_flight_are_answered_or_refused_and_the_daemon_stays_well(
    running: tuple[Home, Daemon],
) -> None:
    home, daemon = running
    path = str(home.root / "state" / "dreamd.sock")
    counts: dict[bytes, int] = {}
    async with anyio.create_task_group() as tasks:
        for _ in range(CONNECTIONS):
            tasks.start_soon(asks, path, counts)
    assert set(counts) <= {b"200", b"429", b"503"}
    assert sum(counts.values()) > PIPELINED * CONNECTIONS / 2
    transport = httpx.AsyncHTTPTransport(uds=path)
    async with httpx.AsyncClient(transport=transport, base_url="http://d", timeout=30) as client:
        assert (await client.get("/readyz")).status_code == 200
    assert resident_mib(daemon.process.pid) < RESIDENT_MIB


async def test_large_bodies_from_many_at_once_are_refused_and_cost_no_memory(
    running: tuple[Home, Daemon],
) -> None:
    home, daemon = running
    path = str(home.root / "state" / "dreamd.sock")
    refused: list[int] = []

    async def sends() -> None:
        transport = httpx.AsyncHTTPTransport(uds=path)
        async with httpx.AsyncClient(transport=transport, base_url="http://d", timeout=30) as client:
            answer = await client.post("/v1/recall", content=bytes(6 << 20))
            refused.append(answer.status_code)

    async with anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(sends)
    assert refused == [413] * 40
    assert resident_mib(daemon.process.pid) < RESIDENT_MIB


def test_the_log_of_an_attack_holds_no_word_of_it(running: tuple[Home, Daemon]) -> None:
    home, daemon = running
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=str(home.root / "state" / "dreamd.sock")), base_url="http://d"
    ) as client:
        client.post(
            "/v1/recall", content=b'{"goal": "attack-word', headers={"content-type": "application/json"}
        )
        client.get("/v1/memories/attack-word")
        client.get("/attack-word", headers={"x-attack-word": "attack-word"})
    daemon.process.terminate()
    daemon.process.wait(10)
    assert "attack-word" not in daemon.stderr.read_text()
    assert {str(one["event"]) for one in daemon.events()} >= {"http.opened", "request.finished"}
