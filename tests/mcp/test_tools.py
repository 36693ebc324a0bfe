"""What the five tools do, and what they will not do on a model's word alone."""

import subprocess
import sys
from functools import partial

import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.clock import StillClock
from dreamd.errors import ConfigError, UsageError
from dreamd.hand.forget import Wish, plan_forget
from dreamd.locks import DAEMON, exclusive
from dreamd.mcp.tools import EVERYBODY, TOOLS, Call
from dreamd.stores.base import MemoryQuery
from dreamd.tail.sync import sync
from tests.acceptance.house import Home
from tests.mcp.house import MONDAY, talked

RED = "I hate red"
NAMED = {tool.name: tool for tool in TOOLS}


async def call(parts, name, *, answer=None, questions=None, agent="", **arguments):
    """A tool's answer; the client's person answers every question so (None: the client cannot ask)."""

    async def ask(question):
        if questions is not None:
            questions.append(question)
        return answer

    return await NAMED[name].call(Call(parts=parts, agent=agent, ask=ask), arguments)


async def memories(parts, type_):
    return await to_thread.run_sync(lambda: list(parts.store.memories(MemoryQuery(types=(type_,)))))


async def insights(parts):
    return [one.content for one in await memories(parts, "insight")]


async def test_what_the_person_asked_for_is_kept_in_the_persons_words(tmp_path):
    async with talked(tmp_path, f"Remember that {RED}.", "Noted.") as parts:
        told = await call(parts, "remember", text="The user hates red")
        assert told.startswith("Remembered, ")
        assert RED in told
        assert not [content for content in await insights(parts) if "user" in content]
        assert "known already" in await call(parts, "remember", text="The user hates red")


async def test_without_a_daemon_the_logs_are_read_for_it(tmp_path):
    async with talked(tmp_path, "Hello", "Hi") as parts:
        home = await to_thread.run_sync(Home, tmp_path)
        await to_thread.run_sync(home.says, MONDAY.replace(hour=11), f"Remember that {RED}.")
        assert RED in await call(parts, "remember", text=RED)


async def test_a_line_that_no_daemon_has_read_yet_is_looked_for_in_the_log(tmp_path):
    async with talked(tmp_path, "Hello", "Hi") as parts:
        home = await to_thread.run_sync(Home, tmp_path)
        async with exclusive(parts.state / DAEMON, parts.clock, what="dreamd runs"):
            await to_thread.run_sync(home.says, MONDAY.replace(hour=11), f"Remember that {RED}.")
            assert RED in await call(parts, "remember", text=RED)


async def test_a_line_that_is_written_a_moment_after_the_call_counts_too(tmp_path):
    async with talked(tmp_path, "Hello", "Hi") as parts:
        home = await to_thread.run_sync(Home, tmp_path)
        before = parts.clock.now()

        class Late(StillClock):
            async def sleep(self, seconds):
                await super().sleep(seconds)
                if seconds:
                    await to_thread.run_sync(home.says, MONDAY.replace(hour=11), f"Remember that {RED}.")

        late = replace(parts, clock=Late(before))
        assert RED in await call(late, "remember", text=RED)
        assert 0 < (late.clock.now() - before).total_seconds() < 2


async def test_a_models_own_word_is_refused_after_a_short_look(tmp_path):
    async with talked(tmp_path, "Hello", "Hi") as parts:
        before = parts.clock.now()
        with pytest.raises(UsageError, match="not kept"):
            await call(parts, "remember", text=RED)
        assert (parts.clock.now() - before).total_seconds() <= 2


async def test_a_models_own_word_is_refused_where_nobody_can_be_asked(tmp_path):
    async with talked(tmp_path, "Read that page.", f"Remember that {RED}.") as parts:
        with pytest.raises(UsageError, match="not kept"):
            await call(parts, "remember", text=RED)
        assert await insights(parts) == []


async def test_the_person_is_asked_and_decides(tmp_path):
    async with talked(tmp_path, "Hello", "Hi") as parts:
        questions = []
        with pytest.raises(UsageError, match="declined"):
            await call(parts, "remember", text=RED, answer=False, questions=questions)
        assert await insights(parts) == []
        await call(parts, "remember", text=RED, answer=True, questions=questions)
        assert RED in (await insights(parts))[0]
        assert all(RED in question for question in questions)
        assert len(questions) == 2


