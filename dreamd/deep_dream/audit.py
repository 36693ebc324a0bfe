"""A proposal and its sources in, the new MEMORY.md out, with an account of every line (pure).

Law: the old file is the skeleton. An entry leaves only when an accepted line keeps all it says, or when it is retired
with a reason that `retiring` finds good enough; everything else stays where it is, whatever the model wrote or forgot.
A line comes in only when `grounds` finds no fault.
"""

from collections.abc import Sequence
from math import floor

from msgspec import Struct, field

from dreamd.deep_dream import memory_file
from dreamd.deep_dream.grounds import Fault, absorbs, bears_out, fault_of, same
from dreamd.deep_dream.memory_file import Block, Edits
from dreamd.deep_dream.reply import Proposal, Proposed
from dreamd.deep_dream.retiring import founded
from dreamd.deep_dream.sources import Source
from dreamd.errors import ReplyUnusable
from dreamd.pool.redaction import redacted
from dreamd.pool.speech import instruction
from dreamd.pool.support import unsupported
from dreamd.sections import DeepDream


class Accepted(Struct, frozen=True):
    """A line of the new file and what it rests on. `instead` are old entries that it replaces."""

    text: str
    cites: tuple[Source, ...]
    instead: tuple[Source, ...] = ()


class Refusal(Struct, frozen=True):
    """Why a line or a retirement was turned down. The line's text is not kept: it may be invented, or a trap."""

    fault: Fault
    cites: tuple[str, ...] = ()


class Retirement(Struct, frozen=True):
    source: Source
    reason: str


class Audited(Struct, frozen=True, kw_only=True):
    """`put_back` are entries the model neither carried nor retired. `candidates` wait for a second day.

    `over_limit` says that the retirements are more than one run may make: a person decides.
    """

    content: str
    accepted: tuple[Accepted, ...]
    carried: tuple[Source, ...]
    put_back: tuple[Source, ...]
    retired: tuple[Retirement, ...]
    refused: tuple[Refusal, ...]
    candidates: tuple[Accepted, ...]
    over_limit: bool
    entries: int

    @property
    def merged(self) -> int:
        return sum(len(line.instead) for line in self.accepted)

    @property
    def added(self) -> int:
        return sum(not line.instead for line in self.accepted)


def audit(
    proposal: Proposal,
    *,
    blocks: Sequence[Block],
    sources: Sequence[Source],
    limits: DeepDream,
    undone: Sequence[str] = (),
    waiting: Sequence[Source] = (),
) -> Audited:
    """Apply the proposal. `waiting` are candidates of earlier days, which bear out a line that says the same.

    Raises ReplyUnusable when it would empty a file that has entries.
    """
    old = [source for source in sources if source.entry >= 0]
    if old and not proposal.lines:
        raise ReplyUnusable(
            "the reply's [MEMORY] is empty though the file is not", hint="nothing was written"
        )
    plan = _Plan(blocks, {source.id: source for source in sources})
    for line in proposal.lines:
        plan.judge(line, undone, waiting)
    plan.retire(proposal)
    for line, cites in plan.passed:
        plan.place(line, cites)
    plan.remove_retired()
    content = memory_file.edit(blocks, plan.edits())
    entries = len(memory_file.lines_of(content))
    most = max(limits.min_retired, floor(limits.max_retired * len(old)))
    return Audited(
        content=content,
        accepted=tuple(plan.accepted),
        carried=tuple(
            source for source in old if source.id in plan.carried and source.entry not in plan.replaced
        ),
        put_back=tuple(source for source in old if plan.forgotten(source)),
        retired=tuple(plan.retired.values()),
        refused=tuple(plan.refused),
        candidates=tuple(plan.candidates),
        over_limit=len(plan.retired) > most or (bool(old) and not entries),
        entries=entries,
    )


