"""What a person wants forgotten in; first what would go, then, when the person agrees, it is gone for good.

Law: never more goes than was shown; nothing of it stays as bytes in the state folder or in what dreamd wrote, nor comes
back when the logs are read again. One transaction takes it out of the store and says what is left to do; a crash at any
instant leaves it not begun, or to be finished by `finish` at the next start.
"""

import glob
import re
from contextlib import AsyncExitStack, suppress
from typing import Literal

import msgspec
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd import files
from dreamd.deep_dream import writing
from dreamd.deep_dream.sources import place_of
from dreamd.errors import (
    DiskFull,
    DreamdError,
    FileChanged,
    NothingToDo,
    StateLocked,
    StoreBusy,
    UsageError,
    WorkspaceError,
)
from dreamd.events import MEMORIES_FORGOTTEN
from dreamd.hand.cascade import Cascade, cascade
from dreamd.hand.matching import plain_of
from dreamd.hand.named import readable
from dreamd.hand.pages import without
from dreamd.hand.plan import LEFT, Forgotten, Going, Line, Plan, Weakened, Wish, digest_of, more_than_shown
from dreamd.hand.remains import Cut, Remains, remains
from dreamd.locks import dream_lock, exclusive, one_night
from dreamd.memories import THERE, Memory
from dreamd.parts import Parts
from dreamd.recall.following import follow
from dreamd.stores._forgetting import mark_of
from dreamd.stores.base import Changes, Erased, Mark, MemoryQuery

__all__ = ["Forgotten", "Going", "Line", "Plan", "Weakened", "Wish", "finish", "forget", "plan_forget"]

_PAGES = 20  # of memories that the index may be behind
_WAIT_S = 5.0  # for a dream that is under way
_LEAST = re.compile(
    r"\w.*\w.*\w|[\u2e80-\U0003ffff].*[\u2e80-\U0003ffff]", re.DOTALL
)  # of a text to look for


class Left(Struct, frozen=True):
    """What is left to do: `cuts` in files, then to `purge` what the databases' files still hold."""

    step: Literal["files", "purge"]
    cuts: tuple[Cut, ...] = ()
    memories: tuple[str, ...] = ()
    lines: int = 0
    paths: tuple[str, ...] = ()


async def plan_forget(parts: Parts, wish: Wish) -> Plan:
    """What would go; changes nothing.

    Raises UsageError (no such memory, a text too short to mean one thing, nothing asked), WorkspaceError, StoreError.
    """
    _check(parts, wish)
    return await to_thread.run_sync(lambda: _planned(parts, wish)[0])


async def forget(parts: Parts, plan: Plan) -> Forgotten:
    """Do what the plan says.

    Raises NothingToDo (an empty plan), FileChanged (by now more would go than was shown: plan again), StateLocked (a
    night or dream is under way), WorkspaceError (a file cannot be written; nothing was begun), DiskFull, StoreError.
    After an error that comes later than the first write, `finish` does the rest: what can be cleaned now is clean.
    """
    if plan.empty:
        raise NothingToDo("nothing of that is known", hint="`dreamd memories` lists what is")
    _check(parts, plan.wish)
    async with AsyncExitStack() as held:
        await _alone(parts, held)
        return await to_thread.run_sync(_forget, parts, plan)


async def finish(parts: Parts) -> Forgotten | None:
    """Finish what a crash or an error left half forgotten, if anything. Raises as `forget`."""
    if not await to_thread.run_sync(parts.store.meta, LEFT):
        return None
    async with AsyncExitStack() as held:
        await _alone(parts, held)
        return await to_thread.run_sync(_finish, parts)


async def attempt(parts: Parts) -> str:
    """`finish`, and what keeps it from being finished now, "" when nothing does. Time may mend that. Raises StoreError."""
    try:
        await finish(parts)
    except (WorkspaceError, FileChanged, DiskFull, StateLocked, StoreBusy) as error:
        return str(error)
    return ""


