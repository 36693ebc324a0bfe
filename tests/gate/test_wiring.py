"""What a configuration makes of the gate."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dreamd.calls import Prompt
from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.events import silent
from dreamd.gate.wiring import upstream_of, wired
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Agent, Llm
from dreamd.stores.inmemory import InMemoryStore

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("llm", "goes_to"),
    [
        (Llm(provider="openai"), "https://api.openai.com/v1"),
        (Llm(provider="anthropic"), "https://api.anthropic.com"),
        (Llm(provider="openai", base_url="http://127.0.0.1:11434/v1"), "http://127.0.0.1:11434/v1"),
        (Llm(provider="scripted"), "http://scripted"),
    ],
)
def test_dreams_go_to_the_providers_own_place_unless_another_is_named(llm: Llm, goes_to: str) -> None:
    assert upstream_of(llm) == goes_to


async def test_a_jobs_calls_take_their_slots_in_the_lane_of_dreamds_own_upstream() -> None:
    config = Config(llm=Llm(provider="scripted"), agents={"anna": Agent()})
    provider = ScriptedProvider(["yes"])
    lanes, chain = wired(config, InMemoryStore(), StillClock(NOW), silent, lambda: provider)
    reply = await chain("daily:anna:2026-03-02").complete(
        Prompt(purpose="daily-summary", system="s", user="u", max_tokens=10)
    )
    assert reply.text == "yes"
    assert [lane.name for lane in lanes.open] == [lanes.lane("http://scripted").name]


async def test_a_key_that_is_missing_keeps_no_lane_from_opening(tmp_path: Path) -> None:
    config = Config(llm=Llm(provider="openai", api_key_file=str(tmp_path / "none")))
    lanes, _chain = wired(config, InMemoryStore(), StillClock(NOW), silent, lambda: ScriptedProvider([]))
    call = lanes.arrive("https://api.openai.com/v1")
    assert lanes.busy()
    call.done()
    assert not lanes.busy()
