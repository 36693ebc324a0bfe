"""A wish to forget in; all the memories that go with it, and the insights that stay on less, out. Reads only.

Law: what rests only on what goes, goes; what would bring it back when the logs are dreamt of again goes; what is borne
out without it stays.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.material import with_records
from dreamd.dream.promote import lacks, support_of
from dreamd.hand.matching import Needle, Sound, needle, tells_of, texts_of
from dreamd.hand.named import named
from dreamd.hand.plan import Why, Wish
from dreamd.memories import THERE, Memory, memory_ids
from dreamd.parts import Parts
from dreamd.pool.similarity import covered
from dreamd.stores.base import MemoryQuery, Store

_STATES_IT = 0.4  # of a statement's words, those of a record that it was drawn from
_MOST_MENTIONS = 20
_MOST_LOOKED_AT = 2000  # records of a session


class Doomed(Struct, frozen=True):
    memory: Memory
    why: Why


class Cascade(Struct, frozen=True, kw_only=True):
    """`gone` by id, in the order they were found; `weakened` as they are to be."""

    gone: Mapping[str, Doomed]
    weakened: tuple[Memory, ...] = ()
    needle: Needle = Needle()
    mentions: tuple[Memory, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All that goes with them."""
        return tuple(text for one in self.gone.values() for text in texts_of(one.memory) if text)


def cascade(parts: Parts, wish: Wish) -> Cascade:
    """Blocks; looks at the whole pool. Raises UsageError (an id that names none, or more than one), StoreError."""
    fall = _Fall(parts, wish)
    fall.ask()
    fall.dig()
    fall.copies()
    fall.rise()
    return Cascade(
        gone=fall.gone,
        weakened=tuple(fall.weakened()),
        needle=fall.needle,
        mentions=tuple(fall.mentions()) if wish.ids else (),
    )


class _Fall:
    """What goes, as it is found."""

    def __init__(self, parts: Parts, wish: Wish) -> None:
        self.parts = parts
        self.store: Store = parts.store
        self.wish = wish
        self.gone: dict[str, Doomed] = {}
        self.shaken: dict[str, Memory] = {}  # rests on what goes, and on other things too
        self.needle = needle(wish.matching)

    def ask(self) -> None:
        for memory_id in self.wish.ids:
            self._doom(named(self.store, memory_id), "asked")
        if self.wish.matching:
            for memory in self._holding(self.needle):
                if any(map(self.needle.found_in, texts_of(memory))):
                    self._doom(memory, "asked")

    def dig(self) -> None:
        """Down to the records that a forgotten conclusion would be drawn from again."""
        for doomed in list(self.gone.values()):
            if doomed.memory.type != "raw":
                for memory in self._sources(doomed.memory):
                    self._doom(memory, "source")
        texts = (one.memory.content for one in self.gone.values() if one.memory.type == "raw")
        self.needle = needle(self.wish.matching, texts)

    def copies(self) -> None:
        """The same words again: quoted, or read under another name."""
        if not self.needle.words:
            return
        for memory in self._holding(self.needle):
            if memory.memory_id not in self.gone and any(map(self.needle.copied_in, texts_of(memory))):
                self._doom(memory, "copy")

    def rise(self) -> None:
        """Up to all that rests on what goes, layer by layer."""
        layer = list(self.gone)
        while layer:
            above = {one.memory_id: one for ref in layer for one in self._resting_on(ref)}
            layer = []
            for memory in above.values():
                if self._falls(memory):
                    self._doom(memory, "rests")
                    layer.append(memory.memory_id)
                else:
                    self.shaken[memory.memory_id] = memory
        self.shaken = {one: memory for one, memory in self.shaken.items() if one not in self.gone}

    def weakened(self) -> Iterator[Memory]:
        """The insights as they are to be: on the evidence that is left, and long-term only if that is enough."""
        for memory in self.shaken.values():
            left = replace(memory, ref_ids=tuple(ref for ref in memory.ref_ids if ref not in self.gone))
            if memory.type != "insight":
                yield left
                continue
            _, raws = with_records(self.store, memory.agent, [left])
            found = support_of(left, raws)
            short = lacks(left, found, self.parts.config.promote) and not memory.pinned
            yield replace(
                left,
                windows=found.windows,
                tasks=found.tasks,
                origins=found.records,
                status="candidate" if short and memory.status == "long_term" else memory.status,
            )

    def mentions(self) -> Iterator[Memory]:
        """Others that tell of it, and stay: in the same sessions, and among what was concluded."""
        sound = Sound(one.memory.content for one in self.gone.values())
        found = 0
        for memory in self._near():
            if memory.memory_id not in self.gone and sound.echoes_in(memory.content):
                yield memory
                found += 1
            if found >= _MOST_MENTIONS:
                return

    def _near(self) -> Iterator[Memory]:
        sessions = {(one.memory.agent, one.memory.session_id) for one in self.gone.values()}
        for agent, session_id in sorted(sessions):
            if session_id:
                query = MemoryQuery(agent=agent, session_id=session_id, limit=_MOST_LOOKED_AT)
                yield from self.store.memories(query)
        for agent in sorted({agent for agent, _ in sessions}):
            yield from self.store.memories(MemoryQuery(agent=agent, types=("insight", "summary")))

    # --- one memory ---

    def _doom(self, memory: Memory, why: Why) -> None:
        self.gone.setdefault(memory.memory_id, Doomed(memory, why))

    def _falls(self, memory: Memory) -> bool:
        left = [ref for ref in memory.ref_ids if ref not in self.gone]
        kept = [one.content for one in self._under(memory.agent, left) if one.type == "raw"]
        if not kept and len(memory_ids(left)) == len(left):
            return True
        gone = [
            text for ref in memory.ref_ids if ref in self.gone for text in texts_of(self.gone[ref].memory)
        ]
        return tells_of(memory.content, gone, kept)

    def _sources(self, memory: Memory) -> list[Memory]:
        """The records under it that state it; all of them when none does by itself."""
        raws = [one for one in self._lineage(memory.agent, memory.ref_ids) if one.type == "raw"]
        if self.wish.matching and any(one.memory_id in self.gone for one in raws):
            return []
        return [one for one in raws if covered(memory.content, one.content) >= _STATES_IT] or raws

    def _under(self, agent: str, refs: Sequence[str]) -> list[Memory]:
        """What is left of the memories below, down to the raw ones."""
        return [one for one in self._lineage(agent, refs) if one.memory_id not in self.gone]

    def _lineage(self, agent: str, refs: Sequence[str]) -> list[Memory]:
        found: dict[str, Memory] = {}
        layer = set(memory_ids(refs))
        while layer:
            query = MemoryQuery(agent=agent, ids=tuple(sorted(layer)), statuses=THERE)
            fresh = [one for one in self.store.memories(query) if one.memory_id not in found]
            found |= {one.memory_id: one for one in fresh}
            layer = {ref for one in fresh for ref in memory_ids(one.ref_ids)} - found.keys()
        return list(found.values())

    def _resting_on(self, ref: str) -> Iterable[Memory]:
        query = MemoryQuery(rests_on=(ref,), statuses=THERE)
        return (one for one in self.store.memories(query) if one.memory_id not in self.gone)

    def _holding(self, needle: Needle) -> Iterator[Memory]:
        """All that may hold it."""
        query = MemoryQuery(agent=self.wish.agent, statuses=THERE, holding=needle.probes)
        return self.store.memories(query)
