"""A draft and its records in; the insight that it makes, or that it adds to, out (pure).

Law: an insight rests on the records that may show it and on no others; its trust is the lowest of theirs. Evidence is
only ever added. The wording is that which most of the records bear out; of equals the one said on purpose, then the newer.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from dreamd.dream import confidence
from dreamd.dream.compare import SAME, compare
from dreamd.dream.draft import Draft
from dreamd.dream.promote import evidence_of, humans_own, on_purpose, support, support_of, telling
from dreamd.memories import Kind, Memory, derived_id
from dreamd.pool.acts import acts
from dreamd.records import Trust


def trusted(records: Sequence[Memory], statement: str, kind: Kind | None) -> list[Memory]:
    """The raw memories that may show it: the human's own for a preference or rule; who can be trusted before others."""
    least = Trust.HUMAN if humans_own(statement, kind) else Trust.AGENT
    raw = [memory for memory in records if memory.type == "raw"]
    return [memory for memory in raw if memory.trust >= least] or raw


def born(draft: Draft, records: Sequence[Memory], now: datetime) -> Memory:
    """A candidate."""
    refs = tuple(record.memory_id for record in records)
    found = support(records, draft.statement, draft.kind)
    trust = min(record.trust for record in records)
    return Memory(
        memory_id=derived_id("insight", records[0].agent, draft.statement, refs),
        type="insight",
        content=draft.statement,
        agent=records[0].agent,
        window=max(record.window for record in records),
        received_at=now,
        timestamp=max(one.happened for one in records),
        valid_from=min(one.happened for one in records),
        entities=draft.entities,
        ref_ids=refs,
        confidence=confidence.of(found, trust, contradicted=False, cap=draft.confidence),
        trust=trust,
        status="candidate",
        kind=draft.kind,
        applies_when=draft.applies_when,
        windows=found.windows,
        tasks=found.tasks,
        origins=found.records,
    )


def merged(
    insight: Memory, draft: Draft, records: Sequence[Memory], raws: Mapping[str, Memory], similarity: float
) -> Memory:
    """The insight with the draft's evidence; itself when it had that already."""
    refs = _united(insight, records, raws)
    had = set(insight.ref_ids)
    if refs == insight.ref_ids:
        return insight
    grown = replace(insight, ref_ids=refs)
    evidence = evidence_of(grown, raws)
    grown = replace(grown, content=_worded(insight, draft, evidence, similarity))
    found = support_of(grown, raws)
    trust = min(record.trust for record in evidence)
    if any(ref not in raws for ref in refs):  # not all of very many are at hand
        trust = min(trust, insight.trust)
    figure = confidence.of(found, trust, contradicted=insight.contradictions_flag, cap=draft.confidence)
    news = any(ref not in had for ref in refs)
    return replace(
        grown,
        window=max(record.window for record in evidence),
        timestamp=max(one.happened for one in evidence),
        valid_from=min(one.happened for one in evidence),
        entities=tuple(dict.fromkeys((*insight.entities, *draft.entities))),
        applies_when=insight.applies_when or draft.applies_when,
        confidence=max(insight.confidence, figure),
        trust=trust,
        status="candidate" if news and insight.status == "archived" else insight.status,
        windows=found.windows,
        tasks=found.tasks,
        origins=found.records,
    )


def _united(insight: Memory, records: Iterable[Memory], raws: Mapping[str, Memory]) -> tuple[str, ...]:
    """All refs, without those records that may not show it when others may."""
    refs = tuple(dict.fromkeys((*insight.ref_ids, *(record.memory_id for record in records))))
    named = [raws[ref] for ref in refs if ref in raws]
    kept = {record.memory_id for record in trusted(named, insight.content, insight.kind)}
    return tuple(ref for ref in refs if ref not in raws or ref in kept)


def _worded(insight: Memory, draft: Draft, evidence: Sequence[Memory], similarity: float) -> str:
    """The better of the two wordings; a new one must agree with everything that the human said of it."""
    if draft.statement == insight.content or not _agreed(insight, draft, evidence, similarity):
        return insight.content
    keep = insight.status == "long_term"
    return max(
        (insight.content, draft.statement),
        key=lambda text: (_borne(text, evidence, insight.kind), (text == insight.content) == keep),
    )


def _borne(text: str, evidence: Sequence[Memory], kind: Kind | None) -> tuple[int, bool]:
    return support(evidence, text, kind).records, any(
        on_purpose(record, text) for record in telling(evidence)
    )


def _agreed(insight: Memory, draft: Draft, evidence: Iterable[Memory], similarity: float) -> bool:
    said = {act.statement for record in telling(evidence) for act in acts(record.content)}
    ours = [text for text in said if compare(text, insight.content, similarity) == SAME]
    return all(compare(text, draft.statement, similarity) == SAME for text in ours)
