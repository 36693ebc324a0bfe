"""The SDK's server as an ASGI application, for whoever mounts it behind an address (streamable HTTP)."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dreamd.mcp.serving import server
from dreamd.parts import Parts


@asynccontextmanager
async def mounted(parts: Parts) -> AsyncIterator[ASGIApp]:
    """The application, while inside. It keeps nothing of a client between two requests.

    Hosts, origins, tokens and rates are the mounting side's. To be entered and left in the same task.
    """
    manager = StreamableHTTPSessionManager(
        server(parts),
        json_response=True,
        stateless=True,
        max_request_body_size=parts.config.http.max_body_bytes,
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await manager.handle_request(scope, receive, send)
        else:  # there is no stream to open and no session to end
            await PlainTextResponse("POST only", 405, {"Allow": "POST"})(scope, receive, send)

    async with manager.run():
        yield app


OPEN: Callable[[Parts], AbstractAsyncContextManager[ASGIApp]] = mounted
