"""What a dream may rest on, gathered and numbered: entries of MEMORY.md (M), lines of dailies (D), insights (I).

Each source knows its evidence: memories of the pool, or the place in a file for a line that dreamd did not write.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from dreamd import files
from dreamd.deep_dream import memory_file
from dreamd.deep_dream.memory_file import Block
from dreamd.errors import WorkspaceError
from dreamd.files import Content
from dreamd.memories import GONE, STATUSES, Memory, Status, memory_ids
from dreamd.parts import Parts
from dreamd.pool.language import Tongue, detect
from dreamd.sections import Agent
from dreamd.stores.base import FileVersion, LineEvidence, MemoryQuery, Store


class Source(Struct, frozen=True, kw_only=True):
    """A numbered line that the model may cite.

    `refs` is its evidence: memory ids, `version:<id>#<line>`, or `found:<key>#<line>` for a file whose version is
    not stored yet (`version_key`). `records` are the raw memories at the end of that chain. `entry` is an M's block index;
    `kept` says that it stays verbatim whatever the model wants. `day` is a D's date.
    """

    id: str
    text: str
    refs: tuple[str, ...] = ()
    records: tuple[Memory, ...] = ()
    day: date | None = None
    entry: int = -1
    kept: bool = False

    @property
    def stated(self) -> str:
        """The text as evidence: a daily's date is known with its lines."""
        return f"{self.text} ({self.day.isoformat()})" if self.day else self.text


class Place(Struct, frozen=True):
    """The files of an agent's workspace."""

    root: Path
    memory: Path
    dailies: Path
    diaries: Path

    def daily(self, day: date) -> Path:
        return self.dailies / f"{day.isoformat()}.md"

    def diary(self, day: date) -> Path:
        return self.diaries / f"{day.isoformat()}.md"


class Material(Struct, frozen=True, kw_only=True):
    """All that goes into one dream. `found` are contents that evidence may point into, to be stored as versions.

    `waiting` are candidate insights of earlier nights; the model does not see them. `settled` says that MEMORY.md is as
    the last dream, undo or acceptance left it; `undone` are lines that a person took back.
    """

    agent: str
    day: date
    place: Place
    base: Content
    blocks: tuple[Block, ...]
    memories: tuple[Source, ...]
    dailies: tuple[Source, ...]
    insights: tuple[Source, ...]
    waiting: tuple[Source, ...]
    found: tuple[FileVersion, ...]
    settled: bool
    undone: tuple[str, ...]
    language: Tongue

    @property
    def all(self) -> tuple[Source, ...]:
        return (*self.memories, *self.dailies, *self.insights)


def place_of(agent: Agent, agent_id: str) -> Place:
    """Raises WorkspaceError when the agent has no workspace or it is not there."""
    root = agent.root
    if root is None:
        raise WorkspaceError(f"agent {agent_id} has no workspace", hint=f"set agents.{agent_id}.workspace")
    if not root.is_dir():
        raise WorkspaceError(f"the workspace {root} is missing", hint="create it, or correct the path")
    place = Place(root, root / agent.memory_file, root / agent.daily_dir, root / agent.diary_dir)
    for path in (place.memory, place.dailies, place.diaries):
        files.confined(path, root)
    return place


