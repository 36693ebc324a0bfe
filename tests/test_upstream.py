"""The server that plays an upstream is itself played with: figures rest on it."""

import anyio
import httpx
import pytest

from tests.upstream import Character, upstream, upstream_apart

FOREVER = 1_000_000


def chat(tokens: int, *, stream: bool = False) -> dict:
    return {
        "model": "m",
        "max_tokens": tokens,
        "stream": stream,
        "messages": [{"role": "user", "content": "hi"}],
    }


async def test_a_full_server_lets_calls_wait_in_order() -> None:
    async with upstream(Character(slots=1)) as server, httpx.AsyncClient(base_url=server.base_url) as client:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(lambda: client.post("/chat/completions", json=chat(3)))
        count = server.count("foreground")
    assert (count.finished, count.most_running, count.refused) == (3, 1, 0)


async def test_a_full_server_refuses_where_it_is_told_to() -> None:
    character = Character(slots=1, full="reject")
    async with (
        upstream(character) as server,
        httpx.AsyncClient(base_url=server.base_url) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(lambda: client.post("/chat/completions", json=chat(FOREVER)))
        await server.until("foreground", "running")
        refused = await client.post("/chat/completions", json=chat(1))
        tasks.cancel_scope.cancel()
    assert refused.status_code == 429
    assert refused.headers["retry-after-ms"] == "50"


async def test_all_run_at_once_where_slots_are_shared() -> None:
    character = Character(slots=1, full="share")
    async with upstream(character) as server, httpx.AsyncClient(base_url=server.base_url) as client:
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(lambda: client.post("/chat/completions", json=chat(20)))
        assert server.count("foreground").most_running == 4


@pytest.mark.parametrize("path", ["/chat/completions", "/messages"])
@pytest.mark.parametrize("stream", [False, True])
async def test_who_hangs_up_stops_the_work(path: str, *, stream: bool) -> None:
    async with upstream(Character()) as server, httpx.AsyncClient(base_url=server.base_url) as client:
        async with anyio.create_task_group() as tasks:
            headers = {"x-dreamd-purpose": "distil"}
            tasks.start_soon(lambda: client.post(path, json=chat(FOREVER, stream=stream), headers=headers))
            await server.until("dream", "tokens", 3)
            tasks.cancel_scope.cancel()
        await server.until("dream", "abandoned")
        count = server.count("dream")
        assert (count.running, server.slots.taken, count.wasted) == (0, 0, count.tokens)


@pytest.mark.parametrize(("path", "end"), [("/chat/completions", "[DONE]"), ("/messages", "message_stop")])
async def test_a_stream_ends_as_its_protocol_wants(path: str, end: str) -> None:
    async with upstream(Character()) as server, httpx.AsyncClient(base_url=server.base_url) as client:
        answer = await client.post(path, json=chat(3, stream=True))
    assert answer.text.count("word") == 3
    assert end in answer.text.splitlines()[-2]


async def test_more_slots_let_the_waiting_in() -> None:
    async with upstream(Character(slots=1)) as server, httpx.AsyncClient(base_url=server.base_url) as client:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(lambda: client.post("/chat/completions", json=chat(FOREVER)))
            await server.until("foreground", "waiting")
            server.slots.number = 2
            await server.until("foreground", "most_running", 2)
            tasks.cancel_scope.cancel()
        await server.until("foreground", "abandoned", 2)
        assert server.slots.taken == 0


def test_it_serves_from_a_process_of_its_own() -> None:
    with upstream_apart(Character()) as url, httpx.Client() as client:
        client.post(f"{url}/chat/completions", json=chat(2))
        counts = client.get(url.removesuffix("/v1") + "/counts").json()
    assert counts["foreground"]["tokens"] == 2
