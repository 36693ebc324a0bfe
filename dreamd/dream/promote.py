"""Raw memories in, how often an insight was really seen out; and who passes the gate to long-term (pure).

Law: seen means by independent records. A copy, fork, replay or quotation of a record is that record again, what an agent
says after the human said it is an echo, dreamd's own text is nothing, and text that nobody stands for never votes. A
preference or rule is seen in the human's own words only. What the human says on purpose for later passes at once.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.compare import SAME, Adds, compare
from dreamd.dream.said import by_human
from dreamd.dream.verify import bears_out, hard, of_sources
from dreamd.memories import Kind, Memory, Status
from dreamd.pool.acts import acts
from dreamd.pool.redaction import redacted
from dreamd.pool.remembering import remembering_verdicts
from dreamd.pool.similarity import covered
from dreamd.pool.speech import rule_like
from dreamd.records import Trust
from dreamd.sections import Promote

T = TypeVar("T")


class Support(Struct, frozen=True, kw_only=True):
    """Distinct windows, tasks and records among the independent ones. `trust` is the lowest of those.

    `on_purpose`: the human said it to be remembered.
    """

    windows: int = 0
    tasks: int = 0
    records: int = 0
    trust: Trust = Trust.UNTRUSTED
    on_purpose: bool = False


def support(raws: Iterable[Memory], statement: str = "", kind: Kind | None = None) -> Support:
    """What the raw memories come to as evidence; with a statement only those count that each bear it out.

    Of very many the earliest and the latest are looked at: more of them say nothing more, and cost.
    """
    votes = independent(_voters(telling(raws), statement, kind))
    return Support(
        windows=len({vote.window for vote in votes}),
        tasks=len({task_of(vote) for vote in votes}),
        records=len(votes),
        trust=min((vote.trust for vote in votes), default=Trust.UNTRUSTED),
        on_purpose=bool(statement) and any(on_purpose(vote, statement) for vote in votes),
    )


_FIRST, _LAST = 8, 24


def telling(raws: Iterable[Memory]) -> list[Memory]:
    """The earliest and the latest, all where they are few."""
    found = list(raws)
    if len(found) > _FIRST + _LAST:
        found.sort(key=lambda one: (one.happened, one.seq, one.memory_id))
    return telling_of(found)


def telling_of(things: Sequence[T]) -> list[T]:
    """The first and the last of things in order."""
    few = len(things) <= _FIRST + _LAST
    return list(things) if few else [*things[:_FIRST], *things[-_LAST:]]


def support_of(insight: Memory, raws: Mapping[str, Memory]) -> Support:
    """The support of an insight by the raw memories among its refs.

    What was moved to an archive cannot be read here any more and is no less true: it counts as far as it did.
    """
    evidence = evidence_of(insight, raws)
    found = support(evidence, insight.content, insight.kind)
    away = [one for one in evidence if moved(one)]
    return replace(
        found,
        windows=_still(found.windows, insight.windows, len({one.window for one in away})),
        tasks=_still(found.tasks, insight.tasks, len({task_of(one) for one in away})),
        records=_still(found.records, insight.origins, len(away)),
        trust=found.trust if found.records or not away else min(one.trust for one in away),
    )


def moved(memory: Memory) -> bool:
    """Its words are in an archive, or gone by retention: not withdrawn."""
    return memory.status == "archived" or (memory.role != "tool" and not memory.content.strip())


def _still(found: int, before: int, away: int) -> int:
    return max(found, min(before, found + away))


def evidence_of(insight: Memory, raws: Mapping[str, Memory]) -> list[Memory]:
    return [raws[ref] for ref in insight.ref_ids if ref in raws]


def task_of(memory: Memory) -> str:
    return memory.task_id or memory.session_id or memory.memory_id


# --- who votes ---


def humans_own(statement: str, kind: Kind | None) -> bool:
    """A preference, habit or rule: only the human's own words can show it."""
    return kind in ("preference", "behaviour") or rule_like(statement)


def _voters(raws: Iterable[Memory], statement: str, kind: Kind | None) -> Iterator[Memory]:
    least = Trust.HUMAN if statement and humans_own(statement, kind) else Trust.AGENT
    for memory in raws:
        own = _own(memory) if memory.type == "raw" and memory.trust >= least else None
        if own is not None and (not statement or _votes_for(own, statement)):
            yield own


def _own(memory: Memory) -> Memory | None:
    """The memory with its own words alone, if it has any that are not dreamd's."""
    words = own_words(memory.content)
    return replace(memory, content=words) if words.strip() and "[dreamd:" not in memory.content else None


@remembering_verdicts(20_000)
def _votes_for(memory: Memory, statement: str) -> bool:
    return bears_out(memory, statement) or _says(memory, statement)


def _says(memory: Memory, statement: str) -> bool:
    """The human says the same in other words, or that and more."""
    return by_human(memory) and any(says(act.statement, statement) for act in acts(memory.content))


