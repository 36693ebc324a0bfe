from pathlib import Path

import anyio
import pytest
import zstandard
from msgspec.structs import replace

from dreamd.calls import Prompt, Reply
from dreamd.check import of_agents, of_gate, of_llm, of_state
from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import empty_store
from dreamd.events import silent
from dreamd.parts import Parts
from dreamd.sections import Agent, Budget, Gate, Llm, Section
from dreamd.stores.base import Usage
from tests import virtual


def parts(tmp_path: Path, clock: StillClock, **agents: Agent) -> Parts:
    return Parts(config=Config(agents=agents), state=tmp_path, store=empty_store(), clock=clock, emit=silent)


def test_no_agent_at_all_is_an_error_that_names_init(tmp_path: Path, clock: StillClock) -> None:
    (finding,) = of_agents(parts(tmp_path, clock), empty_store)
    assert (finding.level, finding.todo) == ("error", "run `dreamd init`")


def test_an_agent_that_is_switched_off_is_not_looked_at(tmp_path: Path, clock: StillClock) -> None:
    house = parts(tmp_path, clock, off=Agent(enabled=False, logs=("/nowhere",)))
    assert [finding.about for finding in of_agents(house, empty_store)] == ["agents"]


def test_a_log_that_is_not_understood_is_said(tmp_path: Path, clock: StillClock) -> None:
    (tmp_path / "x.jsonl").write_text('{"type": "unheard of", "sessionId": "1", "uuid": "2"}\n')
    house = parts(tmp_path, clock, odd=Agent(format="claude_code", logs=(str(tmp_path / "x.jsonl"),)))
    assert any("x.jsonl" in finding.what and finding.todo for finding in of_agents(house, empty_store))


def test_a_compressed_log_beside_the_plain_one_is_no_trouble(tmp_path: Path, clock: StillClock) -> None:
    line = b'{"dreamd":1,"kind":"message","role":"user","text":"How long is the bridge?"}\n'
    log = tmp_path / "logs" / "x.jsonl"
    log.parent.mkdir()
    log.write_bytes(line)
    log.with_suffix(".jsonl.zst").write_bytes(zstandard.compress(line))
    house = parts(tmp_path / "state", clock, one=Agent(format="trace", logs=(f"{log}*",)))
    found = [finding for finding in of_agents(house, empty_store) if "understood" in finding.what]
    assert [(one.level, one.what.rpartition(":")[0]) for one in found] == [
        ("ok", f"records understood in {log}")
    ]


def test_the_state_folder_that_opens_is_fine(tmp_path: Path, clock: StillClock) -> None:
    assert [finding.level for finding in of_state(parts(tmp_path, clock))] == ["ok"]


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({}, []),
        ({"gate": Gate(floor=4, ceiling=2)}, ["gate.floor is 4"]),
        ({"gate": Gate(ceiling=1)}, ["llm.concurrency is 2"]),
        ({"gate": Gate(ceiling=2, headroom=2)}, ["gate.headroom is 2"]),
        ({"budget": Budget(agent_calls_per_hour=9, calls_per_hour=3)}, ["budget.agent_calls_per_hour is 9"]),
        ({"budget": Budget(tokens_per_day=5000)}, ["budget.tokens_per_day is 5000; a call of deep_dream"]),
        ({"budget": Budget(agent_tokens_per_day=30_000)}, []),
    ],
)
def test_limits_that_do_not_go_together_are_found(
    tmp_path: Path, clock: StillClock, sections: dict[str, Section], said: list[str]
) -> None:
    config = Config(**sections)
    house = Parts(config=config, state=tmp_path, store=empty_store(), clock=clock, emit=silent)
    found = list(of_gate(house))
    assert [one.level == "ok" for one in found] == ([True] if not said else [False] * len(said))
    assert all(what in one.what and one.todo for what, one in zip(said, found, strict=False))


class Kept:
    """A provider whose call waits, for a turn that does not end or a server that does not answer."""

    async def complete(self, _prompt: Prompt) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None: ...

    def usage(self) -> tuple[Usage, ...]:
        return ()


def test_a_check_does_not_wait_for_ever_and_says_where_to_look(tmp_path: Path, clock: StillClock) -> None:
    house = parts(tmp_path, clock)
    config = replace(house.config, llm=Llm(provider="openai", model="m"))

    finding = virtual.run(of_llm(replace(house, config=config, provider=lambda _: Kept())))

    assert (finding.level, finding.what) == ("warning", "no answer within 60 s")
    assert "dreamd status" in finding.todo
