"""Traces that come over HTTP are in the agent's log before the answer goes out, and are read like any other."""

import json

import pytest
from anyio import to_thread

from dreamd.stores.base import MemoryQuery
from dreamd.tail.sync import sync

LINES = [
    {"kind": "goal", "id": "g", "text": "Book a table", "by": "human", "at": "2026-03-02T09:00:00Z"},
    {"kind": "action", "id": "a", "tool": "search", "arguments": {"q": "面条", "deep": [1, None]}},
    {"kind": "result", "of": "a", "result": "3 places"},
    {"kind": "end", "ok": True, "text": "Booked for 19:00"},
]


async def test_what_was_sent_is_in_the_pool_after_the_next_look_at_the_logs(opened) -> None:
    async with opened() as door:
        body = {"agent": "tracy", "session": "s-1", "lines": LINES}
        answers = [
            await door.client.post("/v1/traces", json=body) for _ in range(2)
        ]  # sent twice, counts once
        await to_thread.run_sync(sync, door.house.parts, ["tracy"])
        found = list(door.house.parts.store.memories(MemoryQuery(agent="tracy")))
    assert [answer.json() for answer in answers] == [{"lines": 4}] * 2
    assert [(one.role, one.content or one.tool) for one in found][:2] == [
        ("user", "Book a table"),
        ("tool", "search"),
    ]
    assert found[1].ok is True
    assert found[1].trace.arguments == '{"q":"面条","deep":[1,null]}'


async def test_a_line_without_a_time_is_of_now(opened, tmp_path) -> None:
    async with opened() as door:
        await door.client.post(
            "/v1/traces", json={"agent": "tracy", "session": "s-1", "lines": [{"kind": "checkpoint"}]}
        )
    (log,) = (tmp_path / "traces").iterdir()
    assert json.loads(log.read_text()) == {
        "dreamd": 1, "kind": "checkpoint", "session": "s-1", "at": "2026-03-02T12:00:00Z",
    }  # fmt: skip


async def test_a_session_is_no_way_out_of_the_folder(opened, tmp_path) -> None:
    async with opened() as door:
        for session in ("../../evil", "/etc/passwd", "..", "a\0b"):
            body = {"agent": "tracy", "session": session, "lines": [{"kind": "end"}]}
            assert (await door.client.post("/v1/traces", json=body)).status_code == 200
    assert {path.parent for path in tmp_path.rglob("*.jsonl")} == {tmp_path / "traces"}


async def test_an_agent_that_has_a_log_of_its_own_gets_no_traces(opened) -> None:
    async with opened() as door:
        refused = await door.client.post("/v1/traces", json={"agent": "anna", "session": "s", "lines": LINES})
    assert refused.status_code == 409
    assert "agents.anna.format" in refused.json()["hint"]


@pytest.mark.parametrize(
    "lines", [[], [{"kind": "song"}], [{"kind": "end", "tune": 1}], [{"kind": "end", "text": 1}]]
)
async def test_lines_that_are_none_are_refused(opened, lines: list[object]) -> None:
    async with opened() as door:
        refused = await door.client.post(
            "/v1/traces", json={"agent": "tracy", "session": "s", "lines": lines}
        )
    assert refused.status_code == 422


async def test_where_nothing_can_be_written_the_sender_is_told(opened, tmp_path) -> None:
    (tmp_path / "traces").write_text("in the way")
    async with opened() as door:
        told = await door.client.post("/v1/traces", json={"agent": "tracy", "session": "s", "lines": LINES})
    assert told.status_code == 507
