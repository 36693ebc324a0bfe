import json
from pathlib import Path

import anyio
import pytest

from dreamd.calls import Prompt, Purpose, Reply
from dreamd.errors import (
    ConfigError,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)
from dreamd.providers.scripted import OPEN, ScriptedProvider
from dreamd.sections import Llm


def prompt(purpose: Purpose = "daily-summary") -> Prompt:
    return Prompt(purpose=purpose, system="s", user="u", max_tokens=9)


def script(tmp_path: Path, entries: object) -> Llm:
    path = tmp_path / "script.json"
    path.write_text(entries if isinstance(entries, str) else json.dumps(entries))
    return Llm(provider="scripted", script=str(path))


async def test_replies_come_in_order_and_prompts_are_recorded() -> None:
    provider = ScriptedProvider(["one", Reply(text="two", stop="length")])
    replies = [await provider.complete(prompt(purpose)) for purpose in ("merge", "score")]
    assert [(reply.text, reply.stop) for reply in replies] == [("one", "end"), ("two", "length")]
    assert [asked.purpose for asked in provider.prompts] == ["merge", "score"]


async def test_a_function_answers_each_prompt() -> None:
    provider = ScriptedProvider(lambda asked: f"about {asked.user}")
    assert (await provider.complete(prompt())).text == "about u"


async def test_a_script_that_has_run_out_refuses() -> None:
    with pytest.raises(ProviderRefused, match="no reply left for daily-summary"):
        await ScriptedProvider([]).complete(prompt())


async def test_a_file_is_a_script(tmp_path: Path) -> None:
    provider = OPEN(script(tmp_path, ["one", {"text": "tw", "stop": "length"}]))
    replies = [await provider.complete(prompt()) for _ in range(2)]
    assert [(reply.text, reply.stop) for reply in replies] == [("one", "end"), ("tw", "length")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("busy", ProviderBusy),
        ("unreachable", ProviderUnreachable),
        ("refused", ProviderRefused),
        ("too_long", PromptTooLong),
        ("unusable", ReplyUnusable),
    ],
)
async def test_a_file_can_name_every_error(tmp_path: Path, name: str, kind: type[ProviderError]) -> None:
    provider = OPEN(script(tmp_path, [{"error": name, "retry_after_s": 3}, ""]))
    with pytest.raises(kind) as caught:
        await provider.complete(prompt())
    assert type(caught.value) is kind
    assert getattr(caught.value, "retry_after_s", 3) == 3
    with pytest.raises(ReplyUnusable):
        await provider.complete(prompt())


async def test_a_reply_for_a_purpose_waits_for_it(tmp_path: Path) -> None:
    provider = OPEN(script(tmp_path, [{"purpose": "deep-dream", "text": "dream"}, "any", "more"]))
    asked: list[Purpose] = ["daily-summary", "deep-dream", "merge"]
    assert [(await provider.complete(prompt(purpose))).text for purpose in asked] == ["any", "dream", "more"]


@pytest.mark.parametrize(
    "entries", ["no JSON", {"text": "no list"}, [{"txet": "typo"}], [{"stop": "soon"}], [3]]
)
async def test_a_file_that_is_no_script_is_named(tmp_path: Path, entries: object) -> None:
    with pytest.raises(ProviderRefused, match=r"script\.json is no script"):
        await OPEN(script(tmp_path, entries)).complete(prompt())


async def test_a_missing_file_is_named_at_each_call(tmp_path: Path) -> None:
    provider = OPEN(Llm(script=str(tmp_path / "later.json")))
    with pytest.raises(ProviderRefused, match=r"later\.json"):
        await provider.complete(prompt())
    await anyio.Path(tmp_path / "later.json").write_text('["now"]')
    assert (await provider.complete(prompt())).text == "now"
    await provider.aclose()


def test_no_file_named_is_a_fault_of_the_configuration() -> None:
    with pytest.raises(ConfigError, match=r"llm\.script is empty"):
        OPEN(Llm(provider="scripted"))
