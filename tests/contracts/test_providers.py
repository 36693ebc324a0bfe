"""The same sentences over every provider: a prompt goes in, a whole reply or a classified error comes out."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd import _plugins
from dreamd.calls import Prompt, Reply, without_thinking
from dreamd.errors import (
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)
from dreamd.providers.base import Provider
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Llm
from tests.llm_server import Answer, llm_server

PROMPT = Prompt(purpose="daily-summary", system="the system", user="你好", max_tokens=50)
Playing = Callable[[list[Answer]], AbstractAsyncContextManager[Provider]]

# what each failure looks like: over HTTP, and in a script
FAILURES: dict[type[ProviderError], tuple[Answer, ProviderError]] = {
    ProviderBusy: (
        Answer(status=429, error=("rate_limit_error", "slow"), headers={"retry-after": "7"}),
        ProviderBusy("busy", retry_after_s=7),
    ),
    ProviderUnreachable: (Answer(status=500, error=("api_error", "oops")), ProviderUnreachable("down")),
    ProviderRefused: (Answer(status=401, error=("authentication_error", "no")), ProviderRefused("no")),
    PromptTooLong: (Answer(status=413, error=("request_too_large", "big")), PromptTooLong("big")),
    ReplyUnusable: (Answer(body="<html>hello</html>"), ReplyUnusable("html")),
}


@asynccontextmanager
async def _over_http(
    name: str, open_provider: Callable[[Llm], Provider], answers: list[Answer]
) -> AsyncIterator[Provider]:
    async with llm_server(answers) as server:
        yield open_provider(Llm(provider=name, base_url=server.base_url, model="m"))
        await server.quiet()


@asynccontextmanager
async def _scripted(answers: list[Answer]) -> AsyncIterator[Provider]:
    def played(answer: Answer) -> Reply | str | ProviderError:
        for shown, error in FAILURES.values():
            if shown is answer:
                return error
        return answer.text if answer.stop == "end" else Reply(text=answer.text, stop=answer.stop)

    yield ScriptedProvider([played(answer) for answer in answers])


@pytest.fixture(params=_plugins.names("providers"))
def playing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Playing:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    opened = _plugins.load("providers", request.param, "OPEN")
    return _scripted if request.param == "scripted" else partial(_over_http, request.param, opened)


async def test_a_whole_reply_is_returned_whole(playing: Playing) -> None:
    async with playing([Answer(text="- 你好 → hello\n- `x < 1`")]) as provider:
        reply = await provider.complete(PROMPT)
    assert (reply.text, reply.stop, reply.journalled) == ("- 你好 → hello\n- `x < 1`", "end", False)


@pytest.mark.parametrize("stop", ["length", "filter"])
async def test_a_reply_that_was_cut_off_says_so(playing: Playing, stop: str) -> None:
    async with playing([Answer(text="half a sen", stop=stop)]) as provider:
        reply = await provider.complete(PROMPT)
    assert (reply.text, reply.stop) == ("half a sen", stop)


@pytest.mark.parametrize(
    "thought", ["<think>hm\nhm</think>\n\n", "hm, hm</think>\n", "<thinking>hm</thinking>"]
)
async def test_what_was_thought_aloud_is_not_in_the_reply(playing: Playing, thought: str) -> None:
    async with playing([Answer(text=f"{thought}the answer")]) as provider:
        assert (await provider.complete(PROMPT)).text == "the answer"


@pytest.mark.parametrize("text", ["", " \n", "<think>and never an end", "<think>a</think>\n"])
async def test_a_reply_without_text_is_unusable(playing: Playing, text: str) -> None:
    async with playing([Answer(text=text)]) as provider:
        with pytest.raises(ReplyUnusable):
            await provider.complete(PROMPT)


@pytest.mark.parametrize("kind", FAILURES, ids=lambda kind: kind.__name__)
async def test_failures_come_as_their_class_and_the_next_call_is_none_the_worse(
    playing: Playing, kind: type[ProviderError]
) -> None:
    async with playing([FAILURES[kind][0], Answer(text="fine")]) as provider:
        with pytest.raises(kind) as caught:
            await provider.complete(PROMPT)
        assert type(caught.value) is kind
        assert (await provider.complete(PROMPT)).text == "fine"


async def test_a_busy_server_says_for_how_long(playing: Playing) -> None:
    async with playing([FAILURES[ProviderBusy][0]]) as provider:
        with pytest.raises(ProviderBusy) as caught:
            await provider.complete(PROMPT)
    assert caught.value.retry_after_s == 7


async def test_calls_may_run_at_once(playing: Playing) -> None:
    replies: list[str] = []
    async with playing([Answer(text=str(number)) for number in range(5)]) as provider:

        async def call() -> None:
            replies.append((await provider.complete(PROMPT)).text)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(call)
    assert sorted(replies) == ["0", "1", "2", "3", "4"]


async def test_a_provider_may_be_closed_twice_and_unused(playing: Playing) -> None:
    async with playing([]) as provider:
        await provider.aclose()
        await provider.aclose()


_said = st.text("ab 你\n.`-", max_size=30)


@given(_said, _said.filter(lambda text: not text.startswith("`")))
def test_a_thought_before_the_text_leaves_exactly_the_text(thought: str, text: str) -> None:
    assert without_thinking(f"<think>{thought}</think>{text}") == text
    assert without_thinking(f"{thought}</think>{text}") == text


@given(_said)
def test_text_that_holds_no_tags_stays_as_it_is(text: str) -> None:
    assert without_thinking(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "- The user asked what `<think>` and `</think>` are.",
        "- It prints\n<think> without an end, as the log shows.",
    ],
)
def test_text_that_speaks_of_tags_is_not_cut(text: str) -> None:
    assert without_thinking(text) == text
