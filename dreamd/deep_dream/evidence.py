"""What a line rests on, as a tree down to the log: MEMORY.md -> daily lines and insights -> records and their spans."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dreamd import files
from dreamd.deep_dream import memory_file
from dreamd.deep_dream.memory_file import Block
from dreamd.deep_dream.sources import Place, place_of
from dreamd.errors import UsageError, WorkspaceError
from dreamd.memories import STATUSES, Memory, memory_ids
from dreamd.parts import Parts
from dreamd.records import Span
from dreamd.stores.base import MemoryQuery

Check = Callable[[Span, str], str]  # whether a record still stands at that path: verified, changed or gone


class Verdict(Struct, frozen=True):
    """Of an insight: how sure it is by now, what it still lacks to be believed for good, what contradicts it (sentences)."""

    confidence: float | None = None
    lacks: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


Judge = Callable[[Memory], Verdict]


def unjudged(_insight: Memory) -> Verdict:
    return Verdict()


class Node(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line, a memory or a record, and what it rests on.

    `file` and `line` say where it stands, `offset` and `length` (bytes) or `table` and `row` where in a log.
    `standing` of a record: verified (the log still has these bytes), changed or gone (`text` is the pool's copy, or, if
    `archived`, that of an archive file), told (to dreamd, by the person: no log ever had it).
    `note` says why a chain ends here. Of an insight `status` and `confidence` say how it stands, `lacks` what it still
    lacks for promotion, `against` what contradicts it; a `summary` is a step that a dream took on the way to it.
    """

    kind: Literal["line", "daily", "insight", "summary", "found", "record", "unknown"]
    text: str
    memory_id: str = ""
    file: str = ""
    line: int = 0
    offset: int | None = None
    length: int = 0
    table: str = ""
    row: str = ""
    role: str = ""
    at: datetime | None = None
    standing: str = ""
    archived: bool = False
    note: str = ""
    status: str = ""
    confidence: float | None = None
    lacks: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    rests_on: tuple["Node", ...] = ()


def of_line(parts: Parts, file: Path, line: int, check: Check, judge: Judge = unjudged) -> Node:
    """The chain under a line of some agent's MEMORY.md, daily or diary. Blocking.

    Of agents that share the file, or had another name once, the one that wrote the line. Raises UsageError when the
    file is no agent's or the line no entry (of a diary: nor a sentence).
    """
    owners = list(_owners(parts, file))
    if not owners:  # nothing of it is read, nor is it told whether it is there
        raise UsageError(
            f"{file} is no agent's MEMORY.md, daily or diary", hint="`dreamd status` lists the agents"
        )
    content = files.read(file)
    if not content.exists:
        raise UsageError(f"no file {file}", hint=_NAME_IT)
    block = _block_at(file, content.text, line, prose=owners[0].what == "diary")
    former = {row.agent for row in parts.store.ledger()} - set(parts.config.agents)
    owners += [replace(owners[0], agent=agent) for agent in sorted(former)]
    trees = [(owner, _Tree(parts, owner.agent, owner.place, check, judge)) for owner in owners]
    found = [_line_of(parts, tree, owner, file, block) for owner, tree in trees]
    return next((node for node in found if node.rests_on), found[0])


_NAME_IT = "name a line of MEMORY.md, a daily or a diary: FILE:LINE"
_BULLET = "name the line of a bullet"


def _block_at(file: Path, text: str, line: int, *, prose: bool) -> Block:
    """The block of that line. Raises UsageError when it is not there or can rest on nothing."""
    blocks = memory_file.parse(text)
    block = next((b for b in blocks if b.line <= line < b.line + max(1, b.raw.count("\n"))), None)
    if block is None:
        count = len(text.splitlines())
        raise UsageError(f"{file} has no line {line}: it has {count}", hint="lines count from 1")
    raw = block.raw.strip()
    if block.kind == "heading" or not raw or raw.startswith("<!--"):
        what = "a heading" if block.kind == "heading" else "a mark, no entry" if raw else "blank"
        raise UsageError(f"{file}:{line} is {what}", hint=_BULLET)
    if block.kind == "other" and not prose:
        raise UsageError(f"{file}:{line} is free text, which dreamd neither writes nor changes", hint=_BULLET)
    return block


