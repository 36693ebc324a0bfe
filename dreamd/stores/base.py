"""The protocol of a store: one write, which is one transaction, and a dozen reads.

Synchronous: a store is called from worker threads (`anyio.to_thread`) and from commands, and may be shared by
threads. Several processes may hold the same store open. A new question must first try to be a parameter of an old
one: this protocol is meant to stay small.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Literal, Protocol

from msgspec import Struct

from dreamd.calls import Purpose, Reply
from dreamd.memories import Memory, MemoryType, Status
from dreamd.records import Amendment, Origin, Turn


class Fingerprint(Struct, frozen=True):
    """Who a file is, whatever it is called: device and inode, and the SHA-256 of its first `head_length` bytes."""

    device: int = 0
    inode: int = 0
    head_length: int = 0
    head_sha256: bytes = b""


class Cursor(Struct, frozen=True, kw_only=True):
    """How far a source has been read; written in the same transaction as what was read.

    `offset` counts bytes of the (decompressed) log behind the last complete line taken; `tail_sha256` is over the
    `tail_length` bytes before it, so that a rewritten file is noticed. `state` is the reader's dump taken at
    `state_offset` <= offset. Row stores use `state` alone. `version` counts writes: a write whose version is not
    the stored one plus 1 raises StoreConflict (two processes read the same log). Counters are totals since ever.
    """

    source_id: str
    agent: str
    path: str
    format: str
    fingerprint: Fingerprint = Fingerprint()
    offset: int = 0
    tail_length: int = 0
    tail_sha256: bytes = b""
    state: bytes = b""
    state_offset: int = 0
    version: int = 1
    lines: int = 0
    records: int = 0
    truncated: int = 0
    skipped: Mapping[str, int] = {}
    read_at: datetime | None = None


class MemoryQuery(Struct, frozen=True, kw_only=True):
    """Which memories, in order of `seq`. None or () means any."""

    agent: str | None = None
    types: tuple[MemoryType, ...] = ()
    statuses: tuple[Status, ...] = ()  # () excludes withdrawn and forgotten
    origins: tuple[Origin, ...] = ()
    ids: tuple[str, ...] | None = None
    seqs: tuple[int, ...] | None = None
    id_prefix: str | None = None
    window: date | None = None
    since: date | None = None  # windows from, inclusive
    until: date | None = None  # windows to, inclusive
    session_id: str | None = None
    filed: bool | None = None
    holding: tuple[str, ...] | None = None  # folded words: all that hold any of them, and perhaps others
    rests_on: tuple[str, ...] | None = None  # ids of which the memory names any among its ref_ids
    after_seq: int = 0
    limit: int | None = None


class WindowCount(Struct, frozen=True):
    """Raw memories of an agent's local day: how many in all, and how many not yet in a daily.

    Withdrawn ones do not count, nor do `origins` that were not asked for.
    """

    agent: str
    window: date
    memories: int
    unfiled: int


Phase = Literal["daily", "dream", "deep_dream"]
RunState = Literal["running", "done", "skipped", "failed", "held"]


class Usage(Struct, frozen=True):
    """What a job's calls of one purpose cost. `resumed` counts those answered from the journal, unpaid."""

    purpose: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    resumed: int = 0


def summed(usages: Iterable[Usage]) -> tuple[Usage, ...]:
    """One of each purpose, in order of first use."""
    sums: dict[str, Usage] = {}
    for one in usages:
        known = sums.get(one.purpose, Usage(one.purpose))
        sums[one.purpose] = Usage(
            one.purpose,
            calls=known.calls + one.calls,
            input_tokens=known.input_tokens + one.input_tokens,
            output_tokens=known.output_tokens + one.output_tokens,
            resumed=known.resumed + one.resumed,
        )
    return tuple(sums.values())


def cost(usages: Sequence[Usage]) -> dict[str, int]:
    """All purposes together, as events and commands tell it."""
    return {
        "calls": sum(one.calls for one in usages),
        "resumed": sum(one.resumed for one in usages),
        "input_tokens": sum(one.input_tokens for one in usages),
        "output_tokens": sum(one.output_tokens for one in usages),
    }


class LedgerRow(Struct, frozen=True, kw_only=True):
    """What became of one agent, date and phase. `reason` is for people: why skipped, failed or held."""

    agent: str
    day: date
    phase: Phase
    state: RunState
    attempts: int = 1
    input_hash: str = ""
    reason: str = ""
    usage: tuple[Usage, ...] = ()
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def phase_name(self) -> str:
        """As people say it."""
        return self.phase.replace("_", " ")


class JournalEntry(Struct, frozen=True, kw_only=True):
    """A reply that was paid for, kept until its job commits. `key` is the hash of job, purpose and prompt."""

    key: str
    job: str
    purpose: str
    reply: Reply
    at: datetime


