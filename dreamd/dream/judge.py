"""What a model proposes goes in, drafts that stand and drafts with faults come out; and the last word after a second try (pure)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.draft import Draft, Quote
from dreamd.dream.points import Point, named
from dreamd.dream.prompt import copied
from dreamd.dream.reply import Cited, Proposal
from dreamd.dream.said import found
from dreamd.dream.verify import SAYS, Fault, faults, hard, settled
from dreamd.memories import Memory
from dreamd.pool.language import Tongue
from dreamd.pool.redaction import redacted
from dreamd.pool.similarity import negated, overlap
from dreamd.pool.support import unsupported

Resolve = Callable[[Proposal], Draft]

_SAME_EVIDENCE = 0.3  # overlap of two statements on the same records that say the same in other words
_LONGEST_NAMED = 100  # characters of a faulty statement that the model is shown again


class Judged(Struct, frozen=True):
    """`good` are settled drafts; `copied` counts those that were but the prompt's example: no second answer is due for them."""

    good: tuple[Draft, ...] = ()
    faulty: tuple[tuple[Draft, tuple[Fault, ...]], ...] = ()
    copied: int = 0


def of_records(labelled: Mapping[str, Memory]) -> Resolve:
    """Proposals that quote records. What is not there stays under the name the model gave it, for `faults` to find."""

    def resolve(proposal: Proposal) -> Draft:
        quotes = tuple(dict.fromkeys(quote for cited in proposal.quotes for quote in _quote(cited, labelled)))
        others = (_record(label, labelled) for label in proposal.sources)
        return _draft(proposal, (*(quote.memory_id for quote in quotes), *others), quotes)

    return resolve


def of_notes(labelled: Mapping[str, Point]) -> Resolve:
    """Proposals that name notes: all records under these, and their quotes."""

    def resolve(proposal: Proposal) -> Draft:
        points = [point for label in proposal.sources if (point := named(label, labelled))]
        unknown = tuple(label for label in proposal.sources if named(label, labelled) is None)
        refs = (*(ref for point in points for ref in point.refs), *unknown)
        quotes = dict.fromkeys(quote for point in points for quote in point.quotes)
        return _draft(proposal, refs, tuple(quotes))

    return resolve


def _draft(proposal: Proposal, refs: Iterable[str], quotes: tuple[Quote, ...]) -> Draft:
    return Draft(
        statement=proposal.statement,
        kind=proposal.kind,
        ref_ids=tuple(dict.fromkeys(refs)),
        quotes=quotes,
        entities=proposal.entities,
        applies_when=proposal.applies_when,
        confidence=proposal.confidence,
        author="model",
    )


def _quote(cited: Cited, labelled: Mapping[str, Memory]) -> Iterator[Quote]:
    memory = named(cited.label, labelled)
    text = (found(cited.text, memory) if memory else "") or cited.text
    if not redacted(text):
        yield Quote(memory.memory_id if memory else cited.label, text)


def _record(label: str, labelled: Mapping[str, Memory]) -> str:
    memory = named(label, labelled)
    return memory.memory_id if memory else label


def judged(proposals: Iterable[Proposal], resolve: Resolve, inputs: Mapping[str, Memory]) -> Judged:
    drafts = [(draft, faults(draft, inputs)) for draft in map(resolve, proposals)]
    faulty = [(draft, wrong) for draft, wrong in drafts if wrong and not copied(draft.statement)]
    good = tuple(settled(draft, inputs) for draft, wrong in drafts if not wrong)
    return Judged(good, tuple(faulty), len(drafts) - len(good) - len(faulty))


def named_faults(first: Judged, language: Tongue) -> list[str]:
    """The faulty statements and what is wrong with each, for the model."""
    says = SAYS[language]
    return [
        f'"{draft.statement[:_LONGEST_NAMED]}": {"; ".join(says[fault] for fault in wrong)}'
        for draft, wrong in first.faulty
    ]


def final(
    first: Judged, second: Judged, inputs: Mapping[str, Memory], similarity: float
) -> tuple[list[Draft], list[str]]:
    """What stands after both answers, and why the rest does not. What is merely weak is kept as that."""
    kept = [*first.good, *second.good]
    refused: dict[str, tuple[Fault, ...]] = {}
    for draft, wrong in (*second.faulty, *first.faulty):
        if hard(wrong):
            refused.setdefault(draft.statement, wrong)
        elif not any(alike(draft, other, similarity) for other in kept):
            kept.append(settled(draft, inputs))
    copies = [_reason(("example",))] * (first.copied + second.copied)
    return kept, [*(_reason(wrong) for wrong in refused.values()), *copies]


def _reason(wrong: Iterable[Fault]) -> str:
    return f"an insight was refused: {'; '.join(SAYS['en'][fault] for fault in wrong)}"


def united(drafts: Sequence[Draft], similarity: float) -> tuple[Draft, ...]:
    """The same insight in several wordings is one, on the evidence of all; the first wording stands."""
    found: list[Draft] = []
    for draft in drafts:
        at = next((at for at, other in enumerate(found) if alike(draft, other, similarity)), None)
        if at is None:
            found.append(draft)
        else:
            found[at] = _both(found[at], draft)
    return tuple(found)


def alike(a: Draft, b: Draft, similarity: float) -> bool:
    """They say the same: the same facts and polarity, and most words, or the same records and some words."""
    least = min(_SAME_EVIDENCE, similarity) if set(a.ref_ids) == set(b.ref_ids) else similarity
    one, other = a.statement, b.statement
    same = not unsupported(one, [other]) and not unsupported(other, [one])
    return same and negated(one) == negated(other) and overlap(one, other) >= least


def _both(a: Draft, b: Draft) -> Draft:
    if b.weak and not a.weak:
        return a
    if a.weak and not b.weak:
        return b
    return replace(
        a,
        ref_ids=tuple(dict.fromkeys((*a.ref_ids, *b.ref_ids))),
        quotes=tuple(dict.fromkeys((*a.quotes, *b.quotes))),
        entities=tuple(dict.fromkeys((*a.entities, *b.entities))),
        explicit=a.explicit or b.explicit,
    )