def gather(parts: Parts, agent_id: str, day: date, lookback_days: int) -> Material:
    """Read files and pool; blocking. Raises WorkspaceError, StoreError."""
    agent = parts.config.agent(agent_id)
    place = place_of(agent, agent_id)
    base = files.read(place.memory)
    versions = parts.store.versions(agent_id)
    own = [version for version in versions if version.path == str(place.memory)]
    evidence = parts.store.evidence(agent_id)
    found = partial(_found, agent_id, parts.clock.now())
    reader = _Pool(parts.store, agent_id)
    blocks = memory_file.parse(base.text)
    keep = _Keep(parts.config.deep_dream.protected, reader.pinned(), brought_back(own))
    entries = list(_entries(place.memory, blocks, base, evidence, keep, reader))
    windows = [day - timedelta(days=back) for back in reversed(range(lookback_days))]
    lines: list[Source] = []
    contents = [found(place.memory, base)]
    for window in windows:
        content = files.read(place.daily(window))
        contents.append(found(place.daily(window), content))
        lines.extend(_daily_lines(window, place.daily(window), content, reader))
    known = {
        ref for line in memory_file.lines_of(base.text) if line in evidence for ref in evidence[line].ref_ids
    }
    texts = [source.text for source in (*lines, *entries)]
    return Material(
        agent=agent_id,
        day=day,
        place=place,
        base=base,
        blocks=blocks,
        memories=_numbered("M", entries),
        dailies=_numbered("D", lines),
        insights=_numbered("I", reader.insights("long_term", known)),
        waiting=_numbered("C", reader.insights("candidate")),
        found=tuple(version for version in contents if version.content and not _recorded(version, versions)),
        settled=bool(own) and own[0].sha256 == base.mark,
        undone=undone(own, base.text),
        language=detect(texts) if agent.language == "auto" else agent.language,
    )


def _found(agent_id: str, at: datetime, path: Path, content: Content) -> FileVersion:
    return FileVersion(
        agent=agent_id, path=str(path), author="found", content=content.text, sha256=content.sha256, at=at
    )


