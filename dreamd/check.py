"""What stands in the way: the parts go in, findings come out, each with what to do. Changes nothing, pays at most one call."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct

from dreamd import files
from dreamd.calls import Prompt
from dreamd.config import Config, zone_of
from dreamd.errors import DreamdError
from dreamd.locks import DAEMON, holder
from dreamd.parts import Parts
from dreamd.sections import Agent
from dreamd.stores.base import Store
from dreamd.tail.logfile import COMPRESSED
from dreamd.tail.reading import read_path
from dreamd.tail.sources import Found, formats, own_files, places, scan

Level = Literal["ok", "warning", "error"]
SAMPLED_LOGS = 5  # the newest of an agent's logs are read as a trial
SAMPLED_BYTES = 16 << 20  # larger logs are not read as a trial
LLM_S = 60  # for the one call, waiting for agents' turns included
_LLM_WAITS = "`dreamd status --json` says under gate what calls wait for; else the server is slow"
_LET_READ = "let dreamd's user read it"


class Finding(Struct, frozen=True):
    """`about` is what was looked at (state, an agent's id, llm); `todo` is empty when all is well."""

    level: Level
    about: str
    what: str
    todo: str = ""


def of_state(parts: Parts) -> Iterator[Finding]:
    if not os.access(parts.state, os.W_OK):
        yield Finding(
            "error", "state", f"{parts.state} is not writable", "set state.dir, or mend its permissions"
        )
        return
    running = holder(parts.state / DAEMON)
    beside = f"; a daemon runs, pid {running.pid}" if running else ""
    yield Finding("ok", "state", f"{parts.state} opens and can be written{beside}")


def of_agents(parts: Parts, scratch: Callable[[], Store]) -> Iterator[Finding]:
    """Findings for every enabled agent; `scratch` makes an empty store for a trial reading."""
    if not parts.config.enabled:
        yield Finding("error", "agents", "no agent is configured", "run `dreamd init`")
    for name, agent in parts.config.enabled.items():
        yield from _of_logs(parts, name, agent, scratch)
        yield _of_workspace(name, agent)


def _of_logs(parts: Parts, name: str, agent: Agent, scratch: Callable[[], Store]) -> Iterator[Finding]:
    try:
        where = places(agent, formats(agent.format), Path.home())
    except DreamdError as error:
        yield Finding("error", name, error.what, error.hint)
        return
    refused: list[tuple[str, str]] = []
    own = own_files(parts.state, agent)
    logs = sorted(
        scan(where, own, lambda path, why: refused.append((path, why))), key=lambda log: -log.stamp.mtime_ns
    )
    for path, why in refused:
        todo = f"correct agents.{name}.logs, if the agent has run" if why == "not there" else _LET_READ
        yield Finding("error", name, f"{path} cannot be read: {why}", todo)
    if not logs and not refused:
        looked = ", ".join(sorted({place.base for place in where}))
        yield Finding("warning", name, f"no logs found in {looked}", f"set agents.{name}.logs")
    if logs:
        yield Finding("ok", name, f"logs found: {len(logs)}, zone {zone_of(agent).key}")
    yield from _of_understanding(name, agent, logs, scratch)


def _of_understanding(
    name: str, agent: Agent, logs: Sequence[Found], scratch: Callable[[], Store]
) -> Iterator[Finding]:
    known = {log.path for log in logs}
    small = (log for log in logs if 0 < log.stamp.size <= SAMPLED_BYTES and not _packed_twin(log.path, known))
    for log in islice(small, SAMPLED_LOGS):
        try:
            records = len(
                read_path(Path(log.path), format=agent.format or None, zone=zone_of(agent), store=scratch())
            )
        except DreamdError as error:
            todo = f"correct agents.{name}.format or .logs" if error.hint else _LET_READ
            yield Finding("error", name, error.what, todo)
            continue
        if records:
            yield Finding("ok", name, f"records understood in {log.path}: {records}")
        else:
            yield Finding(
                "warning", name, f"nothing understood in {log.path}", f"look at `dreamd read {log.path}`"
            )


def _packed_twin(path: str, known: Collection[str]) -> bool:
    """A compressed log beside the plain one, which is read instead."""
    return path.endswith(COMPRESSED) and path.removesuffix(COMPRESSED) in known


def _of_workspace(name: str, agent: Agent) -> Finding:
    workspace = agent.root
    if workspace is None:
        todo = f"set agents.{name}.workspace to have dailies and MEMORY.md written"
        return Finding("warning", name, "no workspace: its logs are read, nothing is written", todo)
    if workspace.exists() and not workspace.is_dir():
        return Finding(
            "error", name, f"the workspace {workspace} is no folder", f"set agents.{name}.workspace"
        )
    if not workspace.is_dir():
        return Finding("error", name, f"the workspace {workspace} is not there", f"mkdir -p {workspace}")
    if not os.access(workspace, os.W_OK | os.X_OK):
        return Finding(
            "error", name, f"the workspace {workspace} is not writable", "let dreamd's user write it"
        )
    try:
        files.read(files.confined(workspace / agent.memory_file, workspace))
    except DreamdError as error:
        return Finding("error", name, error.what, error.hint or "let dreamd's user read it, or move it aside")
    return Finding("ok", name, f"writes into {workspace}")


def of_gate(parts: Parts) -> Iterator[Finding]:
    """Numbers of [gate] and [budget] that do not go together."""
    found = [*_of_limits(parts.config), *_of_budget(parts.config)]
    yield from found or [Finding("ok", "gate", "its limits go together")]


def _of_limits(config: Config) -> Iterator[Finding]:
    gate, dreams = config.gate, config.llm.concurrency
    if gate.floor > gate.ceiling:
        what = f"gate.floor is {gate.floor}, above gate.ceiling, {gate.ceiling}"
        yield Finding("error", "gate", what, "set gate.floor to what the upstream surely takes")
    elif dreams > gate.ceiling:
        what = f"llm.concurrency is {dreams}, but gate.ceiling lets {gate.ceiling} calls through"
        yield Finding("warning", "gate", what, "lower llm.concurrency, or raise gate.ceiling")
    if gate.headroom >= gate.ceiling > 1:
        what = f"gate.headroom is {gate.headroom} of gate.ceiling, {gate.ceiling}: dreams go one at a time"
        yield Finding("warning", "gate", what, "lower gate.headroom")


def _of_budget(config: Config) -> Iterator[Finding]:
    budget = config.budget
    pairs = (
        ("tokens_per_day", budget.agent_tokens_per_day, budget.tokens_per_day),
        ("calls_per_hour", budget.agent_calls_per_hour, budget.calls_per_hour),
    )
    for name, of_one, of_all in pairs:
        if of_one > of_all > 0:
            what = f"budget.agent_{name} is {of_one}, more than all agents have together, {of_all}"
            yield Finding("warning", "budget", what, f"lower budget.agent_{name}, or raise budget.{name}")
    calls = (
        (config.daily.enabled, config.daily.max_input_tokens, "daily"),
        (config.dream.enabled, config.dream.max_input_tokens, "dream"),
        (config.deep_dream.enabled, config.deep_dream.max_input_tokens, "deep_dream"),
    )
    largest, phase = max(((tokens, name) for on, tokens, name in calls if on), default=(0, ""))
    for key, tokens in (("", budget.tokens_per_day), ("agent_", budget.agent_tokens_per_day)):
        if 0 < tokens <= largest:
            what = f"budget.{key}tokens_per_day is {tokens}; a call of {phase} may take {largest} and would never run"
            yield Finding("warning", "budget", what, f"raise it, or lower {phase}.max_input_tokens")


async def of_llm(parts: Parts) -> Finding:
    """One small call through the whole chain."""
    if parts.provider is None:
        return Finding(
            "warning", "llm", "none configured: dailies are rule-based, no Deep Dream", "set llm.provider"
        )
    if not parts.config.llm.model and parts.config.llm.provider != "scripted":
        return Finding("error", "llm", "no model is named", "set llm.model")
    prompt = Prompt(
        purpose="daily-summary",
        system="[dreamd:daily-summary] You are asked whether you can be reached.",
        user="Answer with the one word: yes",
        max_tokens=256,  # thinking models spend some before they answer
    )
    provider, reply = parts.provider("check"), None
    try:
        with anyio.move_on_after(LLM_S):
            reply = await provider.complete(prompt)
    except DreamdError as error:
        return Finding("error", "llm", error.what, error.hint)
    finally:
        await provider.aclose()
    if reply is None:
        return Finding("warning", "llm", f"no answer within {LLM_S} s", _LLM_WAITS)
    model = reply.model or parts.config.llm.model
    return Finding("ok", "llm", f"{parts.config.llm.provider} answers as {model}")
