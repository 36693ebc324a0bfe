"""The document says what the face does, and the face does what the document says."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some
from msgspec.structs import replace
from schemathesis import Case
from schemathesis.checks import CheckFunction, positive_data_acceptance
from schemathesis.generation import GenerationMode

from dreamd.http.listening import Threshold, face
from dreamd.http.openapi import document
from dreamd.http.routes import ROUTES, Route
from dreamd.http.shapes import Correcting, Forgetting, Goal, Grounds, Named, NightAsked, Telling
from dreamd.indexes.sqlite import SqliteIndex
from dreamd.sections import Agent, Http
from dreamd.stores.base import Changes
from tests.http.conftest import TOKEN, memory
from tests.night.conftest import House, house  # noqa: F401 - a fixture

SCHEMA = schemathesis.openapi.from_dict(document(ROUTES, token_needed=True))
SCHEMA.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
PATHS = [f"{route.method} {route.path}" for route in ROUTES]


def test_every_route_is_in_the_document_with_its_shapes_and_problems() -> None:
    paths = document(ROUTES, token_needed=True)["paths"]
    assert [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods] == PATHS
    for methods in paths.values():
        for operation in methods.values():
            assert {"4XX", "5XX"} < set(operation["responses"])


async def test_the_face_gives_the_document(opened) -> None:
    async with opened() as door:
        given = (await door.client.get("/openapi.json")).json()
    assert given == json.loads(msgspec.json.encode(document(ROUTES, token_needed=False)))


def test_changes_bear_the_token_where_one_is_needed() -> None:
    def secured(*, token_needed: bool) -> set[str]:
        paths = document(ROUTES, token_needed=token_needed)["paths"]
        return {path for path, methods in paths.items() if "security" in methods.get("post", {})}

    assert secured(token_needed=True) == {route.path for route in ROUTES if route.changes}
    assert secured(token_needed=False) == set()


def test_a_memorys_id_is_a_parameter_of_the_path_and_the_rest_of_the_query() -> None:
    paths = document(ROUTES, token_needed=True)["paths"]
    (named,) = paths["/v1/memories/{id}"]["get"]["parameters"]
    assert (named["in"], named["required"], named["schema"]["pattern"]) == ("path", True, "^[0-9a-z]{4,32}$")
    listing = paths["/v1/memories"]["get"]["parameters"]
    assert {(one["in"], one["required"]) for one in listing} == {("query", False)}


def beyond_a_schema(route: Route) -> list[CheckFunction]:
    """What only the verb can tell: that nothing is so called, that a day is out of reach, that neither ids nor a text are given, that a text is a secret or says nothing."""
    return (
        [positive_data_acceptance]
        if route.asked in (Forgetting, Goal, Telling, NightAsked, Grounds, Named, Correcting)
        else []
    )


@pytest.fixture
def served(house: Callable[..., House], tmp_path: Path) -> Iterator[str]:  # noqa: F811
    """The address of a face in a thread of its own, for a client that blocks."""
    home = house("anna", zone="UTC", at=datetime(2026, 3, 2, 12, tzinfo=UTC))
    (tmp_path / "token").write_text(TOKEN)
    http = Http(listen="127.0.0.1:0", token_file=str(tmp_path / "token"), requests_per_minute=0)
    agents = {
        **home.parts.config.agents,
        "tracy": Agent(format="trace", logs=(str(tmp_path / "traces"),), zone="UTC"),
    }
    config = replace(home.parts.config, http=http, agents=agents)
    parts = replace(home.parts, config=config, index=SqliteIndex(home.parts.state))
    parts.store.write(Changes(memories=[memory("abcd" + "0" * 28)]))

    async def opened() -> str:
        while not home.told.named("http.opened"):
            await anyio.lowlevel.checkpoint()
        return f"http://{home.told.named('http.opened')[0]['listen']}"

    threshold = Threshold()
    with anyio.from_thread.start_blocking_portal() as portal:
        running = portal.start_task_soon(face, parts, lambda: True, threshold)
        yield portal.call(opened)
        running.cancel()
    threshold.close()
    parts.index.close()
    assert home.told.named("request.failed") == []


@pytest.mark.parametrize("route", ROUTES, ids=PATHS)
def test_any_request_gets_an_answer_that_the_document_knows(served: str, route: Route) -> None:
    operation = SCHEMA[route.path][route.method]

    @settings(
        max_examples=5, database=None, deadline=None, phases=[Phase.generate], derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(
        case=some.one_of(
            operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
            operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        )
    )
    def conforms(case: Case) -> None:
        case.headers["Authorization"] = f"Bearer {TOKEN}"
        answer = case.call_and_validate(base_url=served, excluded_checks=beyond_a_schema(route))
        assert answer.status_code < 500

    conforms()
