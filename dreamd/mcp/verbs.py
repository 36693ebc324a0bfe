"""What the five tools do, each with the call and its arguments; loaded at the first call, for a client waits for its tools.

Law: recalling and looking are free; a model's word alone is never kept as a person's, and makes nothing forgotten: the
person is shown what would go and says yes, to this very question, or does it with the command.
"""

from contextlib import suppress
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from anyio import to_thread

from dreamd.config import local_zone_name, zone_of
from dreamd.errors import StoreBusy, UsageError
from dreamd.hand import evidence as hand_evidence
from dreamd.hand.forget import Plan, Wish, plan_forget
from dreamd.hand.forget import forget as forget_memories
from dreamd.hand.remember import remember as remember_words
from dreamd.mcp import telling
from dreamd.mcp.asked import asked_words
from dreamd.mcp.tools import (
    Ask,
    Call,
    EvidenceArguments,
    ForgetArguments,
    RecallArguments,
    RememberArguments,
    StatusArguments,
)
from dreamd.parts import Parts
from dreamd.recall import recalling
from dreamd.status import status as status_of
from dreamd.tail.sync import sync

_LOOKS_S = (0.0, 0.3, 1.7)  # before each look into the logs: agents write them a moment late


async def recall(call: Call, arguments: RecallArguments) -> str:
    agents = call.agents(arguments.agent)
    day = arguments.as_of
    as_of = await to_thread.run_sync(_end_of, day, call.parts, agents) if day else None
    found = await recalling.recall(
        call.parts, arguments.goal, agents=agents, budget=arguments.budget, as_of=as_of
    )
    return found.text or "Nothing in memory bears on this."


def _end_of(day: date, parts: Parts, agents: list[str] | None) -> datetime:
    """By the clock of the agent, or of this machine when there are several. Blocking: zones lie in files."""
    zone = zone_of(parts.config.agent(agents[0])) if agents else ZoneInfo(local_zone_name())
    return datetime.combine(day, time.max, zone)


async def evidence(call: Call, arguments: EvidenceArguments) -> str:
    return telling.evidence(await hand_evidence.evidence(call.parts, arguments.what), arguments.budget)


async def remember(call: Call, arguments: RememberArguments) -> str:
    agent = call.one_agent(arguments.agent)
    text = await _words(call.parts, agent, arguments.text)
    if not text:
        await _confirmed(call.ask, arguments.text)
    kept = await remember_words(call.parts, text or arguments.text, agent=agent)
    known = "" if kept.new else " (it was known already)"
    return f"Remembered{known}, {kept.insight.memory_id[:8]}: {kept.insight.content}"


async def _words(parts: Parts, agent: str, wish: str) -> str:
    """As `asked_words`. What is not there is looked for in the logs: a person's line may have been written only just now."""
    found = await to_thread.run_sync(asked_words, parts, agent, wish)
    for pause_s in _LOOKS_S:
        if found:
            break
        await parts.clock.sleep(pause_s)
        found = await to_thread.run_sync(_newest_words, parts, agent, wish)
    return found


def _newest_words(parts: Parts, agent: str, wish: str) -> str:
    """Beside a daemon too, which may not be so far yet. Blocking."""
    with suppress(StoreBusy):  # the daemon reads
        sync(parts, [agent])
    return asked_words(parts, agent, wish)


async def _confirmed(ask: Ask, text: str) -> None:
    """Raises UsageError unless the person at the client says yes."""
    answer = await ask(f"Shall dreamd remember this for good, as your own word? {text}")
    if answer is None:
        raise UsageError(
            "no record shows that the person asked to remember this, so it was not kept",
            hint='the person can say "remember: ...", or run `dreamd remember`; dreams find by themselves what recurs',
        )
    if not answer:
        raise UsageError("the person declined, so it was not kept")


async def forget(call: Call, arguments: ForgetArguments) -> str:
    agents = call.agents(arguments.agent)
    wish = Wish(ids=arguments.ids, matching=arguments.matching, agent=agents[0] if agents else None)
    shown = await plan_forget(call.parts, wish)
    answer = None if shown.empty else await call.ask(telling.question(shown))
    if answer is None:
        return telling.plan(shown)
    if not answer:
        raise UsageError("the person declined, so nothing was forgotten")
    return telling.forgotten(await forget_memories(call.parts, await _said_again(call.parts, shown)))


async def _said_again(parts: Parts, shown: Plan) -> Plan:
    """The plan as it is by now, where nothing came but the same words once more: this very call stands in a log, too."""
    now = await plan_forget(parts, shown.wish)
    known = {one.memory_id for one in shown.memories}
    echoed = all(one.memory_id in known or one.why in ("asked", "copy") for one in now.memories)
    same = (now.lines, now.weakened, now.elsewhere) == (shown.lines, shown.weakened, shown.elsewhere)
    return now if shown.wish.matching and echoed and same else shown


async def status(call: Call, _: StatusArguments) -> str:
    return telling.status(await to_thread.run_sync(status_of, call.parts))