async def _alone(parts: Parts, held: AsyncExitStack) -> None:
    """Lock out every night and dream: they would write anew what is being forgotten."""
    await held.enter_async_context(one_night(parts.state, parts.clock))
    for agent in sorted(parts.config.agents):
        lock = exclusive(parts.state / dream_lock(agent), parts.clock, what=f"{agent} dreams", wait_s=_WAIT_S)
        await held.enter_async_context(lock)


def _check(parts: Parts, wish: Wish) -> None:
    if wish.agent is not None:
        parts.config.agent(wish.agent)
    if bool(wish.ids) == bool(wish.matching.strip()):
        raise UsageError("say what to forget", hint="memories by their ids, or all that hold a text")
    if wish.matching and not _LEAST.search(plain_of(readable(wish.matching))):
        raise UsageError(f"{wish.matching!r} stands in too much", hint="write more of it")


# --- what would go ---


def _planned(parts: Parts, wish: Wish) -> tuple[Plan, Cascade, Remains]:
    fall = cascade(parts, wish)
    rest = remains(parts, fall, _agents(parts, wish, fall))
    going = tuple(_going(one.memory, one.why) for one in fall.gone.values())
    weakened = tuple(
        Weakened(memory_id=one.memory_id, agent=one.agent, text=one.content, status=one.status)
        for one in fall.weakened
        if one.type == "insight"
    )
    plan = Plan(
        wish=wish,
        memories=going,
        lines=rest.lines,
        weakened=weakened,
        stays=rest.stays,
        mentions=tuple(_going(one, "rests") for one in fall.mentions),
        elsewhere=rest.elsewhere,
    )
    ids = (one.memory_id for one in going)
    lines = ((one.file, one.text) for one in rest.lines)
    weak = ((one.memory_id, one.status) for one in weakened)
    return replace(plan, digest=digest_of(ids, lines, weak, rest.elsewhere)), fall, rest


def _going(memory: Memory, why: Literal["asked", "source", "copy", "rests"]) -> Going:
    text = memory.content or (memory.trace.arguments or memory.trace.result if memory.trace else memory.tool)
    return Going(
        memory_id=memory.memory_id,
        agent=memory.agent,
        type=memory.type,
        status=memory.status,
        text=text,
        why=why,
    )


def _agents(parts: Parts, wish: Wish, fall: Cascade) -> list[str]:
    """Whose files and lines may hold it."""
    if wish.matching and wish.agent is None:
        former = {row.agent for row in parts.store.ledger()}
        return sorted({*parts.config.agents, *former})
    named = {wish.agent} if wish.agent else set()
    return sorted({*named, *(one.memory.agent for one in fall.gone.values())})


# --- doing it ---


def _forget(parts: Parts, shown: Plan) -> Forgotten:
    for agent in parts.config.agents:
        with suppress(FileChanged):  # then it is given up
            writing.resume(parts, agent)  # what a crash left of a rewrite must not be written after this
    _finish(parts)
    plan, fall, rest = _planned(parts, _still_there(parts, shown))
    if more_than_shown(shown, plan):
        raise FileChanged("by now more would go than was shown", hint="look again; nothing was forgotten")
    for cut in rest.cuts:
        files.writable(cut.path, cut.root)
    left = Left("files", rest.cuts, tuple(fall.gone), len(rest.lines))
    parts.store.write(_changes(parts, plan.wish, fall, rest, left))
    done = _finish(parts)
    return done or Forgotten(memories=0, lines=0)


def _still_there(parts: Parts, shown: Plan) -> Wish:
    """The wish, by whole ids of what was asked and has not gone meanwhile."""
    if not shown.wish.ids:
        return shown.wish
    asked = tuple(one.memory_id for one in shown.memories if one.why == "asked")
    left = [one.memory_id for one in parts.store.memories(MemoryQuery(ids=asked, statuses=THERE))]
    if not left:
        raise NothingToDo("all of that has been forgotten already")
    return replace(shown.wish, ids=tuple(left))