class LineEvidence(Struct, frozen=True, kw_only=True):
    """What a line of MEMORY.md rests on. `line` is the entry's text as in the file, without its bullet.

    Each ref is a memory id, or `version:<version_id>#<line number>` for a line dreamd found and did not write.
    A later row of the same agent and line replaces an earlier one.
    """

    agent: str
    line: str
    ref_ids: tuple[str, ...]
    day: date
    at: datetime


class FileVersion(Struct, frozen=True, kw_only=True):
    """A content that MEMORY.md once had. `version_id` is given by the store (0 before), rising.

    `sha256` is "" when there was no file. `found` is what others wrote; the other authors are dreamd's writes.
    """

    agent: str
    path: str
    author: Literal["found", "dreamd", "undo", "accepted"]
    content: str
    sha256: str
    at: datetime
    day: date | None = None
    note: str = ""
    version_id: int = 0


class Held(Struct, frozen=True, kw_only=True):
    """A rewrite that waits for a person. `detail` is JSON of deep_dream's own (evidence, refusals, retirements)."""

    agent: str
    day: date
    path: str
    base_sha256: str
    content: str
    diary: str
    reason: str
    detail: str
    at: datetime
    state: Literal["waiting", "accepted", "rejected"] = "waiting"
    held_id: int = 0


class Contradiction(Struct, frozen=True, kw_only=True):
    """Two insights of an agent that cannot both hold; both are kept. `reason` is code's: which number, name or negation."""

    agent: str
    left_id: str
    right_id: str
    reason: str
    at: datetime


LONGEST_HOLD = timedelta(hours=2)  # no lease is longer: a slot held further ahead is of a clock gone wrong
SLOTS_KEPT = timedelta(days=8)


class Slot(Struct, frozen=True, kw_only=True):
    """One of dreamd's own calls: its place at an upstream while it runs, and what it cost. Kept for SLOTS_KEPT.

    Held until `held_until`, which whoever holds it moves on; None when given back. Tokens are an estimate until `told`.
    """

    slot_id: str
    lane: str
    agent: str
    purpose: Purpose
    began_at: datetime
    held_until: datetime | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    told: bool = False

    def is_held(self, now: datetime) -> bool:
        return self.held_until is not None and now < self.held_until <= now + LONGEST_HOLD


class Spent(Struct, frozen=True, kw_only=True):
    """What calls of an agent took together. The tokens of `estimated` ones nobody told; `first_at` began the oldest."""

    agent: str
    calls: int
    input_tokens: int
    output_tokens: int
    estimated: int
    first_at: datetime

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Erased(Struct, frozen=True, kw_only=True):
    """What a person had forgotten, to be taken out of the store for good.

    `memories` (ids) lose all that they say; their ids, and `marks` (of words, `_forgetting.mark_of`), are tombstones:
    whatever comes under such an id, or was said in such words until `at`, is passed over from now on. The evidence of
    `lines` (agent, line) goes, so do `held` rewrites, paid replies of `agents` that wait, and contradictions of the
    memories. `versions` are written anew under their id. `texts` are made unreadable in what readers keep of the logs.
    """

    at: datetime
    memories: Sequence[str] = ()
    marks: Sequence[str] = ()
    lines: Sequence[tuple[str, str]] = ()
    versions: Sequence[FileVersion] = ()
    held: Sequence[int] = ()
    agents: Sequence[str] = ()
    texts: Sequence[str] = ()


class Changes(Struct, frozen=True, kw_only=True):
    """One transaction: all of it is written or nothing.

    `memories` are inserted unless their id is there already (the first keeps its place; with `respan` the span of
    an existing raw memory is renewed: its log was rewritten). `amendments` apply to raw memories by id.
    `replaced` are derived memories (summaries, insights) written anew under their id, refs included; unknown ids and
    what a person had forgotten are passed over, `seq` stays. Whether it is pinned stays as it is in the store, and of two
    recalls the later; what was pinned since the writer read it keeps its status too. `pins` alone pin and unpin insights,
    `recalled` says when a memory was last recalled and touches nothing else. A `contradictions` pair is kept once, whatever its order.
    `statuses`, `filed` name memories by id; `dreamt` takes hold of fresh ones only, `long_term` and a pin of nothing that
    was superseded or withdrawn, whatever the writer knew. `settled` names jobs whose
    journal entries are dropped. `ledger` rows replace those of the same agent, day and phase. `held` with an id
    replaces that row. `slots` renew those of the same id; a new one is taken only while fewer than `most_slots` (None: any
    number) are held in its lane when it begins, else it is passed over. `durable` waits for the disk (synchronous FULL)
    before returning.
    """

    memories: Sequence[Memory] = ()
    respan: bool = False
    amendments: Sequence[tuple[str, Amendment]] = ()
    turns: Sequence[tuple[str, Turn]] = ()  # (agent, turn)
    cursor: Cursor | None = None
    replaced: Sequence[Memory] = ()
    contradictions: Sequence[Contradiction] = ()
    pins: Sequence[tuple[str, bool]] = ()
    recalled: Sequence[tuple[str, datetime]] = ()
    statuses: Sequence[tuple[str, Status]] = ()
    filed: Sequence[str] = ()
    ledger: Sequence[LedgerRow] = ()
    journal: Sequence[JournalEntry] = ()
    settled: Sequence[str] = ()
    lines: Sequence[LineEvidence] = ()
    versions: Sequence[FileVersion] = ()
    held: Sequence[Held] = ()
    slots: Sequence[Slot] = ()
    most_slots: int | None = None

    erased: Erased | None = None
    meta: Mapping[str, str] = {}
    durable: bool = False


