"""What is loaded only when somebody asks for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from dreamd import _plugins
from dreamd.errors import ConfigError
from dreamd.parts import Parts


async def test_the_app_is_opened_once_at_the_first_request_and_closed_with_the_face(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []

    @asynccontextmanager
    async def opening(_parts: Parts) -> AsyncIterator[ASGIApp]:
        happened.append("opened")
        try:
            yield PlainTextResponse("hello")
        finally:
            happened.append("closed")

    loading(monkeypatch, lambda: opening)
    async with opened() as door:
        assert (await door.client.get("/healthz")).status_code == 200
        assert happened == []
        answers = [await door.client.request(method, "/mcp") for method in ("POST", "GET", "DELETE")]
        assert [one.text for one in answers] == ["hello"] * 3
        assert happened == ["opened"]
    assert happened == ["opened", "closed"]


async def test_an_app_that_is_not_installed_is_told_and_the_rest_goes_on(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise ConfigError("mcp/serving needs the package mcp", hint="pip install mcp")

    loading(monkeypatch, missing)
    async with opened() as door:
        refused = await door.client.post("/mcp")
        assert (await door.client.get("/healthz")).status_code == 200
    assert refused.status_code == 500
    assert refused.json()["hint"] == "pip install mcp"


def loading(monkeypatch: pytest.MonkeyPatch, loaded) -> None:
    real = _plugins.load

    def load(package: str, name: str, attribute: str) -> object:
        return loaded() if package == "mcp" else real(package, name, attribute)

    monkeypatch.setattr(_plugins, "load", load)
