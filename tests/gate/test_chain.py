"""The whole way of a call: journal, retry, gate, provider, over a real server and a real database."""

from pathlib import Path

import anyio
import pytest

from dreamd.calls import Prompt, Reply
from dreamd.clock import StillClock
from dreamd.config import Config, Llm, State
from dreamd.daemon import open_parts
from dreamd.errors import ProviderRefused
from dreamd.events import CALL_FINISHED, CALL_RESUMED, CALL_RETRIED, Event
from dreamd.gate.journal import Journalled
from dreamd.stores.base import Usage
from tests.llm_server import Answer, LlmServer, llm_server_beside

JOB = "daily:kettle:2026-03-02"
BUSY = Answer(status=429, headers={"retry-after": "20"})


def prompt(user: str) -> Prompt:
    return Prompt(purpose="daily-summary", system="s", user=user, max_tokens=50)


class Night:
    """A process of its own on the same state folder: what it was answered, told, and charged."""

    def __init__(self, state: Path, clock: StillClock, **llm: object) -> None:
        self.config = Config(state=State(dir=str(state)), llm=Llm(**({"provider": "openai"} | llm)))
        self.clock = clock
        self.told: list[Event] = []
        self.usage: tuple[Usage, ...] = ()

    def ask(self, *users: str) -> list[Reply]:
        with open_parts(
            self.config, clock=self.clock, emit=lambda event, **_: self.told.append(event)
        ) as parts:
            assert parts.provider is not None
            provider = parts.provider(JOB)
            assert isinstance(provider, Journalled)
            replies = anyio.run(self._ask, provider, users)
            self.usage = provider.usage()
        return replies

    async def _ask(self, provider: Journalled, users: tuple[str, ...]) -> list[Reply]:
        return [await provider.complete(prompt(user)) for user in users]


def night(state: Path, clock: StillClock, server: LlmServer) -> Night:
    return Night(state, clock, base_url=server.base_url, model="m")


def test_a_restart_pays_for_no_call_again(tmp_path: Path, clock: StillClock) -> None:
    with llm_server_beside(lambda request: f"about {request.user}") as server:
        before, after = night(tmp_path, clock, server), night(tmp_path, clock, server)
        paid = before.ask("a", "b")
        resumed = after.ask("a", "b", "c")
    assert [reply.text for reply in resumed] == ["about a", "about b", "about c"]
    assert [reply.journalled for reply in (*paid, *resumed)] == [False, False, True, True, False]
    assert [request.user for request in server.requests] == ["a", "b", "c"]
    assert before.usage == (Usage("daily-summary", calls=2, input_tokens=22, output_tokens=14),)
    assert after.usage == (Usage("daily-summary", calls=1, input_tokens=11, output_tokens=7, resumed=2),)
    assert after.told == [CALL_RESUMED, CALL_RESUMED, CALL_FINISHED]


def test_a_busy_server_is_asked_again_when_it_said(tmp_path: Path, clock: StillClock) -> None:
    with llm_server_beside([BUSY, "at last"]) as server:
        asked = night(tmp_path, clock, server)
        assert [reply.text for reply in asked.ask("a")] == ["at last"]
    assert asked.told == [CALL_RETRIED, CALL_FINISHED]
    assert 20 <= clock.ticks <= 22


def test_a_key_that_is_missing_refuses_the_call_and_not_the_start(tmp_path: Path, clock: StillClock) -> None:
    refused = Night(tmp_path, clock, api_key_env="DREAMD_NO_SUCH_KEY")
    with pytest.raises(ProviderRefused, match="DREAMD_NO_SUCH_KEY"):
        refused.ask("a")


def test_no_provider_is_legal(tmp_path: Path) -> None:
    with open_parts(Config(state=State(dir=str(tmp_path)))) as parts:
        assert parts.provider is None
