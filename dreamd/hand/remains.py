"""What goes with a wish to forget in; where else it stands out: files that dreamd wrote, and what it keeps beside them.

Reads only. In a file that people write too, only what dreamd wrote goes; what they wrote is told and stays.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dreamd import files
from dreamd.deep_dream import memory_file, writing
from dreamd.deep_dream.sources import Place, place_of
from dreamd.dream.phase import Unfinished, meta_key
from dreamd.hand.cascade import Cascade
from dreamd.hand.matching import Sound, tells_of
from dreamd.hand.pages import Page, Piece, pieces, renumbered, without
from dreamd.hand.plan import Line
from dreamd.memories import memory_ids
from dreamd.parts import Parts
from dreamd.stores.base import FileVersion, Held, LedgerRow, LineEvidence, MemoryQuery

GONE = "gone"  # what a ref to a line becomes whose line went


class Cut(Struct, frozen=True):
    """Pieces, as they read (`raws`), to be cut out of a file in that workspace."""

    path: Path
    root: Path
    page: Page
    raws: tuple[str, ...]


class Remains(Struct, frozen=True, kw_only=True):
    """`erased` are lines (agent, line) whose evidence goes; `evidence`, `versions` and `ledger` are rows as they are to be."""

    cuts: tuple[Cut, ...] = ()
    lines: tuple[Line, ...] = ()
    stays: tuple[Line, ...] = ()
    erased: tuple[tuple[str, str], ...] = ()
    evidence: tuple[LineEvidence, ...] = ()
    versions: tuple[FileVersion, ...] = ()
    held: tuple[Held, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    meta: Mapping[str, str] = {}
    elsewhere: tuple[str, ...] = ()


def remains(parts: Parts, fall: Cascade, agents: Iterable[str]) -> Remains:
    """Of these agents, all together. Blocks; raises WorkspaceError, StoreError."""
    found = [_Agents(parts, fall, agent).remains() for agent in agents]
    return Remains(
        cuts=_joined(cut for one in found for cut in one.cuts),
        lines=tuple(dict.fromkeys(line for one in found for line in one.lines)),
        stays=tuple(dict.fromkeys(line for one in found for line in one.stays)),
        erased=tuple(line for one in found for line in one.erased),
        evidence=tuple(line for one in found for line in one.evidence),
        versions=tuple(version for one in found for version in one.versions),
        held=tuple(held for one in found for held in one.held),
        ledger=tuple(row for one in found for row in one.ledger),
        meta={key: value for one in found for key, value in one.meta.items()},
        elsewhere=tuple(words for one in found for words in one.elsewhere),
    )


def _joined(cuts: Iterable[Cut]) -> tuple[Cut, ...]:
    """One of each file: agents may share one."""
    by_path: dict[Path, Cut] = {}
    for cut in cuts:
        raws = (*by_path[cut.path].raws, *cut.raws) if cut.path in by_path else cut.raws
        by_path[cut.path] = replace(cut, raws=tuple(dict.fromkeys(raws)))
    return tuple(by_path.values())


class _Agents:
    """What there is of one agent."""

    def __init__(self, parts: Parts, fall: Cascade, agent: str) -> None:
        self.parts = parts
        self.agent = agent
        self.fall = fall
        self.gone = fall.gone
        self.sound = Sound(fall.texts)
        concluded = (one.memory for one in fall.gone.values() if one.memory.type != "raw")
        self.statements = frozenset(memory.content for memory in concluded)
        self.known = parts.store.evidence(agent)
        self.versions = parts.store.versions(agent)
        self.own = written(self.versions)
        self.going = {line for line in self.known if self._goes(line)}

    def remains(self) -> Remains:
        place = self._place()
        cuts, lines, stays = self._of_files(place) if place else ((), (), ())
        cleaned = {version.version_id: self._cleaned(version) for version in self.versions}
        changed = tuple(v for old in self.versions if (v := cleaned[old.version_id][0]) != old)
        moved = {number: places for number, (_, places) in cleaned.items() if places is not None}
        evidence = tuple(self._evidence(moved))
        held = tuple(one for one in self.parts.store.held(self.agent) if self._holds(one))
        ledger = tuple(self._ledger(held))
        return Remains(
            cuts=cuts,
            lines=lines,
            stays=stays,
            erased=tuple((self.agent, line) for line in sorted(self.going)),
            evidence=evidence,
            versions=changed,
            held=held,
            ledger=ledger,
            meta=self._meta(),
            elsewhere=tuple(self._words(changed, held, ledger)),
        )

    def _place(self) -> Place | None:
        agent = self.parts.config.agents.get(self.agent)
        return place_of(agent, self.agent) if agent and agent.root else None

    # --- lines ---

    def _goes(self, line: str) -> bool:
        """A line of MEMORY.md, of now or of once, that tells of what goes."""
        if line in self.statements or self.fall.needle.found_in(line):
            return True
        refs = self.known[line].ref_ids
        if not any(ref in self.gone for ref in refs):
            return False
        left = [ref for ref in refs if ref not in self.gone]
        gone = [self.gone[ref].memory.content for ref in refs if ref in self.gone]
        return not left or tells_of(line, gone, list(self._said_by(left)))

    def _said_by(self, refs: Sequence[str]) -> Iterator[str]:
        """What memories and lines of earlier files say, that a line rests on too."""
        versions = {version.version_id: version for version in self.versions}
        for ref in refs:
            kind, _, place = ref.partition(":")
            number, _, line = place.partition("#")
            if kind == "version" and number.isdigit() and int(number) in versions and line.isdigit():
                yield "".join(versions[int(number)].content.split("\n")[int(line) - 1 : int(line)])
        ids = memory_ids(refs)
        if ids:
            yield from (memory.content for memory in self.parts.store.memories(MemoryQuery(ids=ids)))

    def _named(self, piece: Piece) -> bool:
        """The piece reads like a line or conclusion that goes, or holds the words."""
        text = piece.text
        return text in self.going or text in self.statements or self.fall.needle.found_in(piece.raw)

    # --- files ---

    def _of_files(self, place: Place) -> tuple[tuple[Cut, ...], tuple[Line, ...], tuple[Line, ...]]:
        cuts, lines, stays = [], [], []
        for path, page in _files_of(place):
            named = [one for one in pieces(files.read(path).text, page) if self._concerns(one, page)]
            going = [one for one in named if self._dreamds(one, page)]
            lines += [Line(agent=self.agent, file=str(path), line=one.line, text=one.text) for one in going]
            stays += [
                Line(agent=self.agent, file=str(path), line=one.line, text=one.text)
                for one in named
                if one not in going
            ]
            if going:
                cuts.append(Cut(path, place.root, page, tuple(dict.fromkeys(one.raw for one in going))))
        return tuple(cuts), tuple(lines), tuple(stays)

    def _concerns(self, piece: Piece, page: Page) -> bool:
        if self._named(piece):
            return True
        if page != "diary" or not piece.own or piece.raw.startswith(("#", "<!--")):
            return False
        spoken = any(line in piece.text for line in (*self.going, *self.statements) if line)
        return spoken or self.sound.echoes_in(piece.text)

    def _dreamds(self, piece: Piece, page: Page) -> bool:
        return piece.text in self.own if page == "memory" else piece.own

    # --- what the store keeps ---

    def _cleaned(self, version: FileVersion) -> tuple[FileVersion, dict[int, int] | None]:
        """The version without it, and where its lines stand then (None: as before)."""
        gone = {one.raw for one in pieces(version.content, "memory") if self._named(one)}
        note = "" if self.fall.needle.found_in(version.note) else version.note
        if not gone:
            return replace(version, note=note), None
        content = without(version.content, "memory", gone)
        sha256 = files.sha256_of(content) if version.sha256 else ""
        cleaned = replace(version, content=content, sha256=sha256, note=note)
        return cleaned, renumbered(version.content, gone)

    def _evidence(self, moved: Mapping[int, Mapping[int, int]]) -> Iterator[LineEvidence]:
        """The rows that stay and point at something that went or moved."""
        for line, row in self.known.items():
            refs = tuple(ref for old in row.ref_ids if (ref := self._ref(old, moved)) != GONE)
            if line not in self.going and refs != row.ref_ids:
                yield replace(row, ref_ids=refs)

    def _ref(self, ref: str, moved: Mapping[int, Mapping[int, int]]) -> str:
        if ref in self.gone:
            return GONE
        number, _, line = ref.removeprefix("version:").partition("#")
        if not ref.startswith("version:") or not number.isdigit() or int(number) not in moved:
            return ref
        place = moved[int(number)].get(int(line)) if line.isdigit() else None
        return GONE if place is None else f"version:{number}#{place}"

    def _holds(self, held: Held) -> bool:
        parts = (held.content, held.diary, held.reason, held.detail)
        return (
            any(map(self.fall.needle.found_in, parts))
            or any(one in held.detail for one in self.gone)
            or any(line in part for line in (*self.going, *self.statements) if line for part in parts)
        )

    def _ledger(self, held: Iterable[Held]) -> Iterator[LedgerRow]:
        days = {one.day for one in held if one.state == "waiting"}
        for row in self.parts.store.ledger(self.agent):
            if row.phase == "deep_dream" and row.state == "held" and row.day in days:
                yield replace(row, state="done", reason="what was held was forgotten by a person")
            elif row.reason and self.fall.needle.found_in(row.reason):
                yield replace(row, reason="")

    def _meta(self) -> dict[str, str]:
        """What the last dream kept, groups of records that wait for the next one, and what nobody waits for."""
        return {**self._parked(), **self._intent()}

    def _intent(self) -> dict[str, str]:
        """A rewrite that a crash left, of an agent that is configured no more: nobody will finish it."""
        key = writing.key_of(self.agent)
        is_left = self.agent not in self.parts.config.agents and self.parts.store.meta(key)
        return {key: ""} if is_left else {}

    def _parked(self) -> dict[str, str]:
        kept = self.parts.store.meta(meta_key(self.agent))
        if not kept:
            return {}
        known = msgspec.json.decode(kept, type=Unfinished)
        parked = tuple(
            group
            for group in known.parked
            if not set(group.ids) & self.gone.keys() and not self.fall.needle.found_in(repr(group))
        )
        if parked == known.parked:
            return {}
        return {meta_key(self.agent): msgspec.json.encode(replace(known, parked=parked)).decode()}

    def _words(
        self, versions: Sequence[FileVersion], held: Iterable[Held], ledger: Sequence[LedgerRow]
    ) -> Iterator[str]:
        if versions:
            yield f"{len(versions)} earlier version(s) of the memory of {self.agent}"
        if old := self.going - self._present():
            yield f"the evidence of {len(old)} line(s) that the memory of {self.agent} once had"
        for one in held:
            yield f"the {one.state} rewrite {one.held_id} of {self.agent}"
        reasons = sum(not row.reason for row in ledger)
        if reasons:
            yield f"{reasons} reason(s) in the ledger of {self.agent}"

    def _present(self) -> set[str]:
        place = self._place()
        return set(memory_file.lines_of(files.read(place.memory).text)) if place else set()


def written(versions: Sequence[FileVersion]) -> frozenset[str]:
    """The lines that came into a file by dreamd's hand. Versions are newest first."""
    first: dict[str, bool] = {}
    for version in reversed(versions):
        for line in memory_file.lines_of(version.content):
            first.setdefault(line, version.author in ("dreamd", "accepted"))
    return frozenset(line for line, by_dreamd in first.items() if by_dreamd)


def _files_of(place: Place) -> Iterator[tuple[Path, Page]]:
    if place.memory.is_file():
        yield place.memory, "memory"
    for path in sorted(place.dailies.glob("????-??-??.md")):
        if _is_day(path.stem):
            yield path, "daily"
    for path in sorted(place.diaries.glob("????-??-??.md")):
        if _is_day(path.stem):
            yield path, "diary"


def _is_day(stem: str) -> bool:
    try:
        date.fromisoformat(stem)
    except ValueError:
        return False
    return True
