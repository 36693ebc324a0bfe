"""The messages API of Anthropic and of servers that speak it.

https://docs.anthropic.com/en/api/messages. JSON by schema is asked for as the input of a tool that the model must call.
Other servers take tools and let the model say what it likes instead: they are asked in words.
"""

import re
from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply, Stop
from dreamd.providers._answers import Answer, Said, count, decoded, in_words, objection, reply
from dreamd.providers._http import Server
from dreamd.providers.base import Provider
from dreamd.sections import Llm

BASE_URL = "https://api.anthropic.com"
PATH = "/v1/messages"
VERSION = "2023-06-01"
TOOL = "answer"

_STOPS: dict[str, Stop] = {
    "end_turn": "end", "stop_sequence": "end", "tool_use": "end",
    "max_tokens": "length", "model_context_window_exceeded": "length",
    "refusal": "filter",
}  # fmt: skip


class Dialect(Struct, frozen=True):
    """How a server wants to be asked for JSON, and whether it streams."""

    tools: bool
    stream: bool = True


def first_dialect(llm: Llm) -> Dialect:
    """Anthropic's own models keep to a tool's schema."""
    theirs = not llm.base_url or "//api.anthropic.com" in llm.base_url
    return Dialect(tools=llm.json_schema and theirs)


def other_dialect(dialect: Dialect, answer: Answer) -> Dialect | None:
    """Without tools, or not streamed, when the server objects to that."""
    said = objection(answer)
    if dialect.tools and re.search(r"\btool", said):
        return replace(dialect, tools=False)
    return replace(dialect, stream=False) if dialect.stream and re.search(r"\bstream", said) else None


def request(prompt: Prompt, model: str, dialect: Dialect) -> dict[str, object]:
    """The JSON body of a call."""
    body: dict[str, object] = {
        "model": model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
    }
    if dialect.stream:
        body["stream"] = True
    if prompt.schema is None:
        return body
    if dialect.tools and prompt.schema.get("type") == "object":  # the only type a tool's input may have
        body["tools"] = [{"name": TOOL, "description": "Give the answer.", "input_schema": prompt.schema}]
        body["tool_choice"] = {"type": "tool", "name": TOOL}
    else:
        body["system"] = f"{prompt.system}\n\n{in_words(prompt.schema)}"
    return body


class _Block(Struct):
    type: str
    text: str = ""
    input: object = None


class _Message(Struct):
    content: list[_Block]
    stop_reason: str | None = None
    model: object = ""
    usage: object = None


def read_reply(body: bytes, where: str) -> Reply:
    """The text blocks of a message, or the input of the tool it had to call. Raises ReplyUnusable."""
    message = decoded(body, _Message, where)
    called = [
        msgspec.json.encode(block.input).decode() for block in message.content if block.type == "tool_use"
    ]
    spoken = "".join(block.text for block in message.content if block.type == "text")
    said = Said(
        text=called[0] if called else spoken,
        stop_word=message.stop_reason,
        model=message.model,
        input_tokens=sum(count(message.usage, key) for key in _INPUTS),
        output_tokens=count(message.usage, "output_tokens"),
    )
    return reply(said, _STOPS, where)


_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Anthropic(Provider):
    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        # people write the address with and without the version
        self._server = Server(llm, (llm.base_url or BASE_URL).rstrip("/").removesuffix("/v1"), _headers)
        self._dialect = first_dialect(llm)

    async def complete(self, prompt: Prompt) -> Reply:
        body, self._dialect = await self._server.negotiate(
            PATH,
            prompt.purpose,
            lambda dialect: request(prompt, self._llm.model, dialect),
            self._dialect,
            other_dialect,
        )
        return read_reply(body, self._server.place(PATH))

    async def aclose(self) -> None:
        await self._server.aclose()


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


OPEN: Callable[[Llm], Provider] = Anthropic
