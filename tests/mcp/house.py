"""An agent with a day's log in dreamd's pool, and the SDK's own client beside it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from anyio import to_thread
from mcp.client import Client
from mcp_types import CallToolResult, TextContent

from dreamd.clock import StillClock
from dreamd.mcp.serving import server
from dreamd.parts import Parts
from dreamd.tail.sync import sync
from tests.acceptance.house import Home, parts_of

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@asynccontextmanager
async def talked(folder: Path, *texts: str) -> AsyncIterator[Parts]:
    """The parts of a house whose only agent, anna, was told these things (questions and answers in turn) on Monday."""
    home = await to_thread.run_sync(Home, folder)
    if texts:
        await to_thread.run_sync(home.says, MONDAY, *texts)
    async with parts_of(home, StillClock(MONDAY.replace(hour=12))) as parts:
        await to_thread.run_sync(sync, parts)
        yield parts


@asynccontextmanager
async def client_of(parts: Parts, agent: str = "anna", **settings: object) -> AsyncIterator[Client]:
    async with Client(await to_thread.run_sync(server, parts, agent), **settings) as client:  # type: ignore[arg-type]
        yield client


def text_of(result: CallToolResult, *, failed: bool = False) -> str:
    assert result.is_error == failed, result.content
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
