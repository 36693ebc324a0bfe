"""Drafts and what is known in; new insights, changed ones, contradictions and corrections out (pure).

Law: the same is said once and has all the evidence; what contradicts is kept on both sides, flagged and linked; nothing
is overwritten, and nothing superseded without a living successor. The order of drafts does not matter, and drafts that
come again change nothing.

Nothing is done in unbounded amounts, and nothing left undone unsaid. What is too much new or changed for one round goes
into the next one, `ROUNDS` at most; what is left then waits with its raw memories, so that the next dream finds them.
Contradictions and corrections touch what was known: their bounds hold for all rounds together, and what is beyond them
is found again by its flag when there is news. Of few insights 5 % are none: one correction a dream is carried out
whatever their share, so that what a person puts right never waits for ever.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream import confidence
from dreamd.dream.alike import likeness
from dreamd.dream.compare import SAME, Adds, Contradicts, Different, Same, compare
from dreamd.dream.correct import Correction, corrections
from dreamd.dream.draft import Draft
from dreamd.dream.known import LIVE, Known
from dreamd.dream.merge import born, merged, trusted
from dreamd.dream.odds import linked, within
from dreamd.dream.promote import evidence_of, support_of, telling
from dreamd.dream.wording import wording
from dreamd.memories import Memory, Status
from dreamd.pool.acts import acts
from dreamd.pool.redaction import redacted
from dreamd.sections import Dream
from dreamd.stores.base import Contradiction

__all__ = ["Contradicts", "Different", "Same", "Settled", "compare", "settle"]

_AGAIN = 0.6  # of the similarity: what an insight's own evidence says again need not be as like it as news
_ALWAYS = 1  # insight that a dream may supersede whatever its share
ROUNDS = 20
_TWICE = 2
_OPPOSED: tuple[Status, ...] = (*LIVE, "archived")
_RANK: Mapping[Status, int] = {"long_term": 0, "candidate": 1, "archived": 2}


class Settled(Struct, frozen=True, kw_only=True):
    """`new`, `changed` and `superseded` are insights as they are to be, each in one of them.

    `held_back` says why drafts came to nothing; `waits` what was too much today, and `late` counts that. `waiting` are
    the raw memories of drafts that only came too many: they are to be dreamt of again.
    """

    new: tuple[Memory, ...] = ()
    changed: tuple[Memory, ...] = ()
    superseded: tuple[Memory, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    held_back: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    late: int = 0
    waiting: frozenset[str] = frozenset()


def settle(
    drafts: Iterable[Draft],
    known: Sequence[Memory],
    raws: Mapping[str, Memory],
    settings: Dream,
    now: datetime,
    *,
    linked: Iterable[Contradiction] = (),
    rounds: int = 1,
) -> Settled:
    """What the drafts make of what is known.

    `known` are an agent's insights of every status but withdrawn and forgotten; `raws` all raw memories under the
    drafts and under those, but for withdrawn and forgotten ones. `linked` are the contradictions known before.
    """
    table = _Table(known, raws, settings, now, linked)
    left = sorted(drafts, key=_order)
    for _ in range(rounds):
        left = table.round(left)
        if not left:
            break
    table.wait_for(left)
    table.oppose()
    table.put_right()
    table.put_away()
    return table.settled()


def _order(draft: Draft) -> tuple[object, ...]:
    """The plainest wording first: others add to it."""
    return (
        draft.weak,
        len(wording(draft.statement).words),
        draft.statement,
        draft.kind,
        draft.ref_ids,
        draft.author,
    )


class _Table:
    """What becomes of the insights, built up draft by draft."""

    def __init__(
        self,
        known: Sequence[Memory],
        raws: Mapping[str, Memory],
        settings: Dream,
        now: datetime,
        linked: Iterable[Contradiction],
    ) -> None:
        self.before = {insight.memory_id: insight for insight in known}
        self.known = Known(known)
        self.raws = raws
        self.settings = settings
        self.now = now
        self.worded: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self.says: dict[str, dict[str, None]] = {}  # insight -> what drafts said of it today
        self.lasting: set[str] = set()  # insights of which a draft of today is no word of the moment
        self.linked = {frozenset((pair.left_id, pair.right_id)) for pair in linked}
        self.standing: dict[str, Memory] = {}  # how it stood when the round began
        self.drafts: dict[str, list[Draft]] = {}  # insight -> the drafts of the round that made it what it is
        self.beyond: list[tuple[int, str]] = []
        self.waiting: set[str] = set()
        self.held_back: list[str] = []
        self.odds: dict[tuple[str, str], str] = {}  # all that contradict each other
        self.pairs: dict[tuple[str, str], str] = {}  # those of them that are linked, before or now
        self.superseded: dict[str, Correction] = {}

    # --- first: whose draft is it ---

    def round(self, drafts: Iterable[Draft]) -> list[Draft]:
        """Takes the drafts; returns those for which there is no room in this round."""
        self.standing = {insight.memory_id: insight for insight in self.known}
        self.drafts, self.beyond = {}, []
        for draft in drafts:
            self._take(draft)
        return self._kept_within()

    def _take(self, draft: Draft) -> None:
        named = [self.raws[ref] for ref in dict.fromkeys(draft.ref_ids) if ref in self.raws]
        records = trusted(named, draft.statement, draft.kind)
        if not records:
            self.held_back.append("a draft names no record that is there")
        elif redacted(draft.statement):
            self.held_back.append("a draft holds the mark of a removed secret")
        else:
            self._place(draft, records)

    def _place(self, draft: Draft, records: list[Memory]) -> None:
        same = [insight for insight in self.known.near(draft.statement) if self._is(draft, records, insight)]
        for past in same:
            if past.status == "superseded" and past.valid_until is not None:
                records = [one for one in records if one.happened > past.valid_until]
        homes = [insight for insight in same if insight.status in _RANK]
        if not records:
            return
        if not draft.weak:
            records = self._with_fuller(draft, records)
        if not homes:
            self._put(born(draft, records, self.now), draft, draft)
        elif not draft.weak:
            home = min(homes, key=lambda insight: self._nearest(draft, records, insight))
            self._put(merged(home, draft, records, self.raws, self.settings.similarity), draft, draft)

    def _with_fuller(self, draft: Draft, records: list[Memory]) -> list[Memory]:
        """Whoever says it with a detail more says it too: those records count for it, and its records for what it adds to.

        Both insights stand: the detail is nobody's but theirs who said it.
        """
        for insight in self.known.near(draft.statement):
            verdict = compare(draft.statement, insight.content, self.settings.similarity)
            if insight.status not in _RANK or not isinstance(verdict, Adds):
                continue
            if verdict.fuller == insight.content:
                records = [*records, *evidence_of(insight, self.raws)]
            else:
                core = replace(draft, statement=insight.content, entities=(), applies_when="")
                self._put(merged(insight, core, records, self.raws, self.settings.similarity), core, draft)
        return list({one.memory_id: one for one in records}.values())

    def _is(self, draft: Draft, records: Iterable[Memory], insight: Memory) -> bool:
        """It says what the insight says, or what was said for it before in other words; and contradicts none of it."""
        again = {one.memory_id for one in records} <= set(insight.ref_ids)
        least = self.settings.similarity * (_AGAIN if again else 1)
        verdicts = [compare(draft.statement, text, least) for text in self._wordings(insight)]
        return SAME in verdicts and not any(isinstance(one, Contradicts) for one in verdicts)

    def _wordings(self, insight: Memory) -> tuple[str, ...]:
        """Its own and those in which the human said it."""
        key = (insight.content, insight.ref_ids)
        if key not in self.worded:
            evidence = telling(evidence_of(insight, self.raws))
            said = (act.statement for one in evidence for act in acts(one.content))
            self.worded[key] = linked(insight.content, said, self.settings.similarity)
        return self.worded[key]

    def _nearest(self, draft: Draft, records: Iterable[Memory], insight: Memory) -> tuple[object, ...]:
        again = {one.memory_id for one in records} <= set(insight.ref_ids)
        near = likeness(wording(draft.statement), wording(insight.content))
        return (not again, _RANK[insight.status], -near, insight.received_at, insight.memory_id)

    def _put(self, insight: Memory, draft: Draft, source: Draft) -> None:
        self.known.put(insight)
        self.drafts.setdefault(insight.memory_id, []).append(source)
        self.says.setdefault(insight.memory_id, {})[draft.statement] = None
        if not draft.passing:
            self.lasting.add(insight.memory_id)

    # --- second: no more than a round may do ---

    def _kept_within(self) -> list[Draft]:
        new = [insight for insight in self.known if insight.memory_id not in self.standing]
        changed = [one for one in self.known if self.standing.get(one.memory_id, one) != one]
        settings = self.settings
        over = (
            *self._over(new, settings.max_new, "new insight"),
            *self._over(changed, settings.max_changed, "changed insight"),
        )
        left = {draft: None for insight in over for draft in self.drafts[insight.memory_id]}
        for insight in over:
            self._taken_back(insight.memory_id)
        return list(left)

    def _over(self, insights: list[Memory], most: int, what: str) -> list[Memory]:
        """Those for which there is no room; the best supported go first."""
        if len(insights) <= most:
            return []
        self.beyond.append((len(insights) - most, f"{what}(s) beyond {most} a dream"))
        return sorted(insights, key=self._weight)[most:]

    def _taken_back(self, memory_id: str) -> None:
        former = self.standing.get(memory_id)
        if former is None:
            self.known.drop(memory_id)
            self.lasting.discard(memory_id)
            self.says.pop(memory_id, None)
        else:
            self.known.put(former)
            if former == self.before.get(memory_id):
                self.says.pop(memory_id, None)

    def wait_for(self, left: Iterable[Draft]) -> None:
        self.waiting = {ref for draft in left for ref in draft.ref_ids}

    def _weight(self, insight: Memory) -> tuple[object, ...]:
        found = support_of(insight, self.raws)
        seen = min(found.windows, found.tasks, found.records)
        return (
            not found.on_purpose,
            insight.memory_id not in self.lasting,
            -seen,
            -found.records,
            -insight.trust,
            insight.content,
            insight.memory_id,
        )

    # --- third: what is at odds ---

    def oppose(self) -> None:
        """Link what contradicts what was heard today; look again at what was at odds before."""
        for insight in self._live():
            said = (
                {insight.content: None, **self.says.get(insight.memory_id, {})}
                if self._touched(insight)
                else {}
            )
            if insight.contradictions_flag:
                said |= {insight.content: None}
            for other in self._others(insight, said):
                self._pair(insight, other, said)
        self._link()

    def _touched(self, insight: Memory) -> bool:
        return insight.memory_id in self.says and self.before.get(insight.memory_id) != insight

    def _live(self) -> Iterator[Memory]:
        return (one for one in self.known if one.status in LIVE)

    def _others(self, insight: Memory, said: Iterable[str]) -> list[Memory]:
        near = {other.memory_id: other for text in said for other in self.known.near(text, _OPPOSED)}
        near.pop(insight.memory_id, None)
        touched = self._touched(insight)
        return [other for other in near.values() if touched or other.contradictions_flag]

    def _pair(self, insight: Memory, other: Memory, said: Iterable[str]) -> None:
        left, right = sorted((insight, other), key=lambda one: (self._came(one), one.memory_id))
        for text, against in product(said, self._wordings(other)):
            verdict = compare(text, against, self.settings.similarity)
            if isinstance(verdict, Contradicts):
                self.odds.setdefault((left.memory_id, right.memory_id), verdict.reason)
                self._recalled_to_mind(other)

    def _recalled_to_mind(self, other: Memory) -> None:
        """What was put away is spoken of again."""
        if other.status == "archived":
            self.known.put(replace(other, status="candidate"))

    def _came(self, insight: Memory) -> datetime:
        return min((one.happened for one in evidence_of(insight, self.raws)), default=insight.received_at)

    def _link(self) -> None:
        """What the human put right goes first, then what came last: that is what is spoken of."""
        new = {pair: reason for pair, reason in self.odds.items() if frozenset(pair) not in self.linked}
        right = {frozenset((one.old.memory_id, one.new.memory_id)) for one in self._corrections(new)}
        newest = {pair: max(self._came(self.known[side]) for side in pair) for pair in new}
        urgent = sorted(new, key=lambda pair: (frozenset(pair) not in right, -newest[pair].timestamp(), pair))
        chosen = within(urgent, self.settings.max_contradictions)
        self.pairs = {pair: reason for pair, reason in self.odds.items() if pair not in new or pair in chosen}
        if late := len(self.odds) - len(self.pairs):
            self._late(late, f"contradiction(s) beyond {self.settings.max_contradictions} a dream")

    def _late(self, count: int, what: str) -> None:
        self.beyond.append((count, what))

    # --- fourth: what the human put right ---

    def put_right(self) -> None:
        most = self._most_superseded()
        late = 0
        for one in self._corrections(self.pairs):
            if one.old.memory_id in self.superseded or self.known[one.new.memory_id].status not in LIVE:
                continue
            if len(self.superseded) >= most:
                late += 1
                continue
            self.superseded[one.old.memory_id] = one
            self.known.put(one.old)
            self.known.put(replace(self.known[one.new.memory_id], status=one.new.status))
        if late:
            self._late(late, f"correction(s) beyond {most} a dream")

    def _corrections(self, pairs: Iterable[tuple[str, str]]) -> list[Correction]:
        return corrections([(self.known[left], self.known[right]) for left, right in pairs], self.raws)

    def _most_superseded(self) -> int:
        share = floor(self.settings.max_superseded_share * sum(1 for _ in self._live()))
        return min(self.settings.max_superseded, max(share, _ALWAYS))

    # --- fifth: what was but a word of the moment ---

    def put_away(self) -> None:
        """It comes back when it is said on another day, in another task."""
        for insight in self._live():
            former = self.before.get(insight.memory_id)
            came = former is None or former.status == "archived"
            if came and insight.memory_id not in self.lasting and self._only_once(insight):
                self.known.put(replace(insight, status="archived"))

    def _only_once(self, insight: Memory) -> bool:
        found = support_of(insight, self.raws)
        bound = insight.pinned or insight.memory_id in {one for pair in self.odds for one in pair}
        return not bound and not found.on_purpose and min(found.windows, found.tasks) < _TWICE

    # --- what came of it ---

    def settled(self) -> Settled:
        for insight in self._flagged():
            self.known.put(self._doubted(insight))
        kept = list(self.known)
        changed = [one for one in kept if self.before.get(one.memory_id, one) != one]
        return Settled(
            new=tuple(one for one in kept if one.memory_id not in self.before),
            changed=tuple(one for one in changed if one.memory_id not in self.superseded),
            superseded=tuple(one for one in changed if one.memory_id in self.superseded),
            contradictions=tuple(self._contradictions()),
            held_back=tuple(self.held_back),
            waits=tuple(f"{count} {what} wait for the next" for count, what in self.beyond),
            late=sum(count for count, _ in self.beyond),
            waiting=frozenset(self.waiting),
        )

    def _flagged(self) -> list[Memory]:
        return [self.known[one] for one in dict.fromkeys(side for pair in self.odds for side in pair)]

    def _doubted(self, insight: Memory) -> Memory:
        figure = confidence.of(support_of(insight, self.raws), insight.trust, contradicted=True)
        return replace(insight, contradictions_flag=True, confidence=min(insight.confidence, figure))

    def _contradictions(self) -> Iterator[Contradiction]:
        for (left, right), reason in self.pairs.items():
            if frozenset((left, right)) in self.linked:
                continue
            agent = self.known[left].agent
            yield Contradiction(agent=agent, left_id=left, right_id=right, reason=reason, at=self.now)
