"""The ASGI app: the table of routes as Starlette serves it, between the guard and the verbs."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Served
from starlette.types import ASGIApp

from dreamd.errors import DreamdError, told
from dreamd.events import REQUEST_FAILED
from dreamd.http import metrics
from dreamd.http.desk import Desk
from dreamd.http.guard import ENDLESS, Guard
from dreamd.http.jobs import Job
from dreamd.http.openapi import document
from dreamd.http.problems import Refused, bug, headers_of, status_of, written
from dreamd.http.routes import ROUTES, Route
from dreamd.status import status

Endpoint = Callable[[Request], Awaitable[Response]]
_encode = msgspec.json.Encoder(enc_hook=str).encode


def app(desk: Desk, mcp: ASGIApp) -> ASGIApp:
    """All of the face. `mcp` answers at `/mcp`, whatever the method."""
    routes: list[BaseRoute] = [
        *(Served(route.path, _endpoint(desk, route), methods=[route.method]) for route in ROUTES),
        Served("/metrics", _metrics(desk), methods=["GET"]),
        Served("/openapi.json", _openapi(desk), methods=["GET"]),
        Served(ENDLESS, mcp),
    ]
    refusing = {DreamdError: _refused, HTTPException: _unserved, Exception: _failing(desk)}
    served = Starlette(routes=routes, exception_handlers=refusing)
    served.router.redirect_slashes = False
    return Guard(served, desk)


def _endpoint(desk: Desk, route: Route) -> Endpoint:
    async def answer(request: Request) -> Response:
        if route.changes:
            await desk.authorise(request.headers)
        asked = await _asked(request, route)
        given = await route.handle(desk, asked)
        return Response(_encode(given), route.status, _location(request, given), "application/json")

    return answer


def _location(request: Request, given: object) -> dict[str, str]:
    """Where to ask how a job goes on."""
    return {"location": f"/v1/jobs/{given.id}"} if request.method == "POST" and isinstance(given, Job) else {}


async def _asked(request: Request, route: Route) -> Any:
    """Raises Refused for what is not of the shape."""
    try:
        if route.method == "POST":
            return msgspec.json.decode(await _json(request), type=route.asked)
        words = {**_single(request), **request.path_params}
        return msgspec.convert(words, route.asked, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(422, f"the request does not fit: {error}", hint="see /openapi.json") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refused(400, f"the body is no JSON that can be read: {error}") from error


def _single(request: Request) -> dict[str, str]:
    words = dict(request.query_params)
    if len(words) != len(request.query_params.multi_items()):
        raise Refused(422, "a parameter is given twice")
    return words


async def _json(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "the body must be JSON", hint="Content-Type: application/json")
    try:
        return await request.body()
    except ClientDisconnect as error:
        raise Refused(400, "the body broke off") from error


def _metrics(desk: Desk) -> Endpoint:
    def told_now() -> str:
        return metrics.text(status(desk.parts), desk.counters, metrics.process())

    async def answer(_request: Request) -> Response:
        return Response(await desk.run(told_now), headers={"content-type": metrics.CONTENT_TYPE})

    return answer


def _openapi(desk: Desk) -> Endpoint:
    def written_down() -> bytes:
        return _encode(document(ROUTES, token_needed=desk.where.path is None))

    async def answer(_request: Request) -> Response:
        return Response(await desk.run(written_down), media_type="application/json")

    return answer


def _problem(error: DreamdError) -> Response:
    return Response(written(error), status_of(error), dict(headers_of(error)), "application/problem+json")


async def _refused(_request: Request, error: Exception) -> Response:
    return _problem(cast("DreamdError", error))


async def _unserved(_request: Request, error: Exception) -> Response:
    """What Starlette itself turns down: no such path, or another method."""
    known = cast("HTTPException", error)
    headers = tuple((known.headers or {}).items())
    return _problem(
        Refused(
            known.status_code,
            "there is nothing here for such a request",
            hint="see /openapi.json",
            headers=headers,
        )
    )


def _failing(desk: Desk) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def failed(request: Request, error: Exception) -> Response:
        """A bug: told by its class and place, for its words may quote a log."""
        parts = desk.parts
        parts.emit(
            REQUEST_FAILED,
            method=request.method,
            route=getattr(request.scope.get("route"), "path", ""),
            **told(error),
        )
        return _problem(bug())

    return failed
