"""Raw memories in; what people said in them that may be worth keeping out, as drafts, without an LLM (pure).

Law: only the human's own words make a preference, a fact, a decision, a rule. An agent's words count for one thing,
why something that verifiably failed did fail, and only as a lesson. A draft says nothing its quotes do not hold.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from dreamd.dream.draft import Draft, Quote
from dreamd.memories import GONE, Entity, Memory
from dreamd.pool import acts, cues, entities
from dreamd.pool.acts import Act, normal
from dreamd.pool.redaction import redacted
from dreamd.pool.speech import instruction
from dreamd.pool.stated import sentences

# confidence by cue, 1 for all others: a plain statement may be of the moment, a passing word surely is
_SURE = {
    "hurry": 0.5,
    "manner": 0.6,
    "told": 0.7,
    "statement": 0.8,
    "habit": 0.9,
    "usual": 0.9,
    "lesson": 0.9,
}
_AGENTS_WORD = 0.5  # confidence of a lesson that an agent drew
_NEAR = 12  # records of a session between a failure and the words on it

corrects = acts.corrects


def drafts(memories: Iterable[Memory]) -> list[Draft]:
    """One draft for each sentence that states something; the same sentence in several memories is one.

    `memories` come in order of arrival. Each draft's `ref_ids` are the raw memories it stands in, with a quote of each.
    What was said on purpose for later comes first, then the surer: whoever takes only some misses the least.
    """
    found: dict[tuple[str, str], list[Draft]] = {}
    for draft in _found(memories):
        found.setdefault((draft.kind, _same(draft.statement)), []).append(draft)
    joined = [_joined(alike) for alike in found.values()]
    return sorted(joined, key=lambda draft: (not draft.explicit, -draft.confidence))


def _found(memories: Iterable[Memory]) -> Iterator[Draft]:
    sessions: dict[tuple[str, str], _Session] = {}
    for memory in memories:
        if memory.type != "raw" or memory.status in GONE:
            continue
        session = sessions.setdefault((memory.agent, memory.session_id), _Session())
        session.heard += 1
        if memory.role == "tool":
            session.note(memory)
        elif memory.origin == "human":
            yield from _humans(memory) if memory.role == "user" else session.lessons(memory)


def _humans(memory: Memory) -> Iterator[Draft]:
    for act in acts.acts(memory.content):
        yield Draft(
            statement=act.statement,
            kind=act.kind,
            ref_ids=(memory.memory_id,),
            quotes=(Quote(memory.memory_id, act.quote),),
            entities=_entities(act),
            applies_when=act.applies_when,
            confidence=_SURE.get(act.cue, 1.0),
            explicit=act.explicit,
            passing=act.passing,
        )


def _entities(act: Act) -> tuple[Entity, ...]:
    about = (Entity(act.what, "preference"),) if act.what else ()
    return (*about, *entities.of(act.quote))


class _Session:
    """What failed lately in one session, so that words on it can be joined with it."""

    def __init__(self) -> None:
        self.heard = 0
        self.failed: Memory | None = None
        self.failed_at = 0

    def note(self, memory: Memory) -> None:
        if memory.ok is False:
            self.failed, self.failed_at = memory, self.heard

    def lessons(self, memory: Memory) -> Iterator[Draft]:
        if memory.role != "assistant" or self.failed is None or self.heard - self.failed_at > _NEAR:
            return
        for sentence in sentences(memory.content, document=True):
            if _is_lesson(sentence):
                yield Draft(
                    statement=" ".join(sentence.split()),
                    kind="lesson",
                    ref_ids=(self.failed.memory_id, memory.memory_id),
                    quotes=(Quote(memory.memory_id, sentence),),
                    entities=entities.of(sentence),
                    confidence=_AGENTS_WORD,
                )


def _is_lesson(sentence: str) -> bool:
    plain = normal(sentence)
    if cues.NOT_STATED.search(plain) or redacted(sentence) or instruction(sentence):
        return False
    return cues.FOUND_OUT.search(plain) is not None


def _same(statement: str) -> str:
    return " ".join(re.findall(r"\w+", normal(statement).casefold()))


def _joined(alike: Sequence[Draft]) -> Draft:
    first = alike[0]
    if len(alike) == 1:
        return first
    quotes = dict.fromkeys(quote for draft in alike for quote in draft.quotes)
    return Draft(
        statement=first.statement,
        kind=first.kind,
        ref_ids=tuple(dict.fromkeys(ref for draft in alike for ref in draft.ref_ids)),
        quotes=tuple(quotes),
        entities=first.entities,
        applies_when=first.applies_when,
        confidence=max(draft.confidence for draft in alike),
        explicit=any(draft.explicit for draft in alike),
        passing=all(draft.passing for draft in alike),
    )
