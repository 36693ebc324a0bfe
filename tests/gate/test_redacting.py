import pytest

from dreamd.calls import Prompt
from dreamd.gate.redacting import Redacting
from dreamd.providers.scripted import ScriptedProvider

KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"


@pytest.mark.parametrize("padding", [0, 30_000])
async def test_no_secret_is_sent_and_none_is_taken_from_a_reply(padding: int) -> None:
    script = ScriptedProvider([f"the token is {KEY}"])
    user = f"- the deploy token is {KEY}\n" + "word " * padding
    reply = await Redacting(script).complete(
        Prompt(purpose="deep-dream", system="s", user=user, max_tokens=9)
    )
    assert KEY not in script.prompts[0].user
    assert "[redacted:" in script.prompts[0].user
    assert KEY not in reply.text


async def test_a_prompt_without_secrets_is_sent_as_it_is() -> None:
    prompt = Prompt(purpose="deep-dream", system="you dream", user="- 预算 800 元", max_tokens=9)
    script = ScriptedProvider(["yes"])
    await Redacting(script).complete(prompt)
    assert script.prompts == [prompt]


async def test_what_nobody_sees_is_taken_out_of_a_reply() -> None:
    prompt = Prompt(purpose="deep-dream", system="s", user="u", max_tokens=9)
    reply = await Redacting(ScriptedProvider(["- \x1b[31mred\u2028 \u202eline\x00 (D1)"])).complete(prompt)
    assert reply.text == "- red  line (D1)"