def _line_of(parts: Parts, tree: "_Tree", owner: "_Owner", file: Path, block: Block) -> Node:
    if owner.what == "daily" and owner.day:
        children, note = tree.of_daily(owner.day, block.text)
    elif owner.what == "diary" and owner.day:
        children = tree.of_told(block.text)
        note = "" if children else _ACCOUNT.format(daily=owner.place.daily(owner.day))
    else:
        evidence = parts.store.evidence(owner.agent).get(block.text)
        children = tree.of_refs(evidence.ref_ids) if evidence else ()
        note = "" if evidence else "dreamd did not write this line and has not dreamt since it came"
    text = block.text or block.raw.strip()
    return Node(kind="line", text=text, file=str(file), line=block.line, rests_on=children, note=note)


_ACCOUNT = "the night's own account of what it did, no memory: audited against the sources of that night, such as {daily}"


def of_memory(parts: Parts, memory: Memory, check: Check, judge: Judge = unjudged) -> Node:
    """The chain under a memory of the pool. Blocking."""
    return _Tree(parts, memory.agent, None, check, judge).of_memory(memory)


class _Owner(Struct, frozen=True):
    agent: str
    place: Place
    what: Literal["memory", "daily", "diary"]
    day: date | None = None


def _owners(parts: Parts, file: Path) -> Iterator[_Owner]:
    """Whose file it is, and what: agents may share one."""
    real = file.resolve()
    for agent_id, agent in parts.config.agents.items():
        try:
            place = place_of(agent, agent_id)
        except WorkspaceError:
            continue
        day = _day(real.stem)
        if real == place.memory.resolve():
            yield _Owner(agent_id, place, "memory")
        elif day and real.parent == place.dailies.resolve():
            yield _Owner(agent_id, place, "daily", day)
        elif day and real.parent == place.diaries.resolve():
            yield _Owner(agent_id, place, "diary", day)


def _day(stem: str) -> date | None:
    try:
        return date.fromisoformat(stem)
    except ValueError:
        return None


_VERSION = re.compile(r"version:(\d+)#(\d+)")


