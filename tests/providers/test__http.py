"""How servers and lines fail (RELIABILITY 2.7), played by a real server, over both protocols."""

import logging
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from dreamd.calls import Prompt
from dreamd.clock import StillClock
from dreamd.errors import (
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)
from dreamd.events import silent
from dreamd.gate.retrying import Retrying
from dreamd.providers import _http, anthropic, openai
from dreamd.providers.base import Provider
from dreamd.sections import Llm
from tests.llm_server import Answer, llm_server

KEY = "sk-test-0123456789abcdef"
PROMPT = Prompt(purpose="deep-dream", system="a secret system", user="a secret log 你好", max_tokens=50)
PATIENT = 5.0

Open = Callable[[Llm], Provider]
both = pytest.mark.parametrize("open_provider", [openai.OPEN, anthropic.OPEN], ids=["openai", "anthropic"])


def llm(base_url: str, **changed: float | str) -> Llm:
    return Llm(
        **{"base_url": base_url, "model": "m", "read_timeout_s": 0.05, "deadline_s": PATIENT} | changed
    )


def unused_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return taken.getsockname()[1]


NO_ANSWERS: dict[str, tuple[Answer, type[ProviderError]]] = {
    "a web page": (Answer(body="<!doctype html><title>Sign in</title>"), ReplyUnusable),
    "nothing": (Answer(body=""), ReplyUnusable),
    "null": (Answer(body="null"), ReplyUnusable),
    "half JSON": (Answer(body='{"choices": [{"mess'), ReplyUnusable),
    "no UTF-8": (Answer(body=b"\x80\x81\x82"), ReplyUnusable),
    "another shape": (Answer(body='{"choices": "many", "content": "lots"}'), ReplyUnusable),
    "no choice": (Answer(body='{"choices": [], "content": []}'), ReplyUnusable),
    "a stream": (Answer(body="data: {}\n\n", headers={"content-type": "text/event-stream"}), ReplyUnusable),
    "an unknown stop": (Answer(stop="paused"), ReplyUnusable),
    "no gzip": (Answer(headers={"content-encoding": "gzip"}), ReplyUnusable),
    "an error with 200": (Answer(error=("overloaded_error", "later")), ProviderBusy),
    "an error page": (Answer(status=503, body="<h1>Service Unavailable</h1>"), ProviderUnreachable),
    "a redirect": (Answer(status=302, headers={"location": "/login"}, body=""), ProviderRefused),
    "closed before the body": (Answer(cut_at=0), ProviderUnreachable),
    "closed within a character": (Answer(text="你" * 50, cut_at=150), ProviderUnreachable),
    "reset before the body": (Answer(reset_at=0), ProviderUnreachable),
    "reset in the body": (Answer(reset_at=40), ProviderUnreachable),
    "silence after the headers": (Answer(hang_at=0), ProviderUnreachable),
    "silence in the body": (Answer(hang_at=40), ProviderUnreachable),
    "half a gzip": (Answer(gzip=True, cut_at=20), ProviderUnreachable),
    "less than promised": (Answer(headers={"content-length": "999999"}), ProviderUnreachable),
    "a broken header": (Answer(headers={"x\x00y": "1"}), ProviderUnreachable),
}


@both
@pytest.mark.parametrize(("answer", "kind"), NO_ANSWERS.values(), ids=list(NO_ANSWERS))
async def test_an_answer_that_is_none_ends_as_its_class_and_closes_the_line(
    open_provider: Open, answer: Answer, kind: type[ProviderError]
) -> None:
    async with llm_server([answer]) as server:
        provider = open_provider(llm(server.base_url))
        with anyio.fail_after(PATIENT), pytest.raises(ProviderError) as caught:
            await provider.complete(PROMPT)
        await server.quiet()
    assert type(caught.value) is kind
    assert "secret" not in str(caught.value)
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize(
    "answer",
    [
        Answer(silent=True),
        Answer(hang_at=30),
        Answer(drip_s=0.005, text="x" * 5000),
    ],
    ids=["silence", "hang", "drip"],
)
async def test_whatever_does_not_end_is_ended_by_the_deadline(
    open_provider: Open, answer: Answer, clock: StillClock
) -> None:
    async with llm_server([answer]) as server:
        limits = llm(server.base_url, deadline_s=0.1, read_timeout_s=PATIENT)
        retrying = Retrying(open_provider(limits), clock=clock, draw=lambda: 0.5, llm=limits, emit=silent)
        with anyio.fail_after(PATIENT), pytest.raises(ProviderUnreachable):
            await retrying.complete(PROMPT)
        await server.quiet()
    assert server.hung_up == 1