def _changes(parts: Parts, wish: Wish, fall: Cascade, rest: Remains, left: Left) -> Changes:
    raws = [one.memory for one in fall.gone.values() if one.memory.type == "raw"]
    marks = {mark_of(memory.content, wish.agent or "") for memory in raws} - {""}
    agents = {one.memory.agent for one in fall.gone.values()} | {line.agent for line in rest.lines}
    erased = Erased(
        at=parts.clock.now(),
        memories=tuple(fall.gone),
        marks=tuple(sorted(marks)),
        lines=rest.erased,
        versions=rest.versions,
        held=tuple(one.held_id for one in rest.held),
        agents=tuple(sorted(agents)),
        texts=tuple(dict.fromkeys((*fall.texts, wish.matching))),
    )
    return Changes(
        erased=erased,
        replaced=fall.weakened,
        lines=rest.evidence,
        ledger=rest.ledger,
        meta={**rest.meta, LEFT: _encoded(left)},
        durable=True,
    )


def _encoded(left: Left | None) -> str:
    return msgspec.json.encode(left, enc_hook=str).decode() if left else ""


def _finish(parts: Parts) -> Forgotten | None:
    """What is left to do, step by step; each may be done again."""
    kept = parts.store.meta(LEFT)
    if not kept:
        return None
    left = msgspec.json.decode(kept, type=Left, dec_hook=lambda kind, value: kind(value))
    failed = None
    if left.step == "files":
        left, failed = _cut_all(left)
        _sweep(parts)
        parts.store.write(Changes(meta={LEFT: _encoded(left)}, durable=True))
    _purge(parts)
    if failed:
        raise failed
    parts.store.write(Changes(meta={LEFT: ""}, durable=True))
    parts.emit(MEMORIES_FORGOTTEN, memories=len(left.memories), lines=left.lines, files=list(left.paths))
    return Forgotten(memories=len(left.memories), lines=left.lines, files=left.paths)


def _cut_all(left: Left) -> tuple[Left, DreamdError | None]:
    """What is left then: one file that cannot be written now keeps no other, and not the pool, from being cleaned."""
    changed, still, failed = list(left.paths), [], None
    for cut in left.cuts:
        try:
            changed += [str(cut.path)] if _cut(cut) else []
        except (WorkspaceError, FileChanged, DiskFull) as error:
            still.append(cut)
            failed = error
    step: Literal["files", "purge"] = "files" if still else "purge"
    return replace(left, step=step, cuts=tuple(still), paths=tuple(changed)), failed


def _cut(cut: Cut) -> bool:
    """Whether the file changed by it."""
    if not cut.root.is_dir():  # not mounted now: the file in it is not gone
        raise WorkspaceError(f"the workspace {cut.root} is missing", hint="mount it: it is tried again")
    gone = frozenset(cut.raws)
    done = files.edit(cut.path, lambda text: without(text, cut.page, gone), root=cut.root)
    return done.after != done.before


def _sweep(parts: Parts) -> None:
    """Take away what a crash left of dreamd's own writes: files as they were, or were to be."""
    for agent_id, agent in parts.config.agents.items():
        with suppress(WorkspaceError):
            place = place_of(agent, agent_id)
            memory = files.confined(place.memory, place.root)
            for stray in (
                *memory.parent.glob(f".{glob.escape(memory.name)}.{_RANDOM}.tmp"),
                *(stray for folder in (place.dailies, place.diaries) for stray in folder.glob(_DAYS)),
            ):
                stray.unlink(missing_ok=True)


_RANDOM = "[0-9a-f]" * 12
_DAYS = f".????-??-??.md.{_RANDOM}.tmp"


def _purge(parts: Parts) -> None:
    """Leave no byte of it in the databases' files. An index that is far behind, or has no room, is made anew."""
    parts.store.purge()
    if parts.index is not None and parts.index.mark() != Mark():
        try:
            if follow(parts.store, parts.index, pages=_PAGES):
                return parts.index.scrub()
        except DiskFull:
            pass
        parts.index.clear()
    return None