class _Tree:
    """Builds nodes for one agent."""

    def __init__(self, parts: Parts, agent: str, place: Place | None, check: Check, judge: Judge) -> None:
        self.store = parts.store
        self.judge = judge
        self.agent = agent
        self.place = place
        self.check = check
        self.paths = {cursor.source_id: cursor.path for cursor in parts.store.cursors()}
        self.seen: set[str] = set()

    def of_daily(self, day: date, text: str) -> tuple[tuple[Node, ...], str]:
        query = MemoryQuery(agent=self.agent, types=("summary",), window=day, statuses=STATUSES)
        lines = (one for one in self.store.memories(query) if one.status != "dreamt")
        memory = next((one for one in lines if one.content == text), None)
        if memory is None:
            return (), "dreamd did not write this line"
        return self.of_refs(memory.ref_ids), ""

    def of_told(self, text: str) -> tuple[Node, ...]:
        """Under a line that the diary lists: an entry written, merged (`old → new`) or retired (`old: why`), or a candidate."""
        evidence = self.store.evidence(self.agent)
        said = (text, text.rpartition(" → ")[2], *(line for line in evidence if text.startswith(f"{line}: ")))
        line = next((line for line in said if line in evidence), None)
        if line is not None:
            return self.of_refs(evidence[line].ref_ids)
        query = MemoryQuery(agent=self.agent, types=("insight",), statuses=STATUSES)
        waiting = next((memory for memory in self.store.memories(query) if memory.content == text), None)
        return (self.of_memory(waiting),) if waiting else ()

    def of_refs(self, refs: Sequence[str]) -> tuple[Node, ...]:
        ids = tuple(ref for ref in memory_ids(refs) if ref not in self.seen)
        self.seen.update(ids)
        query = MemoryQuery(ids=ids, statuses=STATUSES)
        memories = {memory.memory_id: memory for memory in self.store.memories(query)} if ids else {}
        return tuple(self._nodes(refs, memories))

    def _nodes(self, refs: Sequence[str], memories: dict[str, Memory]) -> Iterator[Node]:
        for ref in refs:
            if ref in memories:
                yield self.of_memory(memories[ref])
            elif found := _VERSION.fullmatch(ref):
                yield self._found(int(found[1]), int(found[2]))
            elif ref not in self.seen:
                yield Node(kind="unknown", text="", memory_id=ref, note="no longer in the pool")

    def of_memory(self, memory: Memory) -> Node:
        if memory.type == "raw":
            return self._record(memory)
        return self._insight(memory) if memory.type == "insight" else self._summary(memory)

    def _summary(self, memory: Memory) -> Node:
        dreamt = memory.status == "dreamt"
        file, line = ("", 0) if dreamt else self._place_in_daily(memory)
        return Node(
            kind="summary" if dreamt else "daily",
            text=memory.content,
            memory_id=memory.memory_id,
            file=file,
            line=line,
            note=_past(memory),
            rests_on=self.of_refs(memory.ref_ids),
        )

    def _insight(self, memory: Memory) -> Node:
        verdict = self.judge(memory)
        return Node(
            kind="insight",
            text=memory.content,
            memory_id=memory.memory_id,
            status=memory.status,
            confidence=verdict.confidence,
            lacks=verdict.lacks,
            against=verdict.against,
            rests_on=self._steps(memory),
        )

    def _steps(self, insight: Memory) -> tuple[Node, ...]:
        """The summaries that a dream made on the way, each with those records that bear the insight; then the others."""
        refs = set(insight.ref_ids)
        on_the_way = {one.memory_id: one for ref in insight.ref_ids for one in self._summaries_on(ref)}
        steps = []
        for one in on_the_way.values():
            under = tuple(ref for ref in one.ref_ids if ref in refs and ref not in self.seen)
            if under:
                steps.append(self._summary(replace(one, ref_ids=under)))
        return (*steps, *self.of_refs([ref for ref in insight.ref_ids if ref not in self.seen]))

    def _summaries_on(self, ref: str) -> Iterator[Memory]:
        query = MemoryQuery(agent=self.agent, types=("summary",), statuses=("dreamt",), rests_on=(ref,))
        return self.store.memories(query) if memory_ids([ref]) else iter(())

    def _place_in_daily(self, memory: Memory) -> tuple[str, int]:
        if self.place is None:
            return "", 0
        path = self.place.daily(memory.window)
        try:
            text = files.read(path).text
        except WorkspaceError:
            return str(path), 0
        blocks = memory_file.entries(memory_file.parse(text))
        return str(path), next((block.line for _, block in blocks if block.text == memory.content), 0)

    def _record(self, memory: Memory) -> Node:
        span = memory.span or Span("")
        path = self.paths.get(span.source_id, "")
        row = bool(span.table)
        return Node(
            kind="record",
            text=memory.content
            or f"{memory.tool} {'' if memory.ok is None else 'ok' if memory.ok else 'failed'}".strip(),
            memory_id=memory.memory_id,
            file=path,
            offset=None if row else span.offset,
            length=span.length,
            table=span.table,
            row=span.row,
            role=memory.role or "",
            at=memory.timestamp,
            standing=self._standing(memory, path),
            archived=memory.archived,
            note=_past(memory),
        )

    def _standing(self, memory: Memory, path: str) -> str:
        if memory.span is None:
            return "told"
        return self.check(memory.span, path) if path else "gone"

    def _found(self, version_id: int, line: int) -> Node:
        """A line that stood in a file when dreamd first read it."""
        version = next((v for v in self.store.versions(self.agent) if v.version_id == version_id), None)
        if version is None:
            return Node(kind="unknown", text="", note=f"version {version_id} is not kept any more")
        lines = version.content.split("\n")
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return Node(
            kind="found", text=text, file=version.path, line=line, at=version.at,
            note=f"stood there when dreamd read it (version {version_id})",
        )  # fmt: skip


def _past(memory: Memory) -> str:
    """How it ended, if it is no longer held to be so."""
    return memory.status if memory.status in ("withdrawn", "forgotten", "superseded") else ""
