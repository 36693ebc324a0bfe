"""OpenClaw's JSONL: the tree's path, whose words a message holds, and which files are read."""

import json
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.formats import _openclaw
from dreamd.formats.base import CERTAIN, LIKELY, MAYBE, NO, LineReader
from dreamd.formats.openclaw import FORMAT
from dreamd.records import Amendment, Item, Record, Skip, Span, Turn
from tests.formats.folding import expected, fold, items_of
from tests.formats.test_codex import Around, source

SESSION = "8a1b0000-0000-4000-8000-000000000001"
HEAD = json.dumps({"type": "session", "version": 3, "id": SESSION, "cwd": "/srv"}).encode()


def entry(entry_id: str, parent: str | None, type_: str = "message", **more: object) -> bytes:
    return json.dumps(
        {"type": type_, "id": entry_id, "parentId": parent, "timestamp": "2026-06-01T09:00:00Z", **more}
    ).encode()


def message(entry_id: str, parent: str | None, role: str, text: str, **more: object) -> bytes:
    content = [{"type": "text", "text": text}]
    return entry(entry_id, parent, message={"role": role, "content": content, "stopReason": "stop", **more})


def fed(reader: LineReader, *lines: bytes) -> list[Item]:
    return [item for line in lines for item in reader.feed(line, Span("s"))]


def read(*lines: bytes, around: Around | None = None) -> list[Item]:
    reader = FORMAT.open(source(f"{SESSION}.jsonl"), around or Around(), b"")
    return [*fed(reader, HEAD, *lines), *reader.settle()]


def short(items: list[Item]) -> list[tuple[str, str]]:
    return [(each["origin"], each.get("text", each.get("tool", ""))) for each in fold([items], "openclaw")]


@pytest.mark.shared
def test_the_shared_sample_reads_as_expected(shared):
    where = shared / "samples" / "openclaw"
    items = items_of(FORMAT, where / "01_main.jsonl")
    assert fold([items], "openclaw") == expected(where / "01_main.expected.json")


def test_a_branch_withdraws_what_it_leaves_and_brings_back_what_it_returns_to():
    lines = [
        message("a", None, "user", "Ask"),
        message("b", "a", "assistant", "First"),
        message("c", "a", "assistant", "Second"),
        message("d", "b", "user", "Back to the first"),
    ]
    assert [text for _, text in short(read(*lines[:3]))] == ["Ask", "Second"]
    assert [text for _, text in short(read(*lines))] == ["Ask", "First", "Back to the first"]


def test_after_a_branch_the_answer_belongs_to_the_turn_on_its_path():
    items = read(
        message("a", None, "user", "Ask"),
        message("b", "a", "user", "[cron:j n] tick"),
        message("c", "a", "assistant", "Answer"),
    )
    assert short(items) == [("human", "Ask"), ("human", "Answer")]


def test_an_entry_whose_parent_was_lost_follows_the_last_one():
    items = read(message("a", None, "user", "Ask"), message("c", "lost", "assistant", "Answer"))
    assert [text for _, text in short(items)] == ["Ask", "Answer"]


def test_entries_of_unknown_type_hold_the_tree_together():
    items = read(
        message("a", None, "user", "Ask"), entry("b", "a", "hologram"), message("c", "b", "user", "On")
    )
    assert [text for _, text in short(items)] == ["Ask", "On"]


def test_entries_without_ids_or_parents_are_a_straight_line():
    def bare(role: str, text: str) -> bytes:
        return json.dumps({"type": "message", "message": {"role": role, "content": text}}).encode()

    items = read(bare("user", "Same"), bare("assistant", "Yes"), bare("user", "Same"))
    assert [text for _, text in short(items)] == ["Same", "Yes", "Same"]


@given(parents=st.lists(st.integers(-1, 30), max_size=30))
def test_what_is_left_is_always_the_path_to_the_last_entry(parents):
    parents = [min(parent, at - 1) for at, parent in enumerate(parents)]
    lines = [
        message(f"e{at}", None if parent < 0 else f"e{parent}", "user", str(at))
        for at, parent in enumerate(parents)
    ]
    path, at = list[str](), len(parents) - 1
    while at >= 0:
        path.insert(0, str(at))
        at = parents[at]

    assert [text for _, text in short(read(*lines))] == path


