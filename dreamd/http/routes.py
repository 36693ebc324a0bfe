"""The paths of the face: each decodes what it is asked, calls one verb, and gives back what that returns."""

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from itertools import islice
from typing import Any, Literal

from anyio import to_thread
from msgspec import Struct

from dreamd.dream.phase import Dreamt, dream
from dreamd.errors import DreamdError
from dreamd.hand.correct import correct
from dreamd.hand.evidence import Node, evidence
from dreamd.hand.forget import Wish, forget, plan_forget
from dreamd.hand.pin import pin, unpin
from dreamd.hand.remember import remember
from dreamd.http import shapes
from dreamd.http.desk import Desk
from dreamd.http.jobs import Job, NightDone
from dreamd.http.problems import Refused
from dreamd.http.tracing import append
from dreamd.memories import Memory
from dreamd.night.due import wanted
from dreamd.night.known import known
from dreamd.night.run import run_night, totals
from dreamd.parts import Parts
from dreamd.recall.answer import Recalled
from dreamd.recall.recalling import recall
from dreamd.status import Status, status
from dreamd.stores.base import MemoryQuery
from dreamd.tail.sync import sync

PAGE_BYTES = 512 << 10  # of content, after which a page ends early

Handle = Callable[[Desk, Any], Awaitable[Struct]]


class Route(Struct, frozen=True, kw_only=True):
    """`asked` is decoded from the path and the query (GET) or the body (POST). `changes` needs the token over TCP."""

    method: Literal["GET", "POST"]
    path: str
    about: str
    asked: type[shapes.Asked] = shapes.Nothing
    answer: type[Struct]
    handle: Handle
    changes: bool = False
    status: int = 200

    @property
    def name(self) -> str:
        """Unique: `post_v1_recall`."""
        return re.sub(r"\W+", "_", f"{self.method.lower()}{self.path}").strip("_")


async def recalled(desk: Desk, asked: shapes.Goal) -> Recalled:
    agents = _known(desk.parts, asked.agents)
    return await recall(desk.parts, asked.goal, agents=agents, budget=asked.budget, as_of=asked.as_of)


async def memories(desk: Desk, asked: shapes.Listing) -> shapes.Page:
    if asked.agent is not None:
        _known(desk.parts, [asked.agent])
    return await desk.run(_page, desk.parts, asked)


def _page(parts: Parts, asked: shapes.Listing) -> shapes.Page:
    query = MemoryQuery(
        agent=asked.agent,
        types=(asked.type,) if asked.type else (),
        statuses=(asked.status,) if asked.status else (),
        window=asked.day,
        after_seq=asked.after,
        limit=asked.limit,
    )
    found: list[Memory] = []
    size = 0
    for memory in parts.store.memories(query):
        found.append(memory)
        size += len(memory.content)
        if size > PAGE_BYTES:
            break
    full = len(found) == asked.limit or size > PAGE_BYTES
    return shapes.Page(tuple(map(shapes.pooled, found)), found[-1].seq if full else None)


async def memory(desk: Desk, asked: shapes.Named) -> shapes.Pooled:
    return shapes.pooled(await desk.run(_one, desk.parts, asked.id))


def _one(parts: Parts, memory_id: str) -> Memory:
    """Raises Refused when no memory's id begins so, or those of several."""
    found = list(islice(parts.store.memories(MemoryQuery(id_prefix=memory_id, limit=2)), 2))
    if not found:
        raise Refused(404, "no such memory")
    if len(found) > 1:
        raise Refused(409, "several memories begin so", hint="give more of the id")
    return found[0]


async def grounds(desk: Desk, asked: shapes.Named) -> Node:
    one = await desk.run(_one, desk.parts, asked.id)
    return await evidence(desk.parts, one.memory_id)


async def grounds_of(desk: Desk, asked: shapes.Grounds) -> Node:
    return await evidence(desk.parts, asked.of)


async def told(desk: Desk, asked: shapes.Telling) -> shapes.Kept:
    agent = asked.agent or _only(desk.parts)
    _known(desk.parts, [agent])
    kept = await remember(
        desk.parts,
        asked.text,
        agent=agent,
        kind=asked.kind,
        applies_when=asked.applies_when,
        pinned=asked.pinned,
    )
    record = shapes.pooled(kept.record) if kept.record else None
    return shapes.Kept(shapes.pooled(kept.insight), record, kept.new)


