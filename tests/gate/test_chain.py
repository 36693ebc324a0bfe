from datetime import UTC, datetime

from dreamd.calls import Prompt
from dreamd.clock import StillClock
from dreamd.events import silent
from dreamd.gate.attending import Attendant
from dreamd.gate.chain import Gated, linked
from dreamd.gate.lane import Lane
from dreamd.gate.leases import Leases
from dreamd.gate.turns import Turns
from dreamd.providers.base import Provider
from dreamd.providers.scripted import ScriptedProvider
from dreamd.sections import Budget, Gate, Llm
from dreamd.stores.inmemory import OPEN

PROMPT = Prompt(purpose="deep-dream", system="s", user="u", max_tokens=10)


async def test_all_jobs_share_one_provider_and_each_has_its_own_journal(tmp_path) -> None:
    made: list[Provider] = []

    def opened() -> Provider:
        made.append(ScriptedProvider(["one", "two"]))
        return made[-1]

    clock = StillClock(datetime(2026, 3, 2, tzinfo=UTC))
    store, lane = OPEN(tmp_path), Lane("x", Gate(), concurrency=2, clock=clock, emit=silent)
    turns = Turns(store, (), timeout_s=60, patience_s=60, clock=clock)
    attendant = Attendant(lane, store, turns=turns, exhausted=str, long_wait_s=60, clock=clock, emit=silent)
    leases = Leases(store, budget=Budget(), lease_s=30, clock=clock, new_id=iter("abcdef").__next__)
    jobs = linked(
        opened,
        gate=Gated(lane, attendant, leases),
        llm=Llm(),
        store=store,
        clock=clock,
        emit=silent,
        draw=lambda: 0.5,
    )
    assert made == []
    assert (await jobs("a").complete(PROMPT)).text == "one"
    assert (await jobs("a").complete(PROMPT)).journalled
    assert (await jobs("b").complete(PROMPT)).text == "two"
    assert len(made) == 1