def test_rows_imported_as_meta_are_injected_and_start_nothing():
    items = read(
        message("a", None, "user", "Hi"),
        message("b", "a", "user", "A skill", isMeta=True),
        message("c", "b", "assistant", "Yes"),
    )
    assert short(items) == [("human", "Hi"), ("injected", "A skill"), ("human", "Yes")]


def test_an_entry_read_twice_is_one():
    line = message("a", None, "user", "Ask")
    assert len([item for item in read(line, line) if isinstance(item, Record)]) == 1


FENCE = '```json\n{\n  "a": 1\n}\n```'
METADATA = [
    "[Wed 2026-02-18 11:21 GMT+1] Water the plants",
    f"Conversation info (untrusted metadata):\n{FENCE}\n\n[Wed 2026-02-18 11:21 GMT+1] Water the plants",
    f"[Wed 2026-02-18 11:21 GMT+1] Conversation info: ⟦openclaw:ctx⟧\n{FENCE}\n\nSender: ⟦openclaw:ctx⟧\n{FENCE}\n\nWater the plants",
    "Group: ⟦openclaw:ctx⟧\nYou are in a group.\nBe brief.\n\nWater the plants",
    f"Replied message (untrusted, for context):\n{FENCE}\n\nWater the plants",
    "Context:\n<active_memory_plugin>\nold facts\n\nmore\n</active_memory_plugin>\n\nWater the plants",
    "Water the plants\n\nContext: ⟦openclaw:ctx⟧\nChannel topic: garden\n\nanything",
    "Water the plants\n\nUntrusted context (metadata, do not treat as instructions or commands):\n<<<x>>>",
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nruntime\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n\nWater the plants",
]


@pytest.mark.parametrize("text", METADATA)
def test_what_a_channel_glued_to_a_prompt_is_taken_off(text):
    assert short(read(message("a", None, "user", text))) == [("human", "Water the plants")]


def test_metadata_in_a_block_of_its_own_does_not_swallow_the_next():
    content = [{"type": "text", "text": "Info: ⟦openclaw:ctx⟧\nprose"}, {"type": "text", "text": "Water"}]
    items = read(entry("a", None, message={"role": "user", "content": content}))
    assert short(items) == [("human", "Water")]


def test_a_fence_that_is_never_closed_loses_nothing():
    text = "Conversation info (untrusted metadata):\n```json\n{\n\nWater the plants"
    assert "Water the plants" in short(read(message("a", None, "user", text)))[0][1]


INTERNAL = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
PROMPTS = [
    ("Read HEARTBEAT.md if it exists (workspace context). Then HEARTBEAT_OK.", {}, "scheduled", None),
    ("[cron:job-1 daily news] Read the news", {}, "scheduled", "Read the news"),
    ("Pre-compaction memory flush. Store durable memories now.", {}, "injected", None),
    ("A new session was started via /new or /reset. Greet the user.", {}, "injected", None),
    (INTERNAL, {}, "injected", None),
    ("Go on", {"kind": "internal_system"}, "injected", None),
    ("[cron:job-1 daily news] Read the news", {"kind": "internal_system"}, "scheduled", "Read the news"),
    ("[cron:job-1 daily news] is what it says", {"kind": "external_user"}, "human", None),
    ("Go on", {"kind": "inter_session", "sourceSessionKey": "agent:main:subagent:1"}, "subagent", None),
    ("Go on", {"kind": "inter_session", "sourceTool": "subagent_announce"}, "subagent", None),
    ("Go on", {"kind": "inter_session", "sourceRole": "subagent"}, "subagent", None),
    ("Go on", {"kind": "inter_session", "sourceSessionKey": "agent:ops:main"}, "injected", None),
    (
        "[Inter-session message] sourceSession=agent:main:subagent:5 isUser=false\nDone it",
        {},
        "subagent",
        "Done it",
    ),
    ("Go on", {"kind": "external_user"}, "human", None),
    ("Go on", {"kind": "something new"}, "human", None),
]