async def pinned(desk: Desk, asked: shapes.Named) -> shapes.Pooled:
    return shapes.pooled(await pin(desk.parts, asked.id))


async def unpinned(desk: Desk, asked: shapes.Named) -> shapes.Pooled:
    return shapes.pooled(await unpin(desk.parts, asked.id))


async def corrected(desk: Desk, asked: shapes.Correcting) -> shapes.Corrected:
    done = await correct(desk.parts, asked.id, asked.text)
    return shapes.Corrected(shapes.pooled(done.old), shapes.pooled(done.new))


async def forgotten(desk: Desk, asked: shapes.Forgetting) -> shapes.ForgetAnswer:
    """Raises Refused when what was confirmed is not what would go by now."""
    if asked.agent is not None:
        _known(desk.parts, [asked.agent])
    plan = await plan_forget(desk.parts, Wish(ids=asked.ids, matching=asked.matching, agent=asked.agent))
    if not asked.confirm:
        return shapes.ForgetAnswer(plan)
    if asked.confirm != plan.digest:
        raise Refused(
            409, "by now something else would go", hint="look at the plan again, confirm its digest"
        )
    return shapes.ForgetAnswer(plan, await forget(desk.parts, plan))


async def agents(desk: Desk, _asked: shapes.Nothing) -> shapes.Agents:
    return shapes.Agents((await stands(desk, _asked)).agents)


async def stands(desk: Desk, _asked: shapes.Nothing) -> Status:
    return await desk.run(status, desk.parts)


async def nights(desk: Desk, asked: shapes.NightAsked) -> Job:
    chosen = _known(desk.parts, asked.agents)
    return desk.jobs.start("night", _Night(chosen, asked))


class _Night:
    """A night that was asked for, of the same day however often it is begun."""

    def __init__(self, chosen: Sequence[str] | None, asked: shapes.NightAsked) -> None:
        self._chosen, self._asked, self._day = chosen, asked, asked.day

    async def __call__(self, parts: Parts) -> NightDone:
        chosen, asked = self._chosen, self._asked
        if self._day is None:
            self._day = await to_thread.run_sync(_newest, parts, chosen, asked.dry_run)
        outcomes = await run_night(parts, self._day, agents=chosen, force=asked.force, dry_run=asked.dry_run)
        return NightDone(self._day, tuple(outcomes), totals(outcomes))


def _newest(parts: Parts, chosen: Sequence[str] | None, dry_run: bool) -> date:
    """The logs must have been read to know it."""
    those = list(parts.config.enabled) if chosen is None else chosen
    if not dry_run:
        sync(parts, those)
    return wanted(known(parts), those)


async def dreams(desk: Desk, asked: shapes.DreamsAsked) -> Job:
    chosen = _known(desk.parts, asked.agents) or list(desk.parts.config.enabled)
    return desk.jobs.start("dreams", _Dreams(chosen, asked))


class _Dreams:
    """Dreams that were asked for, one of each agent however often they are begun."""

    def __init__(self, chosen: Sequence[str], asked: shapes.DreamsAsked) -> None:
        self._chosen, self._asked = chosen, asked
        self._dreamt: list[Dreamt] = []

    async def __call__(self, parts: Parts) -> tuple[Dreamt, ...]:
        asked = self._asked
        if not asked.dry_run:
            await to_thread.run_sync(sync, parts, self._chosen)
        for one in self._chosen[len(self._dreamt) :]:
            self._dreamt.append(await dream(parts, one, force=asked.force, dry_run=asked.dry_run))
        return tuple(self._dreamt)


async def job(desk: Desk, asked: shapes.JobNamed) -> Job:
    return desk.jobs.of(asked.id)


async def traces(desk: Desk, asked: shapes.Traces) -> shapes.Told:
    _known(desk.parts, [asked.agent])
    return await desk.run(append, desk.parts, asked)


async def healthy(_desk: Desk, _asked: shapes.Nothing) -> shapes.Health:
    return shapes.Health()


