"""Requests that do not fit, paths that are none, bugs: each is told in one line and ends nothing."""

import pytest

from dreamd.errors import StoreBusy
from dreamd.http import app as module
from tests.http.conftest import memory

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"goal": "x"} y', 400),
        (b'{"goal": "\xff"}', 400),
        (b'{"goal": "\\ud800"}', 400),
        (b"NaN", 400),
        (b"[" * 200_000, 422),
        (b'{"goal": "x", "budget": "many"}', 422),
        (b'{"goal": "x", "budget": 1e400}', 422),
        (b'{"goal": "x", "budget": -1}', 422),
        (b'{"goal": 3}', 422),
        (b'{"goal": null}', 422),
        (b'{"goal": ""}', 422),
        (b'{"goal": "   "}', 422),
        (b"{}", 422),
        (b"[]", 422),
        (b'"goal"', 422),
        (b'{"goal": "x", "goals": "y"}', 422),
        (b'{"goal": "x", "as_of": "yesterday"}', 422),
        (b'{"goal": "x", "as_of": "2026-03-02T09:00:00"}', 422),
    ],
)
async def test_a_body_that_does_not_fit_is_refused(opened, body: bytes, status: int) -> None:
    async with opened() as door:
        refused = await door.client.post("/v1/recall", content=body, headers=JSON)
    assert refused.status_code == status
    assert refused.headers["content-type"] == "application/problem+json"
    assert "\n" not in refused.text


async def test_nesting_that_is_too_deep_is_refused(opened) -> None:
    deep = b'{"agent":"tracy","session":"s","lines":[{"kind":"action","arguments":%s}]}' % (
        b"[" * 90_000 + b"]" * 90_000
    )
    async with opened() as door:
        refused = await door.client.post("/v1/traces", content=deep, headers=JSON)
        assert (await door.client.get("/healthz")).status_code == 200
    assert refused.status_code == 400


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
async def test_a_body_must_say_that_it_is_json(opened, kind: str) -> None:
    async with opened() as door:
        refused = await door.client.post(
            "/v1/recall", content=b'{"goal": "x"}', headers={"content-type": kind}
        )
    assert refused.status_code == 415


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories/..%2f..%2fetc%2fpasswd",
        "/v1/memories/%2e%2e/evidence",
        "/v1/memories/abcd%00",
        "/v1/memories/abcd%0a",
        "/v1/memories/ABCD",
        "/v1/memories/a*",
        "/v1/memories/%25%27",
        "/v1/memories/" + "a" * 5000,
        "/v1/memories//evidence",
        "//v1/status",
        "/v1/status/",
        "/%",
    ],
)
async def test_a_path_is_no_way_to_anything_else(opened, path: str) -> None:
    async with opened() as door:
        door.pools(memory("abcd" + "0" * 28))
        refused = await door.client.get(path)
    assert refused.status_code in (404, 422)
    assert refused.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=1&limit=2", "after=-1", "day=today", "type=song", "who=me"]
)
async def test_a_query_that_does_not_fit_is_refused(opened, query: str) -> None:
    async with opened() as door:
        assert (await door.client.get(f"/v1/memories?{query}")).status_code == 422


async def test_another_method_is_told_which_there_are(opened) -> None:
    async with opened() as door:
        refused = [await door.client.request(method, "/v1/recall") for method in ("GET", "OPTIONS", "TRACE")]
    assert [one.status_code for one in refused] == [405] * 3
    assert refused[0].headers["allow"] == "POST"


async def test_a_bug_is_told_by_its_place_and_not_in_its_words(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the diary says that")

    monkeypatch.setattr(module.metrics, "text", broken)
    async with opened() as door:
        answer = await door.client.get("/metrics")
        told = door.house.told.named("request.failed")
        after = await door.client.get("/healthz")
    assert answer.status_code == 500
    assert answer.json()["detail"] == "dreamd failed"
    assert told[0]["error"] == "RuntimeError"
    assert "diary" not in str(told) + answer.text
    assert after.status_code == 200


async def test_an_error_of_dreamd_is_a_problem(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise StoreBusy("another process holds the store", hint="try again")

    monkeypatch.setattr(module, "status", busy)
    async with opened() as door:
        answer = await door.client.get("/metrics")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert (answer.json()["error"], answer.json()["hint"]) == ("StoreBusy", "try again")


async def test_head_is_answered_without_a_body(opened) -> None:
    async with opened() as door:
        answer = await door.client.head("/v1/status")
    assert (answer.status_code, answer.content) == (200, b"")
