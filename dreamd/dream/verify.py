"""A draft and the raw memories of this very input in, its faults out; and what is left of a draft that has none (pure).

Law: what a draft states exactly stands in the records it names; it does not turn them round; a preference or rule is
the human's own; of the records named only those count that each bear it out alone, for each is a vote. No model is asked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, get_args

from msgspec.structs import replace

from dreamd.dream.bent import bent, stronger
from dreamd.dream.draft import Draft, Quote
from dreamd.dream.said import by_human, commands, fold, said
from dreamd.memories import Memory
from dreamd.pool.claims import unspoken
from dreamd.pool.language import Tongue
from dreamd.pool.redaction import redacted
from dreamd.pool.similarity import contrary, covered, keywords, negated
from dreamd.pool.speech import asks, explicit, rule_like
from dreamd.pool.support import facts, unsupported
from dreamd.records import Trust

Fault = Literal[
    "unquoted",  # names no record, or quotes none
    "unknown",  # names a record that is not in this input
    "quote",  # a quote that does not stand in its record
    "facts",  # a number, date, time or name that its records do not have
    "contrary",  # denies what its records affirm, or the other way round
    "bent",  # the same words, another matter: who to whom, which number is whose, up or down, perhaps or surely
    "claims",  # tells of a deed or outcome that its records do not speak of
    "untrusted",  # a preference or rule that no human among its records states
    "instruction",  # tells its reader what to do, and no human said so
    "redacted",  # holds the mark of a removed secret
    "example",  # copied from the prompt's example
    "shape",  # a fragment, a question, or longer than a sentence
    "words",  # too little of it stands in its records: kept, but never to be believed
]
FAULTS: tuple[Fault, ...] = get_args(Fault)
WEAK: Fault = "words"
WEAK_CONFIDENCE = 0.2

LONGEST_STATEMENT = 400  # characters
SUPPORTED = 0.5  # of a statement's words that its records hold together
BORNE = 0.4  # of a statement's words that one record must hold to be a vote for it
_LEAST_WORDS = 2  # of a record that says something
_LONGEST_SITUATION = 160  # characters of `applies_when`
_NAME = re.compile(r"\b[A-Z]\w*")
_MARK = re.compile(r"<!--|-->|\[pinned\]|\[dreamd:", re.IGNORECASE)

SAYS: Mapping[Tongue, Mapping[Fault, str]] = {
    "en": {
        "unquoted": "it quotes no record",
        "unknown": "it names a record that is not there",
        "quote": "a quote does not stand letter by letter in its record",
        "facts": "a number, date, time or name stands in none of its records",
        "contrary": "it turns its records round",
        "bent": "it makes something else of its records' words",
        "claims": "it tells of a deed or outcome that its records do not speak of",
        "untrusted": "it is a preference or rule and no human states it in its records",
        "instruction": "it tells the reader what to do and no human said so",
        "redacted": "it holds a removed secret",
        "example": "it is the prompt's example",
        "shape": "it is no plain sentence",
        "words": "little of it stands in its records",
    },
    "zh": {
        "unquoted": "没有引用任何记录",
        "unknown": "引用了不存在的记录",
        "quote": "引文与记录原文不是逐字一致",
        "facts": "有数字、日期、时间或名称不在所引记录中",
        "contrary": "与所引记录的意思相反",
        "bent": "用所引记录的词说了另一回事",
        "claims": "说到了记录中没有提到的行为或结果",
        "untrusted": "是偏好或规则，但所引记录中没有用户本人这样说",
        "instruction": "在指挥读者，而用户没有这样说",
        "redacted": "含有被隐去的秘密",
        "example": "照抄了提示中的示例",
        "shape": "不是一个完整的陈述句",
        "words": "所引记录中很少有这些话",
    },
}


def faults(draft: Draft, inputs: Mapping[str, Memory]) -> tuple[Fault, ...]:
    """All faults of a draft; () for none. `inputs` are the raw memories that were shown, by id."""
    return tuple(
        dict.fromkeys((*_of_refs(draft, inputs), *of_form(draft.statement), *_of_matter(draft, inputs)))
    )


def hard(found: Iterable[Fault]) -> bool:
    """One of them makes the draft untrue, not merely weak."""
    return any(fault != WEAK for fault in found)


def settled(draft: Draft, inputs: Mapping[str, Memory]) -> Draft:
    """What is left of a draft without hard faults: votes alone as refs, quotes of those, entities that occur.

    A draft that its records bear out only together, or hardly, is `weak`: nobody saw it twice.
    """
    sources = _sources(draft, inputs)
    votes = _trusted([memory for memory in sources if bears_out(memory, draft.statement)])
    enough = bool(votes) and not any(of_sources(draft.statement, list(map(stated, votes))))
    kept = votes if enough else sources
    ids = tuple(memory.memory_id for memory in kept)
    quotes = tuple(quote for quote in draft.quotes if quote.memory_id in ids)
    return replace(
        draft,
        ref_ids=ids,
        quotes=quotes or (_best_quote(kept, draft.statement),),
        entities=tuple(one for one in draft.entities if _occurs(one.name, kept)),
        applies_when=_situation(draft.applies_when, kept),
        explicit=any(on_purpose(memory, draft.statement) for memory in kept),
        weak=draft.weak or not enough,
        confidence=draft.confidence if enough else min(draft.confidence, WEAK_CONFIDENCE),
    )


def _best_quote(sources: Sequence[Memory], statement: str) -> Quote:
    """The sentence that holds most of it."""
    sentences = (Quote(memory.memory_id, text) for memory in sources for text in sentences_of(memory))
    return max(sentences, key=lambda quote: covered(statement, quote.text))


# --- what it names ---


def _of_refs(draft: Draft, inputs: Mapping[str, Memory]) -> Iterator[Fault]:
    quoted = {quote.memory_id for quote in draft.quotes}
    if not quoted or not quoted <= set(draft.ref_ids):
        yield "unquoted"
    if not {*draft.ref_ids, *quoted} <= inputs.keys():
        yield "unknown"
    if not all(stands(quote, inputs) for quote in draft.quotes):
        yield "quote"


def stands(quote: Quote, inputs: Mapping[str, Memory]) -> bool:
    """Verbatim in its record, white space folded."""
    wanted, memory = fold(quote.text), inputs.get(quote.memory_id)
    return memory is None or (bool(wanted) and wanted in said(memory))


# --- what it says ---


def of_form(text: str) -> Iterator[Fault]:
    """What is wrong with a text whatever it rests on."""
    if redacted(text):
        yield "redacted"
    fragment = len(text) > LONGEST_STATEMENT or len(re.findall(r"\w", text)) < 2  # noqa: PLR2004 - one letter is no statement
    if fragment or "\n" in text or _MARK.search(text) or text.rstrip().endswith(("?", "？")):
        yield "shape"


def _of_matter(draft: Draft, inputs: Mapping[str, Memory]) -> Iterator[Fault]:
    text, sources = draft.statement, _sources(draft, inputs)
    if _is_a_humans(draft) and not sources:
        yield "untrusted"
    if commands(text) and not any(by_human(memory) and bears_out(memory, text) for memory in sources):
        yield "instruction"
    if _is_a_humans(draft) and sources and all(turned(text, said(memory)) for memory in sources):
        yield "contrary"
    if sources:
        yield from of_sources(text, list(map(stated, sources)))
        if all(bent(text, said(memory)) for memory in sources) or stronger(text, list(map(said, sources))):
            yield "bent"


def of_sources(text: str, sources: Sequence[str]) -> Iterator[Fault]:
    """What a text says beyond its sources."""
    if unsupported(text, sources):
        yield "facts"
    if contrary(text, sources):
        yield "contrary"
    if unspoken(text, sources):
        yield "claims"
    if covered(text, "\n".join(sources)) < SUPPORTED:
        yield WEAK


def _is_a_humans(draft: Draft) -> bool:
    """Only the human's own words make it true, whatever the model calls it."""
    return draft.kind in ("preference", "behaviour") or rule_like(draft.statement)


