import threading

import anyio
import pytest

from dreamd.calls import Prompt
from dreamd.errors import ConfigError, ProviderRefused
from dreamd.gate.late import Late
from dreamd.providers.base import Provider
from dreamd.providers.scripted import ScriptedProvider

PROMPT = Prompt(purpose="merge", system="s", user="u", max_tokens=9)


async def test_the_provider_is_made_once_at_the_first_call_and_not_on_the_loop() -> None:
    made: list[threading.Thread] = []

    def make() -> Provider:
        made.append(threading.current_thread())
        return ScriptedProvider(["one", "two", "three"])

    late = Late(make)
    assert made == []
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(late.complete, PROMPT)
    assert len(made) == 1
    assert made[0] is not threading.current_thread()


async def test_a_configuration_that_makes_none_refuses_each_call_with_its_hint() -> None:
    def make() -> Provider:
        raise ConfigError("no key", hint="set one")

    late = Late(make)
    for _ in range(2):
        with pytest.raises(ProviderRefused, match="no key; set one"):
            await late.complete(PROMPT)


async def test_closing_reaches_the_provider_if_there_is_one() -> None:
    closed: list[bool] = []

    class Closing(ScriptedProvider):
        async def aclose(self) -> None:
            closed.append(True)

    late = Late(lambda: Closing(["hi"]))
    await late.aclose()
    assert closed == []
    await late.complete(PROMPT)
    await late.aclose()
    assert closed == [True]
