"""The same server over HTTP: an ASGI application that any address can carry."""

import json
from contextlib import asynccontextmanager

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from dreamd.mcp.mounted import OPEN
from tests.mcp.house import talked, text_of

URL = "http://127.0.0.1/mcp"
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@asynccontextmanager
async def asked(folder):
    async with (
        talked(folder) as parts,
        OPEN(parts) as app,
        httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http,
    ):
        yield http


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_sdks_client_speaks_with_it(tmp_path, mode):
    async with (
        talked(tmp_path, "Hello", "Hi") as parts,
        OPEN(parts) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        assert "anna: 2 records" in text_of(await client.call_tool("status", {}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_address_may_name_the_agent(tmp_path, mode):
    async with (
        talked(tmp_path) as parts,
        OPEN(parts) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as http,
        Client(streamable_http_client(f"{URL}?agent=bob", http_client=http), mode=mode) as client,
    ):
        told = text_of(await client.call_tool("remember", {"text": "x"}), failed=True)
        assert "no agent 'bob'" in told


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_there_is_no_stream_to_open_and_no_session_to_end(tmp_path, method):
    async with asked(tmp_path) as http:
        assert (await http.request(method, URL, headers=HEADERS)).status_code == 405


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"[" * 50_000, b'"\\ud800"', json.dumps({"method": "x" * 2_000_000}).encode()]
)
async def test_what_is_no_request_is_refused_in_one_line(tmp_path, body):
    async with asked(tmp_path) as http:
        answer = await http.post(URL, headers=HEADERS, content=body)
    assert 400 <= answer.status_code < 500
    assert "\n" not in answer.text.strip()
    assert "Traceback" not in answer.text