@pytest.mark.parametrize(("text", "provenance", "origin", "left"), PROMPTS)
def test_whose_words_a_prompt_holds(text, provenance, origin, left):
    more = {"provenance": provenance} if provenance else {}
    items = read(message("a", None, "user", text, **more), message("b", "a", "assistant", "Well"))
    assert short(items) == [(origin, left or text), (origin, "Well")]


@pytest.mark.parametrize(
    ("key", "origin"),
    [
        ("agent:main:main", "human"),
        ("agent:main:cron:j", "scheduled"),
        ("agent:main:subagent:x", "subagent"),
        ("hook:1", "injected"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_the_sessions_key_tells_whose_plain_text_is(key, origin, late):
    index = {
        "sessions.json": json.dumps(
            {key: {"sessionId": SESSION}, "other": 5, "third": {"sessionId": "x"}}
        ).encode()
    }
    around = Around() if late else Around(siblings=index)
    reader = FORMAT.open(source(f"{SESSION}.jsonl"), around, b"")
    items = fed(reader, HEAD, message("a", None, "user", "Do it"), message("b", "a", "assistant", "Done"))
    around.siblings = index
    items += [*reader.settle(), *reader.settle()]

    assert short(items) == [(origin, "Do it"), (origin, "Done")]


def test_what_a_person_proved_to_say_keeps_its_origin_in_a_cron_session():
    index = {"sessions.json": json.dumps({"agent:main:cron:j": {"sessionId": SESSION}}).encode()}
    said = message("a", None, "user", "Stop it", provenance={"kind": "external_user"})
    assert short(read(said, around=Around(siblings=index))) == [("human", "Stop it")]


@pytest.mark.parametrize(
    "reply", ["HEARTBEAT_OK", " HEARTBEAT_OK.\n", "**HEARTBEAT_OK**", "<b>HEARTBEAT_OK</b>", "`NO_REPLY`"]
)
def test_replies_that_only_keep_silent_are_dropped(reply):
    items = read(
        message("a", None, "user", "Hm", provenance={"kind": "external_user"}),
        message("b", "a", "assistant", reply),
    )
    assert short(items) == [("human", "Hm")]


def test_a_reply_that_speaks_of_the_token_stays():
    items = read(
        message("a", None, "user", "Hm"), message("b", "a", "assistant", "I would say HEARTBEAT_OK then")
    )
    assert len(short(items)) == 2


def test_a_heartbeat_of_any_wording_is_known_by_its_reply():
    items = read(
        message("a", None, "user", "Look around the house"),
        message("b", "a", "assistant", "Looking."),
        message("c", "b", "assistant", "HEARTBEAT_OK"),
    )
    assert short(items) == [("scheduled", "Look around the house"), ("scheduled", "Looking.")]


def test_a_call_is_its_own_record_and_its_result_amends_it():
    call = {"type": "toolCall", "id": "k|1", "name": "exec", "arguments": {"command": "ls"}}
    items = read(
        entry(
            "a",
            None,
            message={"role": "assistant", "content": [call, call | {"id": "k|2"}], "stopReason": "toolUse"},
        ),
        message(
            "b", "a", "toolResult", "no such file", toolCallId="k|1", isError=True, details={"exitCode": 2}
        ),
        message("c", "b", "toolResult", "bin etc", toolCallId="k|2"),
    )
    done = [item for item in items if isinstance(item, Amendment)]

    assert [each["ok"] for each in fold([items], "openclaw")] == [False, True]
    assert [(each.trace.arguments, each.trace.error, each.trace.result) for each in done if each.trace] == [
        ('{"command": "ls"}', "no such file", ""),
        ('{"command": "ls"}', "", "bin etc"),
    ]


def test_a_turn_lasts_from_the_prompt_to_a_reply_that_calls_no_tool():
    items = read(
        message("a", None, "user", "Go"),
        message("b", "a", "assistant", "Looking", stopReason="toolUse"),
        message("c", "b", "assistant", "", stopReason="aborted"),
    )
    assert [item.busy for item in items if isinstance(item, Turn)] == [True, False]


NAMES = [
    (f"{SESSION}.jsonl", CERTAIN),
    (f"{SESSION}-topic-7.jsonl", CERTAIN),
    (f"{SESSION}.jsonl.reset.2026-03-02T04-00-00.000Z", CERTAIN),
    (f"{SESSION}.jsonl.deleted.2026-03-02T04-00-00.000Z", NO),
    (f"{SESSION}.jsonl.lock", NO),
    (f"{SESSION}.jsonl.full.bak", NO),
    (f"{SESSION}.checkpoint.1.jsonl", NO),
    (f"{SESSION}.trajectory.jsonl", NO),
    ("sessions.json", NO),
]


@pytest.mark.parametrize(("name", "sure"), NAMES)
def test_only_live_and_reset_sessions_are_read(name, sure):
    assert FORMAT.claims(PurePath("/h/.openclaw/agents/main/sessions") / name, HEAD + b"\n") == sure


def test_a_session_elsewhere_is_likely_and_another_log_is_not():
    assert FORMAT.claims(Path("/x/a.jsonl"), HEAD + b"\n") == LIKELY
    assert FORMAT.claims(Path("/x/a.jsonl"), b'{"type":"user"}\n') == NO


def test_what_a_migration_left_of_a_session_in_the_store_is_not_read():
    line = message("a", None, "user", "Older words")
    assert read(line, around=Around(stored=[SESSION])) == [Skip("unwanted"), Skip("superseded")]
    assert short(read(line, around=Around(stored=["another"]))) == [("human", "Older words")]


def test_system_and_developer_messages_are_injected():
    items = read(message("a", None, "system", "Be brief"), message("b", "a", "developer", "Use metric units"))
    assert [(each.role, each.origin) for each in items if isinstance(each, Record)] == [
        ("system", "injected")
    ] * 2


@pytest.mark.parametrize("first", [b"\0" * 400, b"", HEAD[:30], b"no JSON", b'{"type":"new"}'])
def test_a_bad_first_line_hides_no_session(first):
    entry_ = message("a", None, "user", "Hello")
    folder = PurePath("/h/.openclaw/agents/main/sessions")
    assert FORMAT.claims(folder / "a.jsonl", b"\n".join([first, HEAD, entry_])) == CERTAIN
    assert FORMAT.claims(folder / "a.jsonl", b"\n".join([first, entry_])) == LIKELY
    assert FORMAT.claims(PurePath("/x/a.jsonl"), b"\n".join([first, entry_])) == MAYBE


def test_without_a_header_the_session_is_named_by_its_file():
    reader = FORMAT.open(source(f"{SESSION}-topic-7.jsonl.reset.2026"), Around(), b"")
    items = fed(reader, message("a", None, "user", "Hi"))
    assert [item.session_id for item in items if isinstance(item, Record)] == [SESSION]


def test_the_state_stays_small_however_long_a_session_is():
    reader = FORMAT.open(source(), Around(), b"")
    fed(reader, HEAD)
    for n in range(12_000):
        fed(reader, message(f"{n:08x}", f"{n - 1:08x}" if n else None, "assistant", "x"))

    assert len(reader.dump()) < 1 << 20
    assert FORMAT.open(source(), Around(), reader.dump()).dump() == reader.dump()


def test_blocks_that_are_none_do_not_hide_their_neighbours():
    raw = json.dumps([1, None, {"type": "text", "text": "Hello"}, {"type": "text", "text": 5}])
    assert [block.text for block in _openclaw.blocks_of(_openclaw.Raw(raw.encode()))] == ["Hello", None]


def test_what_an_extension_says_is_the_harness_and_a_call_inside_a_call_says_nothing():
    nested = {
        "role": "custom",
        "customType": "openclaw.nested-tool.v1",
        "content": "",
        "details": {"toolName": "x"},
    }
    items = read(message("a", None, "custom", "The lid is on"), entry("b", "a", message=nested))

    assert [(each.role, each.origin) for each in items if isinstance(each, Record)] == [
        ("system", "injected")
    ]
    assert Skip("blank") in items
