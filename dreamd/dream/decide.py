"""What a dream changes: what it found and what was known go in, the insights to be written come out (pure)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from dreamd.config import Config
from dreamd.dream.decay import decayed
from dreamd.dream.draft import Draft
from dreamd.dream.material import Material
from dreamd.dream.promote import sweep
from dreamd.dream.reconcile import ROUNDS, Settled, settle
from dreamd.memories import Memory, Status
from dreamd.pool.plain import plain
from dreamd.stores.base import Contradiction

_MARKS: Mapping[Status, str] = {"long_term": "^", "superseded": "x", "archived": "-", "candidate": "+"}


class Shift(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one insight. `before` is None when it is new."""

    memory_id: str
    statement: str
    before: Status | None
    after: Status
    confidence: float
    records: int  # independent ones it rests on

    @property
    def put_away(self) -> bool:
        """A word of the moment: it is kept, and comes back when it is said again."""
        return self.before is None and self.after == "archived"

    @property
    def told(self) -> str:
        """For people, on one line: `^ new long-term i6c8bcab  Run the tests before you commit`."""
        was = f"{self.before} -> " if self.before else "new "
        stands = f"{was}{self.after}".replace("_", "-")
        return f"{_MARKS.get(self.after, ' ')} {stands} {self.memory_id[:8]}  {' '.join(plain(self.statement).split())}"


class Decision(Struct, frozen=True, kw_only=True):
    """`new` and `replaced` are insights; `refused` says of drafts why they are none.

    `waits` says what was too much for one dream, `late` how much that is; `waiting` are the raw memories of such
    drafts: they are left to the next.
    """

    new: tuple[Memory, ...] = ()
    replaced: tuple[Memory, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    refused: tuple[str, ...] = ()
    shifts: tuple[Shift, ...] = ()
    merged: int = 0
    waits: tuple[str, ...] = ()
    late: int = 0
    waiting: frozenset[str] = frozenset()

    def became(self, status: Status) -> int:
        """Insights that have this status now and had another, or none; words of the moment that were put away do not count."""
        return sum(shift.after == status != shift.before and not shift.put_away for shift in self.shifts)


def decided(material: Material, drafts: Sequence[Draft], config: Config, now: datetime) -> Decision:
    """Settle the drafts with what is known, then look again at every insight: who passes, who fades.

    Without news what waits goes on waiting: a second dream of the same changes nothing.
    """
    settled = _settled(material, drafts, config, now) if material.fresh or drafts else Settled()
    touched = _laid(settled.new, settled.changed, settled.superseded)
    insights = _laid(material.known, touched)
    looked_at = touched if material.more else insights  # all of them when the last portion is dreamt of
    swept = _laid(looked_at, sweep(looked_at, material.raws, config.promote, now))
    insights = _laid(insights, swept, [decayed(insight, now, config.decay) for insight in swept])
    before = {insight.memory_id: insight for insight in material.known}
    new = tuple(insight for insight in insights if insight.memory_id not in before)
    replaced = tuple(insight for insight in insights if before.get(insight.memory_id, insight) != insight)
    return Decision(
        new=new,
        replaced=replaced,
        contradictions=settled.contradictions,
        refused=counted(settled.held_back),
        shifts=tuple(_shift(before.get(one.memory_id), one) for one in (*new, *replaced)),
        merged=sum(len(one.ref_ids) > len(before[one.memory_id].ref_ids) for one in replaced),
        waits=settled.waits,
        late=settled.late,
        waiting=settled.waiting,
    )


def _settled(material: Material, drafts: Sequence[Draft], config: Config, now: datetime) -> Settled:
    return settle(
        drafts, material.known, material.raws, config.dream, now,
        linked=material.contradictions, rounds=ROUNDS,
    )  # fmt: skip


def _laid(*layers: Iterable[Memory]) -> tuple[Memory, ...]:
    """Each memory once, as the last layer that has it says."""
    return tuple({one.memory_id: one for layer in layers for one in layer}.values())


def _shift(before: Memory | None, after: Memory) -> Shift:
    return Shift(
        memory_id=after.memory_id,
        statement=after.content,
        before=before.status if before else None,
        after=after.status,
        confidence=round(after.confidence, 3),
        records=after.origins,
    )


def first_to_last(shifts: Iterable[Shift]) -> tuple[Shift, ...]:
    """Of what changed several times one shift, from its first state to its last."""
    found: dict[str, Shift] = {}
    for shift in shifts:
        first = found.get(shift.memory_id, shift)
        found[shift.memory_id] = replace(shift, before=first.before)
    return tuple(found.values())


def counted(reasons: Iterable[str]) -> tuple[str, ...]:
    """Each reason once, with how often it was given."""
    return tuple(f"{reason} ({times})" if times > 1 else reason for reason, times in Counter(reasons).items())