async def ready(desk: Desk, _asked: shapes.Nothing) -> shapes.Health:
    """Raises Refused while the logs are being read for the first time, when a task keeps failing or the store does."""
    if not desk.ready():
        raise Refused(503, "dreamd is not ready", hint="see `dreamd status`")
    try:
        await desk.run(desk.parts.store.meta, "night.seed")
    except DreamdError as error:
        raise Refused(503, f"the store does not answer: {error.what}") from error
    return shapes.Health()


def _known(parts: Parts, agents: Sequence[str] | None) -> Sequence[str] | None:
    """Raises Refused for one that is not configured."""
    for name in agents or ():
        if name not in parts.config.agents:
            raise Refused(404, "no such agent", hint="GET /v1/agents lists them")
    return agents


def _only(parts: Parts) -> str:
    enabled = list(parts.config.enabled)
    if len(enabled) != 1:
        raise Refused(409, f"{len(enabled)} agents are configured", hint="say which: `agent`")
    return enabled[0]


ROUTES = (
    Route(
        method="POST", path="/v1/recall", asked=shapes.Goal, answer=Recalled, handle=recalled,
        about="The conclusions that bear on a goal, then records; with text that is ready for a prompt",
    ),
    Route(
        method="GET", path="/v1/memories", asked=shapes.Listing, answer=shapes.Page, handle=memories,
        about="What is in the pool, page by page",
    ),
    Route(
        method="GET", path="/v1/memories/{id}", asked=shapes.Named, answer=shapes.Pooled, handle=memory,
        about="One memory",
    ),
    Route(
        method="GET", path="/v1/memories/{id}/evidence", asked=shapes.Named, answer=Node, handle=grounds,
        about="What a memory rests on, down to the bytes in the log",
    ),
    Route(
        method="GET", path="/v1/evidence", asked=shapes.Grounds, answer=Node, handle=grounds_of,
        about="What a line of MEMORY.md, a daily or a diary rests on; or a memory",
    ),
    Route(
        method="POST", path="/v1/remember", asked=shapes.Telling, answer=shapes.Kept, handle=told,
        about="Keep a text for good, as the person's own word", changes=True,
    ),
    Route(
        method="POST", path="/v1/pin", asked=shapes.Named, answer=shapes.Pooled, handle=pinned,
        about="Keep an insight from fading, and always recall it", changes=True,
    ),
    Route(
        method="POST", path="/v1/unpin", asked=shapes.Named, answer=shapes.Pooled, handle=unpinned,
        about="Let a pinned insight fade again", changes=True,
    ),
    Route(
        method="POST", path="/v1/correct", asked=shapes.Correcting, answer=shapes.Corrected, handle=corrected,
        about="Put an insight right; what was wrong stays as history", changes=True,
    ),
    Route(
        method="POST", path="/v1/forget", asked=shapes.Forgetting, answer=shapes.ForgetAnswer, handle=forgotten,
        about="See what forgetting would do; confirm it and it is done, for good", changes=True,
    ),
    Route(method="GET", path="/v1/agents", answer=shapes.Agents, handle=agents, about="The agents and how they stand"),
    Route(method="GET", path="/v1/status", answer=Status, handle=stands, about="How things stand, and what is wrong"),
    Route(
        method="POST", path="/v1/nights", asked=shapes.NightAsked, answer=Job, handle=nights,
        about="Run a night now", changes=True, status=202,
    ),
    Route(
        method="POST", path="/v1/dreams", asked=shapes.DreamsAsked, answer=Job, handle=dreams,
        about="Dream now", changes=True, status=202,
    ),
    Route(method="GET", path="/v1/jobs/{id}", asked=shapes.JobNamed, answer=Job, handle=job, about="What became of it"),
    Route(
        method="POST", path="/v1/traces", asked=shapes.Traces, answer=shapes.Told, handle=traces,
        about="Append to the trace log of an agent that has no log of its own", changes=True,
    ),
    Route(method="GET", path="/healthz", answer=shapes.Health, handle=healthy, about="The process answers"),
    Route(method="GET", path="/readyz", answer=shapes.Health, handle=ready, about="The logs are read and nothing fails"),
)  # fmt: skip
