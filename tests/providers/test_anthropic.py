import json

import pytest

from dreamd.calls import Prompt
from dreamd.errors import ProviderBusy, ProviderRefused, ReplyUnusable
from dreamd.providers.anthropic import OPEN, Dialect, first_dialect, read_reply, request
from dreamd.sections import Llm
from tests.llm_server import Answer, llm_server

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
THEIRS = Llm(base_url="http://api.anthropic.com")  # reached through a proxy, which the test plays
PROMPT = Prompt(purpose="merge", system="s", user="u", max_tokens=50)
JSON_PROMPT = Prompt(purpose="merge", system="s", user="u", max_tokens=50, schema=SCHEMA)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_the_address_may_be_written_with_or_without_the_version(suffix: str) -> None:
    async with llm_server(["hi"]) as server:
        await OPEN(Llm(base_url=server.url + suffix)).complete(PROMPT)
    assert server.requests[0].path == "/v1/messages"


async def test_the_version_of_the_api_is_named() -> None:
    async with llm_server(["hi"]) as server:
        await OPEN(Llm(base_url=server.url)).complete(PROMPT)
    assert server.requests[0].headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("llm", "tools"),
    [
        (Llm(), True),
        (Llm(base_url="https://api.anthropic.com/v1"), True),
        (Llm(base_url="http://localhost:8080"), False),
        (Llm(json_schema=False), False),
    ],
)
def test_tools_are_used_where_models_keep_to_them(llm: Llm, tools: bool) -> None:
    assert first_dialect(llm) == Dialect(tools)


async def test_json_comes_as_the_input_of_a_tool_that_must_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    async with llm_server(['{"name": "Ada 你"}']) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        reply = await OPEN(THEIRS).complete(JSON_PROMPT)
    assert json.loads(reply.text) == {"name": "Ada 你"}
    assert server.requests[0].json["tools"][0]["input_schema"] == SCHEMA


async def test_a_server_that_refuses_tools_is_asked_in_words_and_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusal = Answer(status=400, error=("invalid_request_error", "tool_choice is not supported"))
    async with llm_server([refusal, '{"name": "a"}', '{"name": "b"}']) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        provider = OPEN(THEIRS)
        texts = [(await provider.complete(JSON_PROMPT)).text for _ in range(2)]
    assert texts == ['{"name": "a"}', '{"name": "b"}']
    assert [("tools" in sent.json, "schema" in sent.system) for sent in server.requests] == [
        (True, False),
        (False, True),
        (False, True),
    ]


async def test_another_server_is_asked_in_words() -> None:
    async with llm_server(["{}"]) as server:
        await OPEN(Llm(base_url=server.url)).complete(JSON_PROMPT)
    assert "tools" not in server.requests[0].json
    assert "schema" in server.requests[0].system


async def test_a_refusal_for_another_reason_is_a_refusal() -> None:
    async with llm_server([Answer(status=400, error=("invalid_request_error", "bad"))]) as server:
        with pytest.raises(ProviderRefused):
            await OPEN(Llm(base_url=server.url)).complete(JSON_PROMPT)
    assert len(server.requests) == 1


def test_a_schema_that_no_tool_can_have_is_put_in_words() -> None:
    listed = Prompt(purpose="merge", system="s", user="u", max_tokens=5, schema={"type": "array"})
    body = request(listed, "m", Dialect(tools=True))
    assert "tools" not in body
    assert '{"type":"array"}' in str(body["system"])


async def test_an_overloaded_server_is_busy() -> None:
    async with llm_server([Answer(status=529, error=("overloaded_error", "Overloaded"))]) as server:
        with pytest.raises(ProviderBusy, match="529"):
            await OPEN(Llm(base_url=server.url)).complete(PROMPT)


def message(*content: object, stop: object = "end_turn", usage: object = None) -> bytes:
    return json.dumps({"content": content, "stop_reason": stop, "usage": usage, "model": "m"}).encode()


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


@pytest.mark.parametrize(
    ("stop", "came"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "filter"),
    ],
)
def test_why_it_stopped(stop: str, came: str) -> None:
    assert read_reply(message(text("hi"), stop=stop), "http://llm").stop == came


@pytest.mark.parametrize("stop", ["pause_turn", None, ""])
def test_a_message_that_nobody_says_is_whole_is_unusable(stop: str | None) -> None:
    with pytest.raises(ReplyUnusable):
        read_reply(message(text("hi"), stop=stop), "http://llm")


def test_text_blocks_are_joined_and_others_left_out() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "x"}
    reply = read_reply(message(thinking, text("a"), {"type": "new_kind", "x": 1}, text("b")), "http://llm")
    assert reply.text == "ab"


def test_cached_input_counts_as_input() -> None:
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 5,
    }
    reply = read_reply(message(text("a"), usage=usage), "http://llm")
    assert (reply.input_tokens, reply.output_tokens) == (321, 5)