_CLAUSE = re.compile(
    r"[,.;:!?，。；：！？]+|->|→|\bbut\b|但是?|(?=\b(?:instead of|rather than)\b)|(?=而不是|而非)",
    re.IGNORECASE,
)
_OVER = re.compile(r"(\bprefer\w*\b[^,.;]*?)\s+over\s", re.IGNORECASE)
_INSTEAD = re.compile(r"\s*(?:instead of|rather than|而非)", re.IGNORECASE)


def turned(statement: str, source: str) -> bool:
    """A clause of the statement affirms what the source only denies, or denies what it only affirms, word by word.

    "wants Word" is turned where the source says "PDF, never Word", though it has both words and affirms as well.
    """
    clauses = _clauses(source)
    denied = frozenset(chain.from_iterable(words for words, denies in clauses if denies))
    affirmed = frozenset(chain.from_iterable(words for words, denies in clauses if not denies))
    return any(
        bool(words & affirmed) and not words & denied if denies else bool(words & (denied - affirmed))
        for words, denies in _clauses(statement)
    )


_NOTS = keywords(
    "never always none nothing neither cannot without avoid refuse stop dislike hate rejected against"
)


def _clauses(text: str) -> list[tuple[frozenset[str], bool]]:
    """The words of each clause, and whether it denies."""
    return [
        (keywords(clause) - _NOTS, negated(clause) or _INSTEAD.match(clause) is not None)
        for clause in _CLAUSE.split(_OVER.sub(r"\1 instead of ", text))
    ]