@both
async def test_a_server_that_thinks_longer_than_the_read_timeout_is_waited_for(open_provider: Open) -> None:
    async with llm_server([Answer(text="well thought", think_s=0.1)]) as server:
        reply = await open_provider(llm(server.base_url, read_timeout_s=0.02)).complete(PROMPT)
    assert reply.text == "well thought"


@both
async def test_a_cancelled_call_hangs_up_at_once(open_provider: Open) -> None:
    async with llm_server([Answer(silent=True)]) as server:
        async with anyio.create_task_group() as group:
            group.start_soon(open_provider(llm(server.base_url)).complete, PROMPT)
            await server.asked()
            group.cancel_scope.cancel()
        with anyio.fail_after(PATIENT):
            await server.quiet()
    assert server.hung_up == 1


@both
async def test_no_connection_outlives_its_call(open_provider: Open) -> None:
    async with llm_server(["one", "two"]) as server:
        provider = open_provider(llm(server.base_url))
        for _ in range(2):
            await provider.complete(PROMPT)
            with anyio.fail_after(PATIENT):
                await server.quiet()
    assert server.hung_up == 0


@both
@pytest.mark.parametrize(
    "answer",
    [
        Answer(text="长" * 350_000),
        Answer(text="zipped " * 1000, gzip=True),
        Answer(text="in small pieces 你好 " * 20, chunk=1),
        Answer(text="no count", usage=False),
        Answer(text="the answer", thinking="hm, hm"),
    ],
    ids=["1 MB", "gzip", "byte by byte", "no usage", "thinking apart"],
)
async def test_an_odd_but_whole_answer_is_taken(open_provider: Open, answer: Answer) -> None:
    async with llm_server([answer]) as server:
        reply = await open_provider(llm(server.base_url, read_timeout_s=PATIENT)).complete(PROMPT)
    assert reply.text == answer.text.strip()
    assert (reply.input_tokens, reply.output_tokens) == ((11, 7) if answer.usage else (0, 0))


@both
async def test_an_endless_answer_is_cut_at_a_size(
    open_provider: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_http, "LARGEST_REPLY", 1 << 20)
    async with llm_server([Answer(text="0" * (8 << 20), gzip=True)]) as server:
        with pytest.raises(ReplyUnusable, match="more than 1 MB"):
            await open_provider(llm(server.base_url)).complete(PROMPT)


@both
async def test_nobody_listening_is_unreachable(open_provider: Open) -> None:
    with pytest.raises(ProviderUnreachable, match=r"cannot connect.*is the server up"):
        await open_provider(llm(f"http://127.0.0.1:{unused_port()}/v1")).complete(PROMPT)


@both
async def test_an_unknown_host_is_unreachable(open_provider: Open) -> None:
    with pytest.raises(ProviderUnreachable, match=r"http://nowhere\.invalid/v1"):
        await open_provider(llm("http://nowhere.invalid/v1")).complete(PROMPT)


@both
async def test_a_failed_tls_handshake_is_named(open_provider: Open) -> None:
    async with llm_server() as server:
        with pytest.raises(ProviderUnreachable, match="TLS"):
            await open_provider(llm(server.base_url.replace("http:", "https:"))).complete(PROMPT)


