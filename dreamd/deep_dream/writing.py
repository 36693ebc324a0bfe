"""A decided rewrite on its way to disk: file, diary, then history, evidence and ledger in one transaction.

Law: what was decided is stored as an intent before the first byte is written, so that a crash at any instant is made
good by `resume` without asking the model again. The file is replaced only on the content that was read (compare and
swap); what somebody else wrote meanwhile is merged by line, and a conflict leaves their file alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dreamd import files
from dreamd.deep_dream import memory_file
from dreamd.deep_dream.diary import Section
from dreamd.deep_dream.merge import merge
from dreamd.deep_dream.sources import Place, found_ref, version_key
from dreamd.errors import DiskFull, FileChanged, WorkspaceError
from dreamd.files import Content
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.pool.language import Tongue
from dreamd.stores.base import Changes, FileVersion, Held, LedgerRow, LineEvidence, Store

Author = Literal["found", "dreamd", "undo", "accepted"]


class Intent(Struct, frozen=True, kw_only=True):
    """All that is to happen. `evidence`: line -> refs, of lines that are new or changed; `found` refs allowed.

    `row` is the ledger row of the end. `held` is written with it. `seen` are contents that refs may point into.
    `removes`: a file that would be left empty goes. `recorded`: the file is written and its versions are stored.
    """

    agent: str
    day: date
    place: Place
    base: str
    ours: str
    author: Literal["dreamd", "undo", "accepted"]
    language: Tongue
    note: str = ""
    diary: Section | None = None
    evidence: Mapping[str, tuple[str, ...]] = {}
    candidates: tuple[Memory, ...] = ()
    seen: tuple[FileVersion, ...] = ()
    row: LedgerRow | None = None
    job: str = ""
    held: Held | None = None
    removes: bool = False
    recorded: bool = False


class Written(Struct, frozen=True):
    """What stands in the file now, and which files were changed."""

    content: str
    files: tuple[Path, ...] = ()
    row: LedgerRow | None = None


def key_of(agent: str) -> str:
    return f"deep_dream.intent:{agent}"


def write(parts: Parts, intent: Intent) -> Written:
    """Carry the intent out; blocking.

    Raises WorkspaceError, DiskFull, FileChanged (a conflict with somebody's edit), StoreError. Until the file itself
    was replaced nothing is changed; after that an error leaves the intent for `resume`.
    """
    for path in (intent.place.memory, intent.place.diary(intent.day)):
        files.writable(path, intent.place.root)
        files.read(path)  # a diary that cannot be read must not be found out when MEMORY.md is written
    _remember(parts.store, intent.agent, encoded(intent))
    return _carry_out(parts, intent, resumed=False)


def resume(parts: Parts, agent: str) -> Written | None:
    """Finish what a crash or an error left, if anything. Raises as `write`."""
    stored = parts.store.meta(key_of(agent))
    return _carry_out(parts, decoded(stored), resumed=True) if stored else None


def encoded(intent: Intent) -> str:
    return msgspec.json.encode(intent, enc_hook=str).decode()


def decoded(text: str) -> Intent:
    return msgspec.json.decode(text, type=Intent, dec_hook=lambda kind, value: kind(value))


def _remember(store: Store, agent: str, intent: str) -> None:
    store.write(Changes(meta={key_of(agent): intent}, durable=True))


def _carry_out(parts: Parts, intent: Intent, *, resumed: bool) -> Written:
    try:
        before, after = _put(intent)
    except (WorkspaceError, FileChanged, DiskFull):
        _remember(parts.store, intent.agent, "")
        raise
    changed = (intent.place.memory,) if after != before else ()
    diary = _tell(intent)
    if not intent.recorded:
        _record_versions(parts, intent, before, after, resumed=resumed)
    parts.store.write(_conclusion(parts, intent, after.text))
    return Written(after.text, (*changed, *diary), intent.row)


# --- the files ---

_TRIES = 3


def _put(intent: Intent) -> tuple[Content, Content]:
    """Replace the file, merging what came between. Returns what was there and what is there now."""
    for attempt in range(_TRIES):
        present = files.read(intent.place.memory)
        content = merge(intent.base, intent.ours, present.text)
        if content is None:
            break
        if intent.recorded or content == present.text:
            return present, present
        try:
            return present, _replaced(intent, present, content)
        except FileChanged:
            if attempt == _TRIES - 1:
                raise
    raise FileChanged(
        f"{intent.place.memory} was edited meanwhile at the same lines", hint="it is tried again"
    )


def _replaced(intent: Intent, present: Content, content: str) -> Content:
    path, root = intent.place.memory, intent.place.root
    gone = intent.removes and not content
    if gone:
        files.remove(path, root=root, expected_sha256=present.sha256)
    else:
        files.replace(path, content, root=root, expected_sha256=present.sha256)
    return Content(content, files.sha256_of(content), exists=not gone)


def _tell(intent: Intent) -> tuple[Path, ...]:
    if intent.diary is None:
        return ()
    path, added_to = intent.place.diary(intent.day), intent.diary.added_to
    edit = files.edit(path, lambda text: added_to(text, intent.day, intent.language), root=intent.place.root)
    return (path,) if edit.after != edit.before else ()


# --- the store ---


def _record_versions(parts: Parts, intent: Intent, before: Content, after: Content, *, resumed: bool) -> None:
    """Store what was there and what is there now, and that this is done."""
    known = parts.store.versions(intent.agent)
    own = [version for version in known if version.path == str(intent.place.memory)]
    fresh = list(_cited_files(intent, known))
    base = _content(intent.base)
    stages = list(_stages(intent, before, after, resumed=resumed))
    if base.exists and base.mark not in {version.sha256 for version in own}:
        stages.insert(0, (base, "found"))
    latest = own[0].sha256 if own else ""
    for content, author in stages:
        if content.mark != latest or author == "undo":
            fresh.append(_version(parts, intent, content, author))
            latest = content.mark
    done = encoded(replace(intent, recorded=True))
    parts.store.write(Changes(versions=fresh, meta={key_of(intent.agent): done}))


def _stages(
    intent: Intent, before: Content, after: Content, *, resumed: bool
) -> Iterator[tuple[Content, Author]]:
    """What stood in the file one after the other, and by whose hand: only what dreamd changed is dreamd's."""
    if resumed and after == before and intent.ours != intent.base:
        yield _content(intent.ours), intent.author  # written before the crash, and perhaps edited since
        yield after, "found"
        return
    yield before, "found"
    if after != before or intent.author == "undo":  # what somebody took out by hand counts as taken back, too
        yield after, intent.author


def _cited_files(intent: Intent, known: Sequence[FileVersion]) -> list[FileVersion]:
    """Dailies and the like that evidence points into and that are not stored yet."""
    wanted = {_named(ref) for refs in intent.evidence.values() for ref in refs if ref.startswith("found:")}
    stored = {_key_of(version) for version in known}
    return [
        seen
        for seen in intent.seen
        if seen.path != str(intent.place.memory) and _key_of(seen) in wanted - stored
    ]


def _content(text: str) -> Content:
    """Of a text whose file is not at hand: an empty one counts as none."""
    return Content(text, files.sha256_of(text), exists=bool(text))


def _version(parts: Parts, intent: Intent, content: Content, author: Author) -> FileVersion:
    found = FileVersion(
        agent=intent.agent,
        path=str(intent.place.memory),
        author=author,
        content=content.text,
        sha256=content.mark,
        at=parts.clock.now(),
    )
    return found if author == "found" else replace(found, day=intent.day, note=intent.note)


def _conclusion(parts: Parts, intent: Intent, content: str) -> Changes:
    return Changes(
        memories=intent.candidates,
        lines=_evidence(parts, intent, content),
        ledger=(intent.row,) if intent.row else (),
        settled=(intent.job,) if intent.job else (),
        held=(intent.held,) if intent.held else (),
        meta={key_of(intent.agent): ""},
        durable=True,
    )


def _evidence(parts: Parts, intent: Intent, content: str) -> list[LineEvidence]:
    """A row for each line that is new, changed, or has none: those that were there point at where they were found."""
    versions = parts.store.versions(intent.agent)
    ids = {_key_of(version): version.version_id for version in reversed(versions)}
    known = parts.store.evidence(intent.agent)
    refs = {line: place for line, place in _places(intent, versions).items() if line not in known} | dict(
        intent.evidence
    )
    now = parts.clock.now()
    return [
        LineEvidence(
            agent=intent.agent, line=line, day=intent.day, at=now,
            ref_ids=tuple(_resolved(ref, ids) for ref in refs[line]),
        )
        for line in dict.fromkeys(memory_file.lines_of(content))
        if line in refs
    ]  # fmt: skip


def _places(intent: Intent, versions: Sequence[FileVersion]) -> dict[str, tuple[str, ...]]:
    """Where the entries of the file stood in the versions that dreamd found, the earliest last."""
    own = [v for v in versions if v.author == "found" and v.path == str(intent.place.memory)]
    places: dict[str, tuple[str, ...]] = {}
    for version in own:
        content = Content(version.content, version.sha256, exists=True)
        for _, block in memory_file.entries(memory_file.parse(version.content)):
            places[block.text] = (found_ref(intent.place.memory, content, block.line),)
    return places


def _key_of(version: FileVersion) -> str:
    return version_key(version.path, version.sha256)


def _named(ref: str) -> str:
    return ref.removeprefix("found:").partition("#")[0]


def _resolved(ref: str, ids: Mapping[str, int]) -> str:
    if not ref.startswith("found:") or _named(ref) not in ids:
        return ref
    return f"version:{ids[_named(ref)]}#{ref.partition('#')[2]}"