class _Plan(Struct):
    """What becomes of the old entries and where new lines go, built up line by line."""

    blocks: Sequence[Block]
    sources: dict[str, Source]
    passed: list[tuple[Proposed, tuple[Source, ...]]] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    candidates: list[Accepted] = field(default_factory=list)
    carried: set[str] = field(default_factory=set)
    retired: dict[str, Retirement] = field(default_factory=dict)
    replaced: dict[int, tuple[str, ...]] = field(default_factory=dict)
    after: dict[int, list[str]] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)

    # --- first: which lines are true ---

    def judge(self, line: Proposed, undone: Sequence[str], waiting: Sequence[Source]) -> None:
        cites = self._named(line.cites)
        old = tuple(source for source in cites if source.entry >= 0)
        if self._carries(line, cites, old):
            self.carried.update(source.id for source in old)
            return
        earlier = [source for source in waiting if cites and bears_out(source.text, line.text)]
        fault = fault_of(line.text, (*cites, *earlier), undone)
        if fault is None:
            self.passed.append((line, (*cites, *earlier)))
            return
        self.refuse(fault, line.cites)
        if fault == "one-window":
            self.candidates.append(Accepted(line.text, cites))

    def _carries(self, line: Proposed, cites: tuple[Source, ...], old: tuple[Source, ...]) -> bool:
        """An old entry as it is: named alone (a new wording needs new evidence), or said again."""
        if old and (not line.text or (len(old) == 1 and len(cites) == 1)):
            return True
        twin = next((s for s in self.sources.values() if s.entry >= 0 and same(line.text, s.text)), None)
        if twin is not None:
            self.carried.add(twin.id)
        return twin is not None

    def refuse(self, fault: Fault, cites: Sequence[str]) -> None:
        self.refused.append(Refusal(fault, tuple(cites)))

    # --- second: which entries go ---

    def retire(self, proposal: Proposal) -> None:
        contested = {name for refusal in self.refused for name in refusal.cites}
        for wish in proposal.retired:
            source = self.sources.get(wish.source)
            if source is None or source.entry < 0 or not wish.reason:
                self.refuse("uncited", (wish.source,))
            elif source.kept:
                self.refuse("protected", (wish.source,))
            elif wish.source in self.carried:
                continue  # the model wants it both out and in: it stays
            elif wish.source in contested:
                self.refuse("successor", (wish.source,))
            elif not founded(source, self._named(wish.cites), self._new()):
                self.refuse("unfounded", (wish.source,))
            else:
                self.retired[wish.source] = Retirement(source, wish.reason)

    def _named(self, cites: Sequence[str]) -> tuple[Source, ...]:
        return tuple(self.sources[name] for name in cites if name in self.sources)

    def _new(self) -> list[tuple[str, tuple[Source, ...]]]:
        return [(line.text, cites) for line, cites in self.passed]

    # --- third: where the new lines go ---

    def place(self, line: Proposed, cites: tuple[Source, ...]) -> None:
        if any(same(line.text, other.text) for other in self.accepted):
            return
        old = tuple(source for source in cites if source.entry >= 0)
        instead = tuple(source for source in old if self._gives_way(source, line.text))
        if not instead and len(old) == len(cites):
            self.refuse("lossy", line.cites)
            return
        self.carried.update(source.id for source in old if source not in instead)
        self.accepted.append(Accepted(line.text, cites, instead))
        self._put(line, old, instead)

    def _gives_way(self, source: Source, text: str) -> bool:
        free = not source.kept and source.entry not in self.replaced
        return free and (source.id in self.retired or absorbs(text, source.text))

    def _put(self, line: Proposed, old: Sequence[Source], instead: Sequence[Source]) -> None:
        if instead:
            first, *others = sorted(instead, key=lambda source: source.entry)
            self.replaced[first.entry] = (line.text,)
            self.replaced.update({source.entry: () for source in others})
        elif old:
            self.after.setdefault(old[0].entry, []).append(line.text)
        else:
            self.sections.setdefault(self._heading(line.heading), []).append(line.text)

    def _heading(self, wished: str) -> str:
        """The wished heading if it is there or harmless; else that of the file's last entry."""
        known = [block.text for block in self.blocks if block.kind == "heading"]
        return wished if wished in known or self._harmless(wished) else self._last_section()

    def _last_section(self) -> str:
        heading, last = "", None
        for block in self.blocks:
            heading = block.text if block.kind == "heading" else heading
            last = heading if block.kind == "entry" else last
        return heading if last is None else last

    def _harmless(self, heading: str) -> bool:
        texts = [source.stated for source in self.sources.values()]
        plain = 0 < len(heading) <= _LONGEST_HEADING and not instruction(heading) and not redacted(heading)
        return plain and not unsupported(heading.lower(), texts)

    def remove_retired(self) -> None:
        for retirement in self.retired.values():
            self.replaced.setdefault(retirement.source.entry, ())

    def forgotten(self, source: Source) -> bool:
        return source.id not in self.carried and source.entry not in self.replaced

    def edits(self) -> Edits:
        return Edits(replaced=self.replaced, after=self.after, sections=self.sections)


_LONGEST_HEADING = 60