def _sources(draft: Draft, inputs: Mapping[str, Memory]) -> list[Memory]:
    """The records a draft may rest on, of those it names."""
    named = [inputs[ref] for ref in dict.fromkeys(draft.ref_ids) if ref in inputs]
    return [memory for memory in named if by_human(memory)] if _is_a_humans(draft) else named


def stated(memory: Memory) -> str:
    """What it says, and on which day."""
    return f"{said(memory)} ({memory.window.isoformat()})"


# --- who votes for it ---


def bears_out(memory: Memory, statement: str) -> bool:
    """One record alone says so: enough of the words, the same way round, and no number or name is missing.

    A record that names nothing at all may speak of what the statement names ("he said he prefers tea"). One word alone
    states nothing.
    """
    text = stated(memory)
    if len(keywords(said(memory))) < _LEAST_WORDS or covered(statement, text) < BORNE:
        return False
    if covered(_NAME.sub(" ", statement), text) < BORNE:  # names alone say nothing of who bears them
        return False
    if contrary(statement, [text]) or (by_human(memory) and turned(statement, said(memory))):
        return False
    if bent(statement, said(memory)):
        return False
    missing = unsupported(statement, [text])
    return not missing or not (facts(said(memory)) or any(re.search(r"\d", fact) for fact in missing))


def _trusted(votes: list[Memory]) -> list[Memory]:
    """Without the votes of tools and strangers where others suffice: the lowest trust of all would count."""
    return [memory for memory in votes if memory.trust > Trust.UNTRUSTED] or votes


_SENTENCE = re.compile(r"(?:[^.!?;。！？；]|[.](?=\w))+[.!?;。！？；]*")


def on_purpose(memory: Memory, statement: str) -> bool:
    """The human states this for later, in one sentence that is no question."""
    return by_human(memory) and any(
        explicit(sentence)
        and not asks(sentence)
        and not hard(of_sources(statement, [sentence]))
        and covered(statement, sentence) >= SUPPORTED
        for sentence in sentences_of(memory)
    )


def sentences_of(memory: Memory) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.findall(said(memory))] or [said(memory)]


# --- what goes with it ---


def _occurs(name: str, sources: Sequence[Memory]) -> bool:
    return bool(name) and any(name.casefold() in said(memory).casefold() for memory in sources)


def _situation(text: str, sources: Sequence[Memory]) -> str:
    """`applies_when` is free wording, but states no fact of its own and commands nobody."""
    told = list(map(stated, sources))
    wrong = any(of_form(text)) or commands(text) or len(text) > _LONGEST_SITUATION
    return "" if wrong or unsupported(text, told) else text
