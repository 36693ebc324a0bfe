"""Streams put together: what they mean is what the whole answer would have meant."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.calls import Prompt
from dreamd.errors import ProviderBusy, ProviderError, ReplyUnusable
from dreamd.providers import anthropic, openai
from dreamd.providers._streams import joined, speaks
from dreamd.providers.base import listener
from dreamd.sections import Llm
from tests.llm_server import Answer, llm_server
from tests.upstream import Character, upstream

PROMPT = Prompt(purpose="distil", system="s", user="u", max_tokens=4)


def events(*each: object, end: str = "\n") -> bytes:
    lines = [f"data: {one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}" for one in each]
    return (end * 2).join([*lines, ""]).encode()


def chunk(text: str | None = None, stop: str | None = None, **more: object) -> dict:
    return {"model": "m", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": stop}]} | more


LAST = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}


@given(st.lists(st.text()))
def test_pieces_of_a_completion_come_together(pieces: list[str]) -> None:
    body = events(*(chunk(piece) for piece in pieces), chunk(stop="stop"), LAST, "[DONE]")
    whole = json.loads(joined(body))
    assert whole["choices"] == [
        {"message": {"content": "".join(pieces), "refusal": ""}, "finish_reason": "stop"}
    ]
    assert (whole["model"], whole["usage"]) == ("m", LAST["usage"])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_like_and_comments_are_passed_over(end: str) -> None:
    body = f": waiting{end}{end}".encode() + events(chunk("你"), chunk("好", stop="length"), end=end)
    reply = openai.read_reply(joined(body), "here")
    assert (reply.text, reply.stop) == ("你好", "length")


def test_only_the_first_of_several_choices_counts() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "length"}]}
    assert openai.read_reply(joined(events(chunk("one", "stop"), other)), "here").text == "one"


def test_a_stream_that_ends_without_a_reason_is_no_reply() -> None:
    with pytest.raises(ReplyUnusable):
        openai.read_reply(joined(events(chunk("half"))), "here")


def test_nothing_is_made_of_what_holds_no_events() -> None:
    assert joined(b"<html>") == b"<html>"
    assert joined(b"data: [DONE]\n\n") == b"data: [DONE]\n\n"


@given(
    st.lists(st.one_of(st.none(), st.integers(), st.text(), st.dictionaries(st.text(), st.integers()))),
    st.binary(),
)
def test_no_nonsense_makes_it_stumble(nonsense: list[object], raw: bytes) -> None:
    odd = {
        "choices": nonsense,
        "delta": nonsense,
        "message": nonsense,
        "type": "content_block_delta",
        "index": 1,
    }
    assert isinstance(joined(events(odd, {"type": "message_start"}, *nonsense) + raw), bytes)
    assert isinstance(joined(events(odd) + raw), bytes)


START = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}}


def block(index: int, kind: str, *deltas: dict, **more: object) -> list[dict]:
    start = {"type": "content_block_start", "index": index, "content_block": {"type": kind} | more}
    return [start, *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)]


def end(reason: str) -> dict:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}


def test_blocks_of_a_message_come_together() -> None:
    thought = block(0, "thinking", {"thinking": "hm"})
    text = block(1, "text", {"text": "Hello "}, {"text": "there"}, text="")
    reply = anthropic.read_reply(joined(events(START, *thought, *text, end("end_turn"))), "here")
    assert (reply.text, reply.stop) == ("Hello there", "end")
    assert (reply.input_tokens, reply.output_tokens) == (9, 5)


def test_what_a_tool_is_called_with_comes_together() -> None:
    tool = block(0, "tool_use", {"partial_json": '{"na'}, {"partial_json": 'me": "Ada"}'}, name="t", input={})
    reply = anthropic.read_reply(joined(events(START, *tool, end("tool_use"))), "here")
    assert json.loads(reply.text) == {"name": "Ada"}


def test_a_tools_input_that_was_cut_off_is_cut_off() -> None:
    tool = block(0, "tool_use", {"partial_json": '{"na'}, name="t", input={})
    assert anthropic.read_reply(joined(events(START, *tool, end("max_tokens"))), "here").stop == "length"


@contextmanager
def following() -> Iterator[list[str]]:
    """What is told of the calls in the block."""
    told: list[str] = []

    class Following:
        def connected(self, _hang_up) -> None:
            told.append("connected")

        def answered(self, _headers) -> None:
            told.append("answered")

        def first_byte(self) -> None:
            told.append("first byte")

    token = listener.set(Following())
    yield told
    listener.reset(token)


@pytest.mark.parametrize(("opened", "path"), [(openai.OPEN, "openai"), (anthropic.OPEN, "anthropic")])
async def test_replies_are_streamed_and_the_first_word_is_told(opened, path: str) -> None:
    async with upstream(Character()) as server:
        with following() as told:
            reply = await opened(Llm(provider=path, base_url=server.base_url, model="m")).complete(PROMPT)
    assert (reply.text.split()[:2], reply.stop, reply.output_tokens) == (["word0", "word1"], "end", 4)
    assert told == ["connected", "answered", "first byte"]


@pytest.mark.parametrize("opened", [openai.OPEN, anthropic.OPEN])
async def test_the_first_byte_of_a_refusal_is_no_first_word(opened) -> None:
    async with upstream(Character(slots=0, full="reject")) as server:
        with following() as told, pytest.raises(ProviderBusy):
            await opened(Llm(base_url=server.base_url, model="m")).complete(PROMPT)
    assert told == ["connected", "answered"]


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize("opened", [openai.OPEN, anthropic.OPEN])
@pytest.mark.parametrize("before", [[], [chunk("half of it")], [START]])
async def test_an_error_in_mid_stream_is_no_reply(opened, before: list[dict]) -> None:
    body = events(*before, OVERLOADED)
    async with llm_server([Answer(body=body, headers={"content-type": "text/event-stream"})]) as server:
        with pytest.raises(ProviderBusy):
            await opened(Llm(base_url=server.base_url, model="m")).complete(PROMPT)


@pytest.mark.parametrize("cut", range(0, 200, 7))
async def test_a_stream_cut_anywhere_is_an_error_and_never_half_a_reply(cut: int) -> None:
    body = events(chunk("你好 there"), chunk("and more", stop="stop"), "[DONE]")
    streaming = Answer(
        body=body, headers={"content-type": "text/event-stream"}, cut_at=min(cut, len(body) - 40)
    )
    async with llm_server([streaming]) as server:
        with pytest.raises(ProviderError):
            await openai.OPEN(Llm(base_url=server.base_url, model="m")).complete(PROMPT)


NO_STREAMS = Answer(status=400, error=("invalid_request_error", "stream is not supported"))


@pytest.mark.parametrize("opened", [openai.OPEN, anthropic.OPEN])
async def test_a_server_that_does_not_stream_is_asked_again_for_the_whole_and_from_then_on(opened) -> None:
    async with llm_server([NO_STREAMS, "one", "two"]) as server:
        provider = opened(Llm(base_url=server.base_url, model="m"))
        assert [(await provider.complete(PROMPT)).text for _ in range(2)] == ["one", "two"]
    assert ["stream" in sent.json for sent in server.requests] == [True, False, False]


def test_comments_and_pings_say_nothing_yet() -> None:
    assert not speaks(b': PROCESSING\n\nevent: ping\ndata: {"type": "ping"}\n\n')
    assert speaks(events(chunk("a")))