class Written(Struct, frozen=True):
    """What a write did: memories stored, already there, amendments applied, amendments of unknown memories, slots taken."""

    stored: int = 0
    duplicates: int = 0
    amended: int = 0
    unknown: int = 0
    taken: int = 0


class Mark(Struct, frozen=True):
    """How far somebody has followed the pool: the newest memory (place and id) and the newest change seen."""

    seq: int = 0
    memory_id: str = ""
    touch: int = 0


class News(Struct, frozen=True, kw_only=True):
    """What became different in the pool, as it stands now.

    `gone` are the places of what is no longer there, withdrawn or forgotten.
    `restart`: the mark is of another pool, or of a later state of this one; whoever follows has to begin anew.
    `more`: the limit was reached.
    """

    mark: Mark
    memories: tuple[Memory, ...] = ()
    gone: tuple[int, ...] = ()
    restart: bool = False
    more: bool = False


class TurnState(Struct, frozen=True):
    agent: str
    session_id: str
    busy: bool
    at: datetime | None


class Store(Protocol):
    """Raises StoreError and its kinds, DiskFull; after any error the store is as it was before the call."""

    def write(self, changes: Changes) -> Written:
        """Raises StoreConflict when the cursor was moved by somebody else."""

    def cursors(self, agent: str | None = None, source_id: str | None = None) -> list[Cursor]:
        """All, an agent's, or the one of a source."""

    def memories(self, query: MemoryQuery) -> Iterator[Memory]:
        """Streamed; the iterator may outlive later writes and sees the state it began with or newer rows."""

    def news(self, after: Mark, limit: int) -> News:
        """At most `limit` new memories and as many changed ones, in order, so that whoever follows misses none.

        What no search can tell (filed, dreamt, recalled, archived) is no news.
        """

    def windows(self, agent: str, origins: tuple[Origin, ...] = ()) -> list[WindowCount]:
        """The agent's days that have raw memories, oldest first."""

    def ledger(
        self,
        agent: str | None = None,
        phase: Phase | None = None,
        since: date | None = None,
        state: RunState | None = None,
    ) -> list[LedgerRow]:
        """Newest day first."""

    def journalled(self, key: str) -> JournalEntry | None: ...

    def evidence(self, agent: str) -> dict[str, LineEvidence]:
        """By line text."""

    def versions(self, agent: str, limit: int | None = None) -> list[FileVersion]:
        """Newest first."""

    def held(self, agent: str | None = None) -> list[Held]:
        """All states, newest first."""

    def turns(self, agent: str | None = None) -> list[TurnState]: ...

    def contradictions(self, agent: str) -> list[Contradiction]:
        """Oldest first."""

    def slots(self) -> list[Slot]:
        """Those not given back, the oldest first; whether one is held still, `is_held` says."""

    def spent(self, since: datetime) -> list[Spent]:
        """What the calls begun since then took, by agent."""

    def meta(self, key: str) -> str | None: ...

    def archive(self, before: date) -> int:
        """Move what raw memories of windows before that day say to compressed files, where the store has any.

        Each comes back as ever when it is asked for. How many were moved. Raises StoreError, DiskFull.
        """

    def check_room(self) -> None:
        """Raises DiskFull when hardly anything more can be written: before something is paid for that is to be kept."""

    def purge(self) -> None:
        """Leave no byte of what was erased in the store's files. Takes as long as writing them anew.

        Raises StoreBusy when another process reads all the while, StoreError, DiskFull; then it is to be done again.
        """

    def close(self) -> None: ...


def row_of(store: Store, agent: str, phase: Phase, day: date) -> LedgerRow | None:
    """What the ledger says of that very day."""
    return next((row for row in store.ledger(agent, phase, day) if row.day == day), None)
