"""The composition root puts together what the configuration names, and says what it cannot."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.calls import Prompt
from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import empty_store, open_parts, state_folder
from dreamd.errors import ConfigError, StoreError, WorkspaceError
from dreamd.sections import Agent, Llm, State
from dreamd.stores.base import Changes, MemoryQuery

PROMPT = Prompt(purpose="daily-summary", system="s", user="u", max_tokens=9)


def configured(tmp_path: Path, llm: Llm | None = None) -> Config:
    return Config(state=State(dir=str(tmp_path / "deep" / "state")), llm=llm or Llm())


def test_the_state_folder_is_made_for_its_owner_alone_and_the_store_closed_in_the_end(tmp_path: Path) -> None:
    with open_parts(configured(tmp_path)) as parts:
        assert parts.state.stat().st_mode & 0o777 == 0o700
        assert parts.provider is None
        parts.store.write(Changes(meta={"a": "b"}))
    with pytest.raises(StoreError):
        parts.store.meta("a")
    with open_parts(configured(tmp_path)) as parts:
        assert parts.store.meta("a") == "b"


async def test_a_job_gets_the_whole_chain_and_nothing_is_loaded_before_its_first_call(tmp_path: Path) -> None:
    script = tmp_path / "not there yet.json"
    config, clock = (
        configured(tmp_path, Llm(provider="scripted", script=str(script))),
        StillClock(datetime(2026, 3, 2, tzinfo=UTC)),
    )
    with ExitStack() as stack:
        parts = await to_thread.run_sync(stack.enter_context, open_parts(config, clock=clock))
        closing = stack.pop_all()
        assert parts.provider is not None
        job = parts.provider(f"daily:anna:{date(2026, 3, 2)}")
        assert job.usage() == ()
        await to_thread.run_sync(script.write_text, '["yes"]')
        assert (await job.complete(PROMPT)).text == "yes"
        assert [one.calls for one in job.usage()] == [1]
        await to_thread.run_sync(closing.close)


def test_what_the_configuration_names_and_dreamd_has_not_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match=r"slumber.*none, anthropic, openai"),
        open_parts(configured(tmp_path, Llm(provider="slumber"))),
    ):
        pytest.fail("opened")
    with pytest.raises(ConfigError, match="papyrus"), open_parts(configured(tmp_path), store="papyrus"):
        pytest.fail("opened")


def test_a_format_that_dreamd_has_not_is_refused_with_the_agent_and_the_nearest_one(tmp_path: Path) -> None:
    for known in ("", "openclaw", "openclaw_sqlite", "trace"):
        with open_parts(replace(configured(tmp_path), agents={"anna": Agent(format=known)})) as parts:
            assert parts.config.agents["anna"].format == known
    wrong = replace(configured(tmp_path), agents={"anna": Agent(format="claude-code", enabled=False)})
    with (
        pytest.raises(ConfigError, match=r"agents\.anna\.format.*'claude-code'; did you mean 'claude_code'"),
        open_parts(wrong),
    ):
        pytest.fail("opened")


def test_a_state_folder_that_cannot_be_made_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("a file")
    with pytest.raises(WorkspaceError, match="state"):
        state_folder(configured(tmp_path))


def test_an_empty_store_is_empty() -> None:
    store = empty_store()
    assert list(store.memories(MemoryQuery())) == []
    store.close()


def test_there_is_one_gate_whoever_asks_first(tmp_path: Path) -> None:
    with open_parts(configured(tmp_path)) as parts, ThreadPoolExecutor(8) as threads:
        assert parts.foreground
        gates = list(threads.map(lambda _: parts.foreground and parts.foreground(), range(32)))
    assert len({id(gate) for gate in gates}) == 1
