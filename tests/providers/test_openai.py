import json

import pytest

from dreamd.calls import Prompt
from dreamd.errors import ProviderRefused, ReplyUnusable
from dreamd.providers._answers import Answer as HttpAnswer
from dreamd.providers.openai import OPEN, Dialect, first_dialect, other_dialect, read_reply, request
from dreamd.sections import Llm
from tests.llm_server import Answer, llm_server, llm_server_beside

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PROMPT = Prompt(purpose="daily-summary", system="s", user="u", max_tokens=50)
JSON_PROMPT = Prompt(purpose="daily-summary", system="s", user="u", max_tokens=50, schema=SCHEMA)
NEW_FIELD = Answer(
    status=400,
    error=("unsupported_parameter", "'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
)
OLD_FIELD = Answer(
    status=422, body='{"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "extra"}]}'
)
NO_SCHEMA = Answer(status=400, error=("invalid_request_error", "response_format is not supported"))


@pytest.mark.parametrize(
    ("llm", "field"),
    [
        (Llm(), "max_completion_tokens"),
        (Llm(base_url="https://api.openai.com/v1/"), "max_completion_tokens"),
        (Llm(base_url="http://localhost:11434/v1"), "max_tokens"),
        (Llm(base_url="http://x", max_tokens_field="max_completion_tokens"), "max_completion_tokens"),
        (Llm(max_tokens_field="max_tokens"), "max_tokens"),
    ],
)
def test_the_first_guess_of_the_field_follows_the_server(llm: Llm, field: str) -> None:
    assert first_dialect(llm) == Dialect(field, schema=True)
    assert request(PROMPT, "m", first_dialect(llm))[field] == 50


async def test_the_server_is_asked_again_with_the_field_it_wants_and_from_then_on() -> None:
    async with llm_server([NEW_FIELD, "one", "two"]) as server:
        provider = OPEN(Llm(base_url=server.base_url))
        assert [(await provider.complete(PROMPT)).text for _ in range(2)] == ["one", "two"]
    assert [{name for name in sent.json if "tokens" in name} for sent in server.requests] == [
        {"max_tokens"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]


async def test_a_field_that_is_configured_is_not_changed() -> None:
    async with llm_server([NEW_FIELD, "never"]) as server:
        with pytest.raises(ProviderRefused):
            await OPEN(Llm(base_url=server.base_url, max_tokens_field="max_tokens")).complete(PROMPT)
    assert len(server.requests) == 1


async def test_a_server_that_wants_neither_field_is_asked_twice_and_not_for_ever() -> None:
    async with llm_server(lambda _: NEW_FIELD) as server:
        provider = OPEN(Llm(base_url=server.base_url))
        with pytest.raises(ProviderRefused):
            await provider.complete(PROMPT)
    assert [sent.max_tokens for sent in server.requests] == [50, 50]


def test_a_server_that_knows_only_the_old_field_is_understood() -> None:
    said = HttpAnswer(422, {}, str(OLD_FIELD.body).encode())
    assert other_dialect(Llm(), Dialect("max_completion_tokens", schema=True), said) == Dialect(
        "max_tokens", schema=True
    )


async def test_json_is_asked_for_by_schema() -> None:
    async with llm_server(['{"name": "Ada"}']) as server:
        await OPEN(Llm(base_url=server.base_url)).complete(JSON_PROMPT)
    assert server.requests[0].json["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "daily_summary", "schema": SCHEMA},
    }


async def test_a_server_without_schemas_is_asked_in_words_and_from_then_on() -> None:
    async with llm_server([NO_SCHEMA, NEW_FIELD, "{}", "{}"]) as server:
        provider = OPEN(Llm(base_url=server.base_url))
        for _ in range(2):
            await provider.complete(JSON_PROMPT)
    last = server.requests[2:]
    assert len(last) == 2
    for sent in last:
        assert "response_format" not in sent.json
        assert json.dumps(SCHEMA, separators=(",", ":")) in sent.system
        assert sent.json["max_completion_tokens"] == 50


async def test_schemas_can_be_switched_off() -> None:
    async with llm_server(["{}"]) as server:
        await OPEN(Llm(base_url=server.base_url, json_schema=False)).complete(JSON_PROMPT)
    assert "response_format" not in server.requests[0].json


def completion(message: object, stop: object = "stop", **more: object) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": stop}]} | more).encode()


@pytest.mark.parametrize(
    ("message", "stop", "text", "came"),
    [
        ({"content": "hi"}, "eos", "hi", "end"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "stop", "ab", "end"),
        ({"content": "cut", "reasoning_content": "hm"}, "length", "cut", "length"),
        ({"content": None, "refusal": "I cannot"}, "stop", "I cannot", "filter"),
        ({"content": "hi", "tool_calls": None}, "content_filter", "hi", "filter"),
    ],
)
def test_messages_in_their_kinds(message: object, stop: str, text: str, came: str) -> None:
    reply = read_reply(completion(message, stop, model="m"), "http://llm")
    assert (reply.text, reply.stop, reply.model) == (text, came, "m")


@pytest.mark.parametrize(
    "message", [{"content": None}, {"content": None, "tool_calls": [{}]}, {"content": []}]
)
def test_a_message_without_text_is_unusable(message: object) -> None:
    with pytest.raises(ReplyUnusable, match="empty"):
        read_reply(completion(message, "tool_calls"), "http://llm")


def test_an_odd_model_and_usage_cost_no_reply() -> None:
    reply = read_reply(completion({"content": "hi"}, model=None, usage={"prompt_tokens": "7"}), "http://llm")
    assert (reply.text, reply.model, reply.input_tokens) == ("hi", "", 0)


async def test_the_server_can_also_stand_beside_the_loop() -> None:
    with llm_server_beside(["from a thread"]) as server:
        reply = await OPEN(Llm(base_url=server.base_url)).complete(PROMPT)
    assert (reply.text, len(server.requests)) == ("from a thread", 1)
