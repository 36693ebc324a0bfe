"""Each path calls its verb and gives back what that returns."""

import json
from types import SimpleNamespace

import anyio.lowlevel
import pytest

from dreamd.errors import StateLocked
from dreamd.http.routes import PAGE_BYTES, ROUTES, dreams
from dreamd.http.shapes import DreamsAsked
from dreamd.locks import dream_lock, exclusive
from dreamd.records import Span, Trust
from tests.http.conftest import memory
from tests.night.conftest import house  # noqa: F401 - a fixture


async def test_memories_are_listed_page_by_page(opened) -> None:
    async with opened() as door:
        door.pools(*(memory(f"{number:032x}", f"cup {number}") for number in range(5)))
        first = (await door.client.get("/v1/memories", params={"limit": 3})).json()
        second = (await door.client.get("/v1/memories", params={"limit": 3, "after": first["next"]})).json()
    said = [one["content"] for one in first["memories"] + second["memories"]]
    assert said == [f"cup {number}" for number in range(5)]
    assert second["next"] is None


async def test_a_page_ends_early_where_its_memories_are_long(opened) -> None:
    async with opened() as door:
        door.pools(*(memory(f"{number:032x}", "x" * (PAGE_BYTES // 2)) for number in range(5)))
        page = (await door.client.get("/v1/memories")).json()
    assert len(page["memories"]) == 3
    assert page["next"]


async def test_memories_are_chosen_by_agent_type_status_and_day(opened) -> None:
    async with opened("anna", "ben") as door:
        door.pools(
            memory("a" * 32, "hers"), memory("b" * 32, "his", agent="ben"), memory("i" * 32, "known", type="insight", status="candidate")
        )  # fmt: skip

        async def asked(**params: str) -> list[str]:
            page = (await door.client.get("/v1/memories", params=params)).json()
            return [one["content"] for one in page["memories"]]

        assert await asked(agent="ben") == ["his"]
        assert await asked(type="insight") == ["known"]
        assert await asked(status="candidate") == ["known"]
        assert await asked(day="2026-03-01") == []


async def test_a_memory_is_found_by_the_beginning_of_its_id(opened) -> None:
    async with opened() as door:
        span = Span("log", 7, 21, b"\xab\xcd")
        door.pools(memory("abcd" + "0" * 28, span=span, trust=Trust.HUMAN), memory("abce" + "0" * 28))
        one = (await door.client.get("/v1/memories/abcd")).json()
        several = await door.client.get("/v1/memories/abc")
        none = await door.client.get("/v1/memories/ffff")
    assert one["memory_id"] == "abcd" + "0" * 28
    assert one["span"] == {"source_id": "log", "offset": 7, "length": 21, "sha256": "abcd"}
    assert one["trust"] == "human"
    assert (several.status_code, none.status_code) == (422, 404)


async def test_several_memories_that_begin_so_are_a_conflict(opened) -> None:
    async with opened() as door:
        door.pools(memory("abcd" + "0" * 28), memory("abcd" + "1" * 28))
        several = await door.client.get("/v1/memories/abcd/evidence")
    assert several.status_code == 409
    assert several.json()["hint"] == "give more of the id"


async def test_evidence_goes_down_to_the_record(opened) -> None:
    async with opened() as door:
        door.pools(memory("abcd" + "0" * 28, "Tea at four"))
        node = (await door.client.get("/v1/memories/abcd/evidence")).json()
    assert (node["kind"], node["text"]) == ("record", "Tea at four")


async def test_evidence_of_a_line_is_asked_for_by_its_place(opened) -> None:
    async with opened() as door:
        page = door.house.root / "anna" / "MEMORY.md"
        page.write_text("- Tea at four\n")
        node = (await door.client.get("/v1/evidence", params={"of": f"{page}:1"})).json()
        elsewhere = [
            await door.client.get("/v1/evidence", params={"of": of})
            for of in ("/etc/passwd:1", "/dev/zero:1", "/nowhere/MEMORY.md:1", "~nobody-of-that-name/x.md:1")
        ]
        nameless = await door.client.get("/v1/evidence", params={"of": "a\0b:1"})
    assert (node["kind"], node["text"]) == ("line", "Tea at four")
    assert {one.status_code for one in elsewhere} == {422}
    assert all("is no agent's MEMORY.md" in one.json()["detail"] for one in elsewhere)
    assert nameless.status_code == 422


async def test_an_insight_is_pinned_put_right_and_let_go(opened) -> None:
    async with opened() as door:
        kept = (await door.client.post("/v1/remember", json={"text": "I hate red", "agent": "anna"})).json()
        name = kept["insight"]["memory_id"]
        pinned = await door.client.post("/v1/pin", json={"id": name[:12]})
        again = await door.client.post("/v1/pin", json={"id": name})
        right = (
            await door.client.post("/v1/correct", json={"id": name, "text": "I hate dark red only"})
        ).json()
        let_go = await door.client.post("/v1/unpin", json={"id": right["new"]["memory_id"]})
        nobody = await door.client.post("/v1/pin", json={"id": "ffff"})
    assert (pinned.json()["pinned"], again.status_code, nobody.status_code) == (True, 409, 422)
    assert (right["old"]["status"], right["new"]["content"]) == ("superseded", "I hate dark red only")
    assert right["new"]["pinned"]
    assert "pinned" not in let_go.json()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/recall", {"goal": "tea", "as_of": "0001-01-01T00:00:00+14:00"}),
        ("/v1/recall", {"goal": "tea", "as_of": "9999-12-31T23:59:59-14:00"}),
        ("/v1/nights", {"day": "0001-01-01"}),
        ("/v1/nights", {"day": "9999-12-31"}),
    ],
)
async def test_the_ends_of_the_calendar_are_out_of_reach(opened, path: str, body: object) -> None:
    async with opened() as door:
        refused = await door.client.post(path, json=body)
    assert refused.status_code == 422
    assert "years 1970 to 9000" in refused.json()["detail"]


async def test_what_is_told_is_an_insight_and_recalled(opened) -> None:
    async with opened() as door:
        kept = await door.client.post("/v1/remember", json={"text": "I hate red", "agent": "anna"})
        again = await door.client.post("/v1/remember", json={"text": "I hate red", "agent": "anna"})
    assert kept.json()["insight"]["status"] == "long_term"
    assert (kept.json()["new"], again.json()["new"]) == (True, False)


async def test_who_is_told_must_be_said_where_there_are_several_agents(opened) -> None:
    async with opened() as door:
        said = await door.client.post("/v1/remember", json={"text": "I hate red"})
    assert said.status_code == 409
    assert "say which" in said.json()["hint"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/recall", {"goal": "tea", "agents": ["nobody"]}),
        ("/v1/remember", {"text": "tea", "agent": "nobody"}),
        ("/v1/forget", {"matching": "tea at four", "agent": "nobody"}),
        ("/v1/nights", {"agents": ["nobody"]}),
        ("/v1/dreams", {"agents": ["nobody"]}),
        ("/v1/traces", {"agent": "nobody", "session": "s", "lines": [{"kind": "end"}]}),
    ],
)
async def test_an_agent_that_is_not_configured_is_not_found(opened, path: str, body: object) -> None:
    async with opened() as door:
        answer = await door.client.post(path, json=body)
    assert answer.status_code == 404
    assert answer.json()["detail"] == "no such agent"


async def test_the_agents_and_the_status_are_those_of_the_command(opened) -> None:
    async with opened() as door:
        agents = (await door.client.get("/v1/agents")).json()["agents"]
        status = (await door.client.get("/v1/status")).json()
    assert [one["agent"] for one in agents] == ["anna", "tracy"]
    assert status["llm"] == "none"
    assert status["agents"] == agents


async def ended(door, job: dict[str, object]) -> dict[str, object]:
    while job["state"] == "running":
        await anyio.lowlevel.checkpoint()
        job = (await door.client.get(f"/v1/jobs/{job['id']}")).json()
    return job


async def test_a_night_is_a_job_that_writes_the_daily(opened) -> None:
    async with opened(requests_per_minute=0) as door:
        door.house.says("anna", door.house.clock.now(), "Which tea?", "Green tea.")
        asked = await door.client.post("/v1/nights", json={"agents": ["anna"]})
        job = await ended(door, asked.json())
    assert asked.status_code == 202
    assert asked.headers["location"] == f"/v1/jobs/{job['id']}"
    assert job["state"] == "done"
    assert job["night"]["day"] == "2026-03-02"
    assert [one["row"]["state"] for one in job["night"]["outcomes"] if one["row"]["phase"] == "daily"] == [
        "done"
    ]


async def test_dreams_are_a_job_too(opened) -> None:
    async with opened(requests_per_minute=0) as door:
        job = await ended(door, (await door.client.post("/v1/dreams", json={})).json())
    assert job["state"] == "done"
    assert [one["row"]["agent"] for one in job["dreams"]] == ["anna", "tracy"]


async def test_dreams_that_are_begun_again_go_on_with_the_agent_they_were_at(house) -> None:  # noqa: F811
    home, begun = house("anna", "bert"), []
    desk = SimpleNamespace(
        parts=home.parts, jobs=SimpleNamespace(start=lambda _kind, work: begun.append(work))
    )
    for agent in ("anna", "bert"):
        home.says(agent, home.clock.now(), "Remember that I like green tea.", "Noted.")
    await dreams(desk, DreamsAsked(force=True))
    (work,) = begun
    async with exclusive(home.parts.state / dream_lock("bert"), home.clock, what="somebody dreams"):
        with pytest.raises(StateLocked):
            await work(home.parts)
    assert [one.row.agent for one in await work(home.parts)] == ["anna", "bert"]
    assert [one["agent"] for one in home.told.named("dream.finished")] == ["anna", "bert"]


async def test_a_job_that_is_not_known_is_not_found(opened) -> None:
    async with opened() as door:
        assert (await door.client.get("/v1/jobs/abc")).status_code == 404


async def test_the_probes_tell_a_process_that_answers_from_one_that_is_ready(opened) -> None:
    async with opened(ready=lambda: False) as door:
        assert (await door.client.get("/healthz")).status_code == 200
        assert (await door.client.get("/readyz")).json()["detail"] == "dreamd is not ready"


async def test_a_daemon_whose_store_answers_is_ready(opened) -> None:
    async with opened() as door:
        assert (await door.client.get("/readyz")).json() == {"status": "ok"}


async def test_the_conclusions_and_records_for_a_goal_come_with_text_for_a_prompt(opened) -> None:
    async with opened() as door:
        await door.client.post("/v1/remember", json={"text": "I hate red", "agent": "anna"})
        answer = await door.client.post(
            "/v1/recall", json={"goal": "help me pick a T-shirt", "agents": ["anna"]}
        )
        before = await door.client.post(
            "/v1/recall", json={"goal": "a shirt", "as_of": "2020-01-01T00:00:00Z"}
        )
    assert [one["statement"] for one in answer.json()["insights"]] == ["I hate red"]
    assert "I hate red" in answer.json()["text"]
    assert before.json()["insights"] == []


async def test_forgetting_shows_what_would_go_and_needs_its_digest(opened) -> None:
    async with opened() as door:
        door.pools(memory("abcd" + "0" * 28, "The safe is behind the map"))
        shown = (await door.client.post("/v1/forget", json={"ids": ["abcd"]})).json()
        wrong = await door.client.post("/v1/forget", json={"ids": ["abcd"], "confirm": "0" * 64})
        still = await door.client.get("/v1/memories/abcd")
        done = await door.client.post(
            "/v1/forget", json={"ids": ["abcd"], "confirm": shown["plan"]["digest"]}
        )
        gone = await door.client.get("/v1/memories/abcd")
    assert shown["forgotten"] is None
    assert (wrong.status_code, still.status_code) == (409, 200)
    assert done.json()["forgotten"]["memories"] == 1
    assert gone.status_code == 404


def test_every_path_says_what_it_is_about_and_has_a_name_of_its_own() -> None:
    assert all(route.about for route in ROUTES)
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    assert json.dumps([route.path for route in ROUTES])