def says(told: str, statement: str) -> bool:
    """Who says `told` says the statement."""
    verdict = compare(told, statement)
    return verdict == SAME or (isinstance(verdict, Adds) and verdict.core == statement)


def independent(raws: Iterable[Memory]) -> list[Memory]:
    """In order of time, each that is no copy of an earlier one and comes from no line that has been counted."""
    taken: list[Memory] = []
    seen: set[object] = set()
    for memory in sorted(raws, key=lambda one: (one.happened, one.seq, one.memory_id)):
        marks = {words_of(memory.content), _place(memory)}
        echo = memory.trust < Trust.HUMAN and any(one.trust == Trust.HUMAN for one in taken)
        if not (marks & seen or echo):
            taken.append(memory)
            seen |= marks
    return taken


def _place(memory: Memory) -> object:
    """The line or row of the log: what one message holds is one record."""
    span = memory.span
    return (span.source_id, span.offset, span.table, span.row) if span else memory.memory_id


def words_of(text: str) -> str:
    """The words of a text whatever its case, punctuation, white space and dress."""
    return "".join(re.findall(r"\w", unicodedata.normalize("NFKC", text).casefold()))


_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(r"\"[^\"\n]+\"|“[^”\n]+”|「[^」\n]+」|『[^』\n]+』|(?<!\w)'[^'\n]+'(?!\w)")
_LONG = 3  # words: fewer in quotation marks are a name or a value
_LONG_CHINESE = 6  # characters


def own_words(text: str) -> str:
    """The text without what it quotes."""
    return _QUOTED.sub(lambda match: " " if _is_long(match[0]) else match[0], _QUOTED_LINE.sub(" ", text))


def _is_long(quoted: str) -> bool:
    return len(quoted.split()) >= _LONG or len(re.findall(r"[\u3400-\u9fff]", quoted)) >= _LONG_CHINESE


_BORNE = 0.5  # of the statement's words that the sentence holds


def on_purpose(memory: Memory, statement: str) -> bool:
    """The human states this for later: remember, from now on, always, 记住, 以后."""
    return (
        by_human(memory)
        and memory.trust == Trust.HUMAN
        and any(
            act.explicit
            and covered(statement, act.quote) >= _BORNE
            and not hard(of_sources(statement, [act.quote]))
            for act in acts(memory.content)
        )
    )


# --- the gate ---


def lacks(insight: Memory, support: Support, promote: Promote) -> tuple[str, ...]:
    """What the insight still lacks to be believed for good, in sentences; () when it passes."""
    return tuple(_lacking(insight, support, promote))


def _lacking(insight: Memory, found: Support, promote: Promote) -> Iterator[str]:
    if redacted(insight.content):
        yield "it holds the mark of a removed secret"
    if not found.records:
        yield _unsupported(insight)
    elif not found.on_purpose:
        yield from _too_few("day", found.windows, promote.min_windows)
        yield from _too_few("task", found.tasks, promote.min_tasks)
        yield from _too_few("independent record", found.records, promote.min_records)


def _unsupported(insight: Memory) -> str:
    if humans_own(insight.content, insight.kind):
        return "no record of the human's own words states it"
    return "no record that can be trusted states it by itself"


def _too_few(what: str, count: int, least: int) -> Iterator[str]:
    if count < least:
        yield f"seen in {count} {what}{'s' * (count != 1)}, needs {least}"


def sweep(
    insights: Iterable[Memory],
    raws: Mapping[str, Memory],
    settings: Promote,
    now: datetime,  # noqa: ARG001 - as every step of a dream is called
) -> list[Memory]:
    """The insights that change when all are looked at again, as they are to be.

    Who passes becomes long-term, whenever its evidence came. Who passed on evidence that was withdrawn since goes back,
    and who has none left is archived. `raws` are all raw memories that the insights rest on, but for withdrawn ones.
    """
    looked_at = ((insight, _looked_at(insight, raws, settings)) for insight in insights)
    return [after for before, after in looked_at if after != before]


def _looked_at(insight: Memory, raws: Mapping[str, Memory], settings: Promote) -> Memory:
    if insight.status not in ("candidate", "long_term"):
        return insight
    found = support_of(insight, raws)
    missing = lacks(insight, found, settings)
    return replace(
        insight,
        status=_status(insight, found, missing, bare=not evidence_of(insight, raws)),
        windows=found.windows,
        tasks=found.tasks,
        origins=found.records,
    )


def _status(insight: Memory, found: Support, missing: Sequence[str], *, bare: bool) -> Status:
    if insight.pinned:
        return insight.status
    if bare:
        return "archived"
    if not missing:
        return "long_term"
    withdrawn = (
        found.windows < insight.windows or found.tasks < insight.tasks or found.records < insight.origins
    )
    return "candidate" if withdrawn else insight.status
