"""Typed lines: texts, arguments and results as they go into records."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreamd.formats._claude_lines import (
    LINES,
    TRACE_BYTES,
    Block,
    Line,
    arguments_of,
    result_of,
    text_of,
    texts,
    went_well,
)
from dreamd.formats._values import joined


def _block(**fields: object) -> Block:
    line = json.dumps({"type": "user", "message": {"content": [fields]}}, ensure_ascii=False)
    return LINES.read(line.encode())[0][0].blocks[0]


def test_a_copy_is_named_by_its_original():
    line = LINES.read(b'{"uuid":"new","forkedFrom":{"sessionId":"s","messageUuid":"old"}}')[0][0]
    assert line.own_id == "old"
    assert Line(uuid="u").own_id == "u"
    assert Line().own_id == ""


def test_texts_come_in_order_with_images_as_marks():
    blocks = [Block("text", " a "), Block("thinking", "no"), Block("image"), Block("text")]
    assert joined(texts(blocks)) == "a\n[image]"
    assert texts("plain") == ["plain"]
    assert texts(None) == []


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("done", "done"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "a\n[image]\nb"),
        ([], ""),
        (None, ""),
        ({"odd": 1}, ""),
    ],
)
def test_a_result_is_its_text(content, result):
    assert result_of(_block(type="tool_result", content=content)) == result


@settings(deadline=None)
@given(st.text(alphabet='a"\\\n中\U0001f375', min_size=1, max_size=30), st.integers(9000, 9020))
def test_a_long_result_is_cut_to_a_head_that_fits(piece, length):
    text = (piece * length)[:length]
    for ascii_only in (True, False):
        line = json.dumps(
            {"message": {"content": [{"type": "tool_result", "content": text}]}}, ensure_ascii=ascii_only
        )
        result = result_of(LINES.read(line.encode())[0][0].blocks[0])

        assert text.startswith(result)
        assert TRACE_BYTES // 6 - 4 <= len(result.encode()) <= TRACE_BYTES


def test_arguments_stand_as_in_the_log_and_are_cut():
    assert arguments_of(_block(type="tool_use", input={"a": "中"})) == '{"a": "中"}'
    assert len(arguments_of(_block(type="tool_use", input="中" * 2000)).encode()) <= TRACE_BYTES
    assert arguments_of(Block("tool_use")) == ""


def test_only_a_string_has_a_text():
    line = LINES.read(b'{"content":["x"]}')[0][0]
    assert text_of(line.content) == ""
    assert text_of(LINES.read(b'{"content":"x"}')[0][0].content) == "x"


def test_a_flag_a_refusal_or_a_cancellation_is_no_success():
    assert went_well(Block(), Line(), "x")
    assert not went_well(Block(is_error=True), Line(), "x")
    assert not went_well(Block(), Line(), "The user doesn't want to take this action right now. STOP")
    assert not went_well(Block(), LINES.read(b'{"toolUseResult":{"interrupted":true}}')[0][0], "x")
    assert not went_well(Block(), LINES.read(b'{"toolUseResult":"User rejected tool use"}')[0][0], "x")
