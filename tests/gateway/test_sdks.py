"""The real SDKs through the gateway, as agents use them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anthropic
import openai
import pytest

from dreamd.gate.lanes import key_name
from tests.gateway.house import Answer, House, Message, Wire, house, ok

KEY = "sk-of-the-agent"


def sse(*events: dict | str, named: bool = False) -> bytes:
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        text = f"{name}data: {data}\n\n".encode()
        whole += b"%x\r\n%b\r\n" % (len(text), text)
    return whole + b"0\r\n\r\n"


def as_json(value: dict, status: bytes = b"200 OK") -> bytes:
    return ok(
        json.dumps(value).encode(), b"Content-Type: application/json", b"request-id: req_1", status=status
    )


CHAT = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
CHAT_CHUNK = CHAT | {"object": "chat.completion.chunk"}
MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip
RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "parallel_tool_calls": True,
    "tool_choice": "auto", "tools": [],
    "output": [{"id": "m1", "type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "hello", "annotations": []}]}],
}  # fmt: skip


def chat(delta: dict, finish: str | None = None) -> dict:
    return CHAT_CHUNK | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def answer_for(request: Message) -> bytes:
    path = request.first.split(" ")[1].partition("?")[0]
    streamed = request.headers.get("content-type") == "application/json" and request.json.get("stream")
    if path == "/v1/messages" and streamed:
        return sse(
            {"type": "message_start", "message": MESSAGE | {"content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "你好"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
            named=True,
        )
    if path == "/v1/responses" and streamed:
        delta = {"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "content_index": 0}
        return sse(
            delta | {"delta": "hello", "sequence_number": 1, "logprobs": []},
            {"type": "response.completed", "response": RESPONSE, "sequence_number": 2},
            named=True,
        )
    if path == "/v1/chat/completions" and streamed:
        return sse(chat({"content": "你"}), chat({"content": "好"}), chat({}, "stop"), "[DONE]")
    message = {"role": "assistant", "content": "hello"}
    return {
        "/v1/messages": as_json(MESSAGE),
        "/v1/responses": as_json(RESPONSE),
        "/v1/chat/completions": as_json(
            CHAT | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        ),
        "/v1/embeddings": as_json(
            {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
             "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        ),
        "/v1/models": as_json({"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x"}]}),
        "/v1/files": as_json(
            {"id": "f", "object": "file", "bytes": 9, "created_at": 1, "filename": "a", "purpose": "batch", "status": "processed"}
        ),
    }[path]  # fmt: skip


def server(seen: list[Message]) -> Answer:
    async def answer(wire: Wire) -> None:
        while True:
            request = await wire.message()
            seen.append(request)
            await wire.send(answer_for(request))

    return answer


@dataclass
class Agents:
    """Both SDKs, pointed at the gateway."""

    h: House
    seen: list[Message]
    gpt: openai.AsyncOpenAI
    claude: anthropic.AsyncAnthropic


@asynccontextmanager
async def agents(upstream: str = "up") -> AsyncIterator[Agents]:
    seen: list[Message] = []
    async with house(server(seen)) as h:
        url = f"http://127.0.0.1:{h.gateway.port}/{upstream}"
        async with (
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as gpt,
            anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as claude,
        ):
            yield Agents(h, seen, gpt, claude)


TURN = [{"role": "user", "content": "hi"}]


async def test_openai_chat() -> None:
    async with agents() as a:
        whole = await a.gpt.chat.completions.create(model="m", messages=TURN)
        assert whole.choices[0].message.content == "hello"
        stream = await a.gpt.chat.completions.create(model="m", messages=TURN, stream=True)
        assert "".join([part.choices[0].delta.content or "" async for part in stream]) == "你好"
        assert {request.headers["authorization"] for request in a.seen} == {f"Bearer {KEY}"}


async def test_openai_responses() -> None:
    async with agents() as a:
        assert (await a.gpt.responses.create(model="m", input="hi")).output_text == "hello"
        stream = await a.gpt.responses.create(model="m", input="hi", stream=True)
        assert [event.type async for event in stream] == ["response.output_text.delta", "response.completed"]


async def test_openai_embeddings_models_and_files() -> None:
    async with agents() as a:
        assert (await a.gpt.embeddings.create(model="m", input="hi", encoding_format="float")).data[
            0
        ].embedding == [0.5]
        assert [model.id async for model in await a.gpt.models.list()] == ["m"]
        assert (await a.gpt.files.create(file=("a.jsonl", b'{"a": 1}\n'), purpose="batch")).id == "f"
        assert b'{"a": 1}\n' in a.seen[-1].body


async def test_anthropic_messages() -> None:
    async with agents() as a:
        whole = await a.claude.messages.create(model="m", max_tokens=9, messages=TURN)
        assert whole.content[0].text == "hello"
        assert whole._request_id == "req_1"
        async with a.claude.messages.stream(model="m", max_tokens=9, messages=TURN) as stream:
            assert "".join([text async for text in stream.text_stream]) == "你好"
        assert {call.key for call in a.h.lanes.calls} == {key_name(KEY)}
        assert all(KEY in str(request.headers) for request in a.seen)
        assert [call.told for call in a.h.lanes.calls] == [["answered", "first byte", "done"]] * 2


async def test_both_read_the_gateways_own_errors() -> None:
    async with agents("down") as a:
        with pytest.raises(openai.InternalServerError, match="cannot be reached") as theirs:
            await a.gpt.chat.completions.create(model="m", messages=TURN)
        with pytest.raises(anthropic.InternalServerError, match="cannot be reached") as ours:
            await a.claude.messages.create(model="m", max_tokens=9, messages=TURN)
    assert theirs.value.request_id.startswith("dreamd-")
    assert ours.value.request_id.startswith("dreamd-")


async def test_a_stream_that_is_left_early_ends_the_call() -> None:
    async with agents() as a:
        stream = await a.gpt.chat.completions.create(model="m", messages=TURN, stream=True)
        async for _ in stream:
            break
        await stream.close()
        await a.h.settled()
        assert a.h.gateway.counters.under_way == 0
