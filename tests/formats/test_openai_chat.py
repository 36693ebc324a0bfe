"""Chat messages, with and without ids: a few lines in, the items that come of them."""

import json
from collections.abc import Iterable
from pathlib import Path, PurePath

import pytest

from dreamd.formats.base import MAYBE, NO
from dreamd.formats.openai_chat import FORMAT
from dreamd.records import Amendment, Item, Record, Skip, Span
from tests.formats.folding import Beside, Folded, expected, fold, items_of, source_of


def items(*lines: object, name: str = "talk.jsonl") -> list[Item]:
    reader = FORMAT.open(source_of(Path(name)), Beside(Path(name), Path(name)), b"")
    return [item for line in lines for item in reader.feed(json.dumps(line).encode(), Span(source_id=name))]


def read(*lines: object) -> list[Folded]:
    return fold([items(*lines)], "openai_chat")


def said(folded: Iterable[Folded]) -> list[tuple[str, str]]:
    return [(item["session_id"], item.get("text") or item["tool"]) for item in folded]


def user(text: object, **fields: object) -> dict[str, object]:
    return {"role": "user", "content": text, **fields}


def assistant(text: object, **fields: object) -> dict[str, object]:
    return {"role": "assistant", "content": text, **fields}


def calls(name: str, arguments: object, call_id: str = "c1") -> dict[str, object]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return assistant(None, tool_calls=[call])


@pytest.mark.parametrize(
    ("fields", "session_id"),
    [
        ({}, "talk"),
        ({"conversation_id": "c", "session_id": "s", "thread_id": "t", "trace_id": "r"}, "c"),
        ({"session_id": "s", "thread_id": "t", "trace_id": "r"}, "s"),
        ({"thread_id": "t", "trace_id": "r"}, "t"),
        ({"trace_id": 7}, "7"),
        ({"conversation_id": None, "session_id": ""}, "talk"),
        ({"metadata": {"session_id": "m"}}, "m"),
    ],
)
def test_a_conversation_is_named_by_its_ids_then_by_its_file(fields, session_id):
    assert said(read(user("hi", **fields))) == [(session_id, "hi")]


def test_nameless_requests_are_conversations_of_their_lines():
    found = read({"messages": [user("a")]}, {"messages": [user("b")]})
    assert said(found) == [("talk#1", "a"), ("talk#2", "b")]


def test_a_request_that_repeats_another_goes_on_with_it():
    found = read(
        {"messages": [user("a")]},
        {"messages": [user("b")]},
        {"messages": [user("a"), assistant("A"), user("c")]},
        {"messages": [user("a"), assistant("A"), user("c"), assistant("C")]},
    )
    assert said(found) == [
        ("talk#1", "a"),
        ("talk#1", "A"),
        ("talk#1", "c"),
        ("talk#1", "C"),
        ("talk#2", "b"),
    ]


def test_the_same_words_twice_in_one_request_were_said_twice():
    assert [text for _, text in said(read({"messages": [user("ok"), assistant("so"), user("ok")]}))] == [
        "ok",
        "so",
        "ok",
    ]


def test_the_same_message_on_a_line_of_its_own_is_a_copy():
    assert said(read(user("ok"), assistant("so"), user("ok"))) == [("talk", "ok"), ("talk", "so")]


def test_roles_have_their_origins():
    found = read(
        {"role": "system", "content": "s"}, {"role": "developer", "content": "d"}, user("u"), assistant("a")
    )
    assert [(item["role"], item["origin"]) for item in found] == [
        ("system", "injected"),
        ("system", "injected"),
        ("user", "human"),
        ("assistant", "human"),
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": " a "}, {"type": "input_image"}, {"type": "input_text", "text": "b"}], "a\n[image]\nb"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ([{"type": "reasoning", "text": "hm"}], None),
        (" ", None),
        (None, None),
        (7, None),
    ],
)  # fmt: skip
def test_parts_become_lines_and_blanks_vanish(content, text):
    found = items(user(content))
    assert [item.text for item in found if isinstance(item, Record)] == ([text] if text else [])
    assert text or found == [Skip("blank")]


@pytest.mark.parametrize(
    ("result", "ok"),
    [
        ({"content": "7"}, True),
        ({"content": "bad", "error": None}, True),
        ({"content": "bad", "error": {"message": "x"}}, False),
        ({"content": "bad", "is_error": True}, False),
        ({"content": "bad", "status": "error"}, False),
    ],
)
def test_a_call_with_a_result_went_well_unless_it_has_an_error(result, ok):
    lines = (calls("look", '{"q": 1}'), {"role": "tool", "tool_call_id": "c1", **result})
    trace = items(*lines)[-1].trace

    assert [(item["tool"], item["ok"]) for item in read(*lines)] == [("look", ok)]
    assert (trace.arguments, trace.result or trace.error) == ('{"q": 1}', result["content"])


def test_arguments_that_are_no_string_are_kept_as_they_stand():
    assert items(calls("look", {"q": 1}))[0].trace.arguments == '{"q": 1}'


def test_old_functions_find_their_results_by_name():
    lines = (
        assistant(None, function_call={"name": "f", "arguments": "{}"}),
        {"role": "function", "name": "f", "content": "x"},
    )
    assert [(item["tool"], item["ok"]) for item in read(*lines)] == [("f", True)]


def test_an_id_used_again_for_another_call_is_another_call():
    result = {"role": "tool", "tool_call_id": "c1", "content": "x"}
    found = items(calls("a", "1"), result, calls("a", "2"), result)

    assert len({item.identity for item in found if isinstance(item, Record)}) == 2
    assert [item.trace.arguments for item in found if isinstance(item, Amendment)] == ["1", "2"]


def test_results_of_nothing_and_unknown_roles_are_counted():
    assert items({"role": "function", "name": "f", "content": "x"}, {"role": "critic", "content": "x"}) == [
        Skip("orphan"),
        Skip("role"),
    ]


def test_times_are_read_where_a_log_has_them():
    assert [
        item["timestamp"] for item in read(user("a", timestamp="2026-03-02T09:00:00+08:00"), user("b"))
    ] == [
        "2026-03-02T01:00:00.000Z",
        None,
    ]


@pytest.mark.parametrize(
    ("name", "head", "claim"),
    [
        ("x.jsonl", b'{"role":"user","content":"hi"}', MAYBE),
        ("x.ndjson", b'\n{"messages":[{"role":"user","content":"hi"}]}\n', MAYBE),
        ("x.jsonl", b'{"messages": [{"role": "system", "content": "a very long', MAYBE),
        ("x.jsonl", b'{"role":"us\0\n{"role":"critic","content":"x"}\n{"role":"user","content":"hi"}', MAYBE),
        ("x.jsonl.zst", b'{"role":"user","content":"hi"}', MAYBE),
        ("x.jsonl", b'{"role":"user"}', NO),
        ("x.jsonl", b'{"role":"critic","content":"x"}', NO),
        ("x.jsonl", b'{"messages":[]}', NO),
        ("x.jsonl", b'{"type":"session","content":"x"}', NO),
        ("x.json", b'{"role":"user","content":"hi"}', NO),
        ("x.jsonl", b"", NO),
    ],
)
def test_it_claims_only_what_looks_like_chat_and_never_firmly(name, head, claim):
    assert FORMAT.claims(PurePath(name), head) == claim


@pytest.mark.shared
def test_the_shared_sample_reads_as_expected(shared):
    folder = shared / "samples/generic"
    found = fold([items_of(FORMAT, folder / "01_openai_messages.jsonl")], "openai_chat")
    assert found == expected(folder / "01_openai_messages.expected.json")
