from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.errors import ConfigError
from dreamd.parts import Parts
from dreamd.sections import Agent
from dreamd.stores.base import MemoryQuery
from dreamd.stores.sqlite import OPEN
from dreamd.tail.sync import backlog, sync
from tests.pool.test_redaction import BEGIN, BODY, END, KEY, SECRETS
from tests.tail.house import Told, line, parts_on, texts


def test_all_logs_are_read_to_their_end_and_once(tmp_path: Path, clock: StillClock) -> None:
    log = tmp_path / "x.jsonl"
    log.write_bytes(line(1) + line(2)[:-1])
    told, steps = Told(), []
    parts = parts_on(tmp_path, clock, log, emit=told)
    assert backlog(parts) == log.stat().st_size
    result = sync(parts, progress=steps.append)
    assert result.agents["a"].records == 2
    assert sum(steps) == log.stat().st_size
    assert sync(parts).agents["a"].records == 0
    assert told.names().count("sync.finished") == 1
    assert backlog(parts) == 0


def test_only_the_agents_named_are_read_and_all_enabled_otherwise(tmp_path: Path, clock: StillClock) -> None:
    log = tmp_path / "x.jsonl"
    log.write_bytes(line(1))
    base = parts_on(tmp_path, clock, log)
    a = base.config.agents["a"]
    off = Agent(format=a.format, logs=a.logs, enabled=False)
    parts = Parts(
        config=Config(agents={"a": a, "b": a, "off": off}),
        state=base.state, store=base.store, clock=clock, emit=base.emit,
    )  # fmt: skip
    assert list(sync(parts, ["b"]).agents) == ["b"]
    assert list(sync(parts).agents) == ["a", "b"]
    assert len(texts(parts.store)) == 2  # one log, two agents: each has its own memory of it
    with pytest.raises(ConfigError, match="no agent 'c'"):
        sync(parts, ["c"])


@pytest.mark.parametrize(("human", "origin"), [(True, "human"), (False, "scheduled")])
def test_whether_a_programs_prompt_counts_as_human_is_the_agents_setting(
    tmp_path: Path, clock: StillClock, human: bool, origin: str
) -> None:
    log = tmp_path / "x.jsonl"
    log.write_bytes(line(1).replace(b'"uuid"', b'"promptSource": "sdk", "uuid"', 1))
    base = parts_on(tmp_path, clock, log)
    agent = replace(base.config.agents["a"], programs_are_human=human)
    sync(replace(base, config=Config(agents={"a": agent})))
    assert [memory.origin for memory in base.store.memories(MemoryQuery(agent="a"))] == [origin]


def test_no_planted_secret_is_in_the_bytes_of_the_pool(tmp_path: Path, clock: StillClock) -> None:
    said = [f"use {secret} here" for secret in SECRETS.values()]
    said += [
        f"{BEGIN}\n{BODY}{END}",
        f"PASSWORD={KEY}",
        f"postgres://u:{KEY}@h/db",
        f"Authorization: Bearer {KEY}",
    ]
    log = tmp_path / "x.jsonl"
    log.write_bytes(b"".join(line(number, text) for number, text in enumerate(said)))
    state = tmp_path / "state"
    state.mkdir()
    store = OPEN(state)
    sync(parts_on(tmp_path, clock, log, store=store))
    assert len(texts(store)) == len(said)
    store.close()
    stored = b"".join(path.read_bytes() for path in state.iterdir())
    assert b"[redacted:" in stored
    for secret in (*SECRETS.values(), KEY, "MIIEvQIBADANBg"):
        assert secret.encode() not in stored
