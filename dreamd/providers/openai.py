"""The chat API of OpenAI and of every server that speaks it: llama.cpp, vLLM, Ollama, OpenRouter, LM Studio, ...

https://platform.openai.com/docs/api-reference/chat/create. Servers differ in what the bound of the output is called
in whether they take a JSON schema, and in whether they stream: the provider starts with a guess and changes its dialect when one objects.
"""

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply, Stop
from dreamd.providers._answers import Answer, Said, count, decoded, in_words, objection, reply
from dreamd.providers._http import Server
from dreamd.providers.base import Provider
from dreamd.sections import Llm

BASE_URL = "https://api.openai.com/v1"
PATH = "/chat/completions"

_STOPS: dict[str, Stop] = {
    "stop": "end", "eos": "end", "eos_token": "end", "end_turn": "end", "stop_sequence": "end",
    "length": "length", "max_tokens": "length", "model_length": "length",
    "content_filter": "filter", "safety": "filter", "refusal": "filter",
}  # fmt: skip


class Dialect(Struct, frozen=True):
    """How a server wants to be asked."""

    tokens_field: Literal["max_tokens", "max_completion_tokens"]
    schema: bool
    stream: bool = True


def first_dialect(llm: Llm) -> Dialect:
    """OpenAI's own models have dropped `max_tokens`; most other servers know nothing newer."""
    theirs = not llm.base_url or "//api.openai.com" in llm.base_url
    guess: Literal["max_tokens", "max_completion_tokens"] = (
        "max_completion_tokens" if theirs else "max_tokens"
    )
    return Dialect(guess if llm.max_tokens_field == "auto" else llm.max_tokens_field, llm.json_schema)


def other_dialect(llm: Llm, dialect: Dialect, answer: Answer) -> Dialect | None:
    """What to try when the server objects to how it was asked; None when it does not, or not to that."""
    said = objection(answer)
    if dialect.schema and re.search(r"response_format|json_schema|grammar|structured", said):
        return replace(dialect, schema=False)
    if llm.max_tokens_field == "auto" and re.search(r"\bmax_(completion_)?tokens\b", said):
        swapped = "max_tokens" if dialect.tokens_field == "max_completion_tokens" else "max_completion_tokens"
        return replace(dialect, tokens_field=swapped)
    if dialect.stream and re.search(r"\bstream", said):
        return replace(dialect, stream=False)
    return None


def request(prompt: Prompt, model: str, dialect: Dialect) -> dict[str, object]:
    """The JSON body of a call."""
    asked_in_words = prompt.schema is not None and not dialect.schema
    system = f"{prompt.system}\n\n{in_words(prompt.schema)}" if asked_in_words else prompt.system
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt.user}],
        dialect.tokens_field: prompt.max_tokens,
    }
    if dialect.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if prompt.schema is not None and dialect.schema:
        named = {"name": prompt.purpose.replace("-", "_"), "schema": prompt.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body


class _Part(Struct):
    type: str = ""
    text: str = ""


class _Message(Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(Struct):
    choices: list[_Choice]
    model: object = ""
    usage: object = None


def read_reply(body: bytes, where: str) -> Reply:
    """The first choice of a completion. Raises ReplyUnusable."""
    completion = decoded(body, _Completion, where)
    choice = completion.choices[0] if completion.choices else _Choice(_Message())
    content, refusal = choice.message.content or "", choice.message.refusal or ""
    said = Said(
        text=content if isinstance(content, str) else "".join(part.text for part in content),
        stop_word=choice.finish_reason,
        model=completion.model,
        input_tokens=count(completion.usage, "prompt_tokens"),
        output_tokens=count(completion.usage, "completion_tokens"),
    )
    if refusal and not said.text:
        said = replace(said, text=refusal, stop_word="refusal")
    return reply(said, _STOPS, where)


class OpenAI(Provider):
    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        self._server = Server(llm, llm.base_url or BASE_URL, _headers)
        self._dialect = first_dialect(llm)

    async def complete(self, prompt: Prompt) -> Reply:
        body, self._dialect = await self._server.negotiate(
            PATH,
            prompt.purpose,
            lambda dialect: request(prompt, self._llm.model, dialect),
            self._dialect,
            lambda dialect, answer: other_dialect(self._llm, dialect, answer),
        )
        return read_reply(body, self._server.place(PATH))

    async def aclose(self) -> None:
        await self._server.aclose()


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


OPEN: Callable[[Llm], Provider] = OpenAI