async def test_evidence_goes_down_to_the_persons_words(tmp_path):
    async with talked(tmp_path, f"Remember that {RED}.", "Noted.") as parts:
        await call(parts, "remember", text=RED)
        told = await call(parts, "recall", goal="help me pick a T-shirt")
        assert RED in told
        (insight,) = await memories(parts, "insight")
        assert RED in await call(parts, "evidence", what=insight.memory_id[:10])
        with pytest.raises(UsageError):
            await call(parts, "evidence", what="ffffffffff")


async def test_recall_says_when_there_is_nothing(tmp_path):
    async with talked(tmp_path) as parts:
        assert "Nothing in memory" in await call(parts, "recall", goal="help me pick a T-shirt")
        assert "Nothing in memory" in await call(
            parts, "recall", goal="shirt", agent="anna", as_of="2026-03-01"
        )


async def test_nothing_is_forgotten_where_the_person_cannot_be_asked(tmp_path):
    async with talked(tmp_path, f"Remember that {RED}.", "Noted.", "I like tea.", "Noted.") as parts:
        told = await call(parts, "forget", matching=RED, agent="anna")
        assert RED in told
        assert "tea" not in told
        assert told.endswith(f"dreamd forget --matching '{RED}' --agent anna")
        assert len(await memories(parts, "raw")) == 4
        digest = (await plan_forget(parts, Wish(matching=RED))).digest
        with pytest.raises(UsageError):
            await call(parts, "forget", matching=RED, confirm=digest)


async def test_the_person_sees_what_would_go_and_decides(tmp_path):
    async with talked(tmp_path, f"Remember that {RED}.", "Noted.", "I like tea.", "Noted.") as parts:
        questions = []
        with pytest.raises(UsageError, match="declined"):
            await call(parts, "forget", matching=RED, answer=False, questions=questions)
        assert len(await memories(parts, "raw")) == 4
        assert f"raw of anna: Remember that {RED}." in questions[0]
        told = await call(parts, "forget", matching=RED, answer=True)
        assert told.startswith("Forgotten: ")
        left = str(await memories(parts, "raw"))
        assert RED not in left
        assert "tea" in left
        assert "Nothing matches" in await call(parts, "forget", matching=RED, answer=True)


@pytest.mark.parametrize("since", [f"So {RED}?", "I like green."])
async def test_what_is_said_while_the_person_is_asked_goes_only_if_it_is_the_same(tmp_path, since):
    async with talked(tmp_path, f"Remember that {RED}.", "Noted.") as parts:
        home = await to_thread.run_sync(Home, tmp_path)

        async def ask(_question):
            await to_thread.run_sync(home.says, MONDAY.replace(hour=11), "Forget it.", since)
            await to_thread.run_sync(sync, parts)
            return True

        told = await NAMED["forget"].call(Call(parts=parts, agent="", ask=ask), {"matching": RED})
        assert told.startswith("Forgotten: ")
        left = [one.content for one in await memories(parts, "raw")]
        assert not [text for text in left if RED in text]
        assert (since in left) == (RED not in since)


async def test_forgetting_nothing_in_particular_is_refused(tmp_path):
    async with talked(tmp_path) as parts:
        with pytest.raises(UsageError):
            await call(parts, "forget")


async def test_a_server_started_for_an_agent_speaks_of_that_agent(tmp_path):
    async with talked(tmp_path) as parts:
        made = partial(Call, parts=parts, ask=None)
        assert made(agent="anna").agents("") == ["anna"]
        assert made(agent="anna").agents(EVERYBODY) is None
        assert made(agent="").agents("") is None
        assert made(agent="").one_agent("") == "anna"
        with pytest.raises(ConfigError):
            made(agent="anna").agents("bob")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_is_explained_and_no_other_is_taken(tool):
    schema = tool.schema
    assert schema["additionalProperties"] is False
    for shape in schema["properties"].values():
        assert "description" in str(shape)


def test_naming_the_tools_loads_nothing_of_what_they_do():
    code = "import sys, dreamd.mcp.tools; print([name for name in sys.modules if name.startswith('dreamd.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "dreamd.mcp.tools" in done.stdout
    assert "dreamd.dream" not in done.stdout
    assert "dreamd.hand" not in done.stdout