@both
@pytest.mark.parametrize("base_url", ["localhost:1", "ftp://localhost", "http://\x7f", "nonsense"])
async def test_an_address_that_is_none_is_the_persons_to_mend(open_provider: Open, base_url: str) -> None:
    with pytest.raises(ProviderRefused, match=r"llm\.base_url"):
        await open_provider(llm(base_url)).complete(PROMPT)


@both
async def test_every_request_says_what_it_is_for(open_provider: Open) -> None:
    async with llm_server(["ok"]) as server:
        await open_provider(llm(server.base_url)).complete(PROMPT)
    (request,) = server.requests
    assert (request.purpose, request.system, request.user) == ("deep-dream", PROMPT.system, PROMPT.user)
    assert (request.max_tokens, request.json["model"], request.key) == (50, "m", "")


@both
async def test_the_key_comes_from_where_it_is_named_and_is_read_for_each_call(
    open_provider: Open, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    async with llm_server(["one", "two"]) as server:
        provider = open_provider(llm(server.base_url, api_key_file=str(file)))
        for key in (KEY, "sk-renewed"):
            await anyio.Path(file).write_text(f"{key}\n")
            await provider.complete(PROMPT)
    assert [request.key for request in server.requests] == [KEY, "sk-renewed"]


@both
async def test_a_missing_key_refuses_before_anything_is_sent(open_provider: Open) -> None:
    async with llm_server() as server:
        with pytest.raises(ProviderRefused, match=r"\$DREAMD_NO_SUCH_KEY is not set"):
            await open_provider(llm(server.base_url, api_key_env="DREAMD_NO_SUCH_KEY")).complete(PROMPT)
    assert server.requests == []


@both
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
async def test_no_error_and_no_log_shows_the_key_or_the_prompt(
    open_provider: Open,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("DREAMD_TEST_KEY", KEY)
    told = Answer(status=status, error=("some_error", f"bad key {KEY} for {PROMPT.user}"))
    async with llm_server([told]) as server:
        address = server.base_url.replace("http://", "http://user:hidden@")
        with pytest.raises(ProviderError) as caught:
            await open_provider(llm(address, api_key_env="DREAMD_TEST_KEY")).complete(PROMPT)
    for shown in (str(caught.value), repr(caught.value), caplog.text):
        assert not any(word in shown for word in (KEY, "secret", "hidden"))
    assert "llm" in caught.value.hint or status in (400, 429, 500) or "DREAMD_TEST_KEY" in caught.value.hint


@both
async def test_a_refused_key_and_an_unknown_model_are_hinted_at(
    open_provider: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DREAMD_TEST_KEY", KEY)
    answers = [Answer(status=401), Answer(status=404, error=("model_not_found", "no"))]
    async with llm_server(answers) as server:
        provider = open_provider(llm(server.base_url, api_key_env="DREAMD_TEST_KEY"))
        with pytest.raises(ProviderRefused, match=r"check the key in \$DREAMD_TEST_KEY"):
            await provider.complete(PROMPT)
        with pytest.raises(ProviderRefused, match=r"\(model_not_found\); check llm.model \('m'\)"):
            await provider.complete(PROMPT)


@both
async def test_a_proxy_of_the_environment_is_used(
    open_provider: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with llm_server(["through the proxy"]) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        reply = await open_provider(llm("http://llm.invalid/v1")).complete(PROMPT)
    assert reply.text == "through the proxy"


@both
def test_one_provider_serves_one_loop_after_another(open_provider: Open) -> None:
    async def call(provider: Provider | None = None) -> Provider:
        async with llm_server(["hello"]) as server:
            provider = provider or open_provider(llm(server.base_url))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(provider._server, "_base", server.base_url.removesuffix("/v1"))
                assert (await provider.complete(PROMPT)).text == "hello"
        return provider

    anyio.run(call, anyio.run(call))


async def test_closing_twice_is_no_fault() -> None:
    async with llm_server(["one"]) as server:
        provider = openai.OPEN(llm(server.base_url))
        await provider.complete(PROMPT)
        await provider.aclose()
        await provider.aclose()