def _numbered(kind: str, sources: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(replace(source, id=f"{kind}{number}") for number, source in enumerate(sources, 1))


def _recorded(version: FileVersion, versions: Sequence[FileVersion]) -> bool:
    """A version of that content is stored; of MEMORY.md it must be the latest, for history to be in order."""
    same_file = [known for known in versions if known.path == version.path]
    return bool(same_file) and same_file[0].sha256 == version.sha256


def undone(versions: Sequence[FileVersion], present: str) -> tuple[str, ...]:
    """Lines that an undo took out and that did not come back by another hand. Versions are newest first."""
    taken: list[str] = []
    for after, before in pairwise(versions):
        if after.author == "undo":
            left = memory_file.lines_of(after.content)
            taken.extend(line for line in memory_file.lines_of(before.content) if line not in left)
    return tuple(line for line in dict.fromkeys(taken) if line not in memory_file.lines_of(present))


def brought_back(versions: Sequence[FileVersion]) -> frozenset[str]:
    """Lines that an undo restored: a person wants them as they are. Versions are newest first."""
    pairs = [(after, before) for after, before in pairwise(versions) if after.author == "undo"]
    lines = {line for after, _ in pairs for line in memory_file.lines_of(after.content)}
    return frozenset(lines - {line for _, before in pairs for line in memory_file.lines_of(before.content)})


_PIN = re.compile(r"<!--\s*pin(?:ned)?\s*-->|\[pinned\]", re.IGNORECASE)


class _Keep:
    """Which entries stay verbatim: nested, marked, protected by pattern, pinned in the pool, or brought back by an undo."""

    def __init__(self, patterns: Sequence[str], pinned: Mapping[str, str], restored: frozenset[str]) -> None:
        self.patterns = [re.compile(pattern) for pattern in patterns]
        self.pinned = pinned
        self.texts = {*pinned.values(), *restored}

    def __call__(self, block: Block, refs: Sequence[str]) -> bool:
        marked = block.nested or _PIN.search(block.raw) is not None or block.text in self.texts
        return (
            marked
            or any(pattern.search(block.text) for pattern in self.patterns)
            or any(ref in self.pinned for ref in refs)
        )


def _entries(
    path: Path,
    blocks: Sequence[Block],
    base: Content,
    evidence: Mapping[str, LineEvidence],
    keep: _Keep,
    reader: "_Pool",
) -> Iterator[Source]:
    for index, block in memory_file.entries(blocks):
        refs = (
            evidence[block.text].ref_ids if block.text in evidence else (found_ref(path, base, block.line),)
        )
        yield Source(
            id="",
            text=block.whole,
            refs=refs,
            records=reader.records(refs),
            entry=index,
            kept=keep(block, refs),
        )


def version_key(path: str, sha256: str) -> str:
    """Names a content of a file before the store has given its version a number."""
    return files.sha256_of(f"{path}\0{sha256}")


def found_ref(path: Path, content: Content, line: int) -> str:
    return f"found:{version_key(str(path), content.sha256)}#{line}"


_NOTHING = re.compile(r"\W*(?:none|nothing|无|没有)\W*", re.IGNORECASE)


def _daily_lines(window: date, path: Path, content: Content, reader: "_Pool") -> Iterator[Source]:
    """The daily's bullets. One that dreamd wrote is no source once it, or all it rests on, was withdrawn or forgotten."""
    summaries = reader.summaries(window)
    for _, block in memory_file.entries(memory_file.parse(content.text)):
        memory = summaries.get(block.text)
        if _NOTHING.fullmatch(block.text) or (memory and reader.gone(memory)):
            continue
        refs = (memory.memory_id,) if memory else (found_ref(path, content, block.line),)
        yield Source(id="", text=block.whole, refs=refs, records=reader.records(refs), day=window)


_DEEPEST = 6  # insight on insight on summary on raw; a cycle ends here


class _Pool:
    """Questions to the store about one agent."""

    def __init__(self, store: Store, agent: str) -> None:
        self.store = store
        self.agent = agent

    def summaries(self, window: date) -> dict[str, Memory]:
        """The daily's lines that dreamd wrote; a dream's own summaries (`dreamt`) stand in no file."""
        query = MemoryQuery(agent=self.agent, types=("summary",), window=window, statuses=STATUSES)
        return {one.content: one for one in self.store.memories(query) if one.status != "dreamt"}

    def insights(self, status: Status, known: Collection[str] = ()) -> list[Source]:
        """Insights of that status that no line of MEMORY.md rests on yet."""
        query = MemoryQuery(agent=self.agent, types=("insight",), statuses=(status,))
        fresh = [
            memory
            for memory in self.store.memories(query)
            if memory.memory_id not in known and not self.gone(memory)
        ]
        return [
            Source(
                id="",
                text=memory.content,
                refs=(memory.memory_id,),
                records=self.records((memory.memory_id,)),
            )
            for memory in fresh
        ]

    def pinned(self) -> dict[str, str]:
        query = MemoryQuery(agent=self.agent, types=("insight", "summary"))
        return {memory.memory_id: memory.content for memory in self.store.memories(query) if memory.pinned}

    def gone(self, memory: Memory) -> bool:
        """It was withdrawn or forgotten, or all the raw memories under it were."""
        raw = self._raw((memory.memory_id,))
        return memory.status in GONE or (bool(raw) and all(one.status in GONE for one in raw))

    def records(self, refs: Sequence[str]) -> tuple[Memory, ...]:
        """The raw memories under these refs, withdrawn and forgotten ones left out."""
        return tuple(memory for memory in self._raw(refs) if memory.status not in GONE)

    def _raw(self, refs: Sequence[str]) -> tuple[Memory, ...]:
        """The raw memories under these refs, of any status; nothing is under what was withdrawn or forgotten itself."""
        raw: dict[str, Memory] = {}
        layer = set(memory_ids(refs))
        seen: set[str] = set()
        for _ in range(_DEEPEST):
            seen |= layer
            if not layer:
                break
            query = MemoryQuery(agent=self.agent, ids=tuple(sorted(layer)), statuses=STATUSES)
            found = list(self.store.memories(query))
            raw |= {memory.memory_id: memory for memory in found if memory.type == "raw"}
            standing = (memory for memory in found if memory.status not in GONE)
            layer = {ref for memory in standing for ref in memory.ref_ids if ref not in seen}
        return tuple(raw.values())
