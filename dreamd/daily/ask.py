"""Events go in, the lines of the daily come out: from the LLM chunk by chunk, from the rule where that cannot be.

Law: an outage makes the daily late, never poor: it is raised while another attempt is left. What will not get better
(a refusal, an unusable answer, no LLM) is the rule's at once, and the notes say so.
"""

from collections.abc import Iterable, Sequence

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.calls import Reply
from dreamd.daily.audit import Audited, Entry, audit, by_rule
from dreamd.daily.prompt import Day, prompt, room
from dreamd.daily.reply import parse
from dreamd.daily.transcript import Event, chunks
from dreamd.errors import (
    BudgetSpent,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
)
from dreamd.providers.base import Provider

_LINE_TOKENS = 32  # of a reply: a chunk holds as many events as lines fit the output limit
_MOST_REFUSALS = 2  # one may be about what a chunk says; two are about the key, and more calls change nothing


class Summary(Struct, frozen=True):
    """Entries in the order of the day; `refused` as the audit says; `notes` for people: where the rule stood in, and why."""

    entries: tuple[Entry, ...]
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def ruled(events: Sequence[Event], day: Day, why: str) -> Summary:
    """All events told by the rule."""
    return Summary(merged(by_rule(events, day.language)), notes=(why,))


async def summary(provider: Provider, events: Sequence[Event], day: Day, *, last_attempt: bool) -> Summary:
    """All events told. Raises BudgetSpent, and unless it is the last attempt ProviderBusy and ProviderUnreachable."""
    scribe = _Scribe(provider, day, last_attempt=last_attempt)
    most = max(day.max_tokens // _LINE_TOKENS, 2)
    # long texts are measured and compared in threads: the loop goes on meanwhile
    runs = await to_thread.run_sync(chunks, events, day.zone, room(day), most)
    told = [await scribe.tell(run) for run in runs]
    return Summary(
        merged(entry for part in told for entry in part.entries),
        tuple(reason for part in told for reason in part.refused),
        tuple(dict.fromkeys(scribe.notes)),
    )


def merged(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Without repetition: the same line twice is one line that rests on the events of both."""
    found: dict[str, Entry] = {}
    for entry in entries:
        same = found.get(entry.text)
        found[entry.text] = replace(same, events=(*same.events, *entry.events)) if same else entry
    return tuple(found.values())


class _Scribe:
    """Asks for one chunk after another and remembers when asking is no use any more."""

    def __init__(self, provider: Provider, day: Day, *, last_attempt: bool) -> None:
        self._provider = provider
        self._day = day
        self._last_attempt = last_attempt
        self._refusals = 0
        self._silent = False
        self.notes: list[str] = []

    async def tell(self, chunk: Sequence[Event]) -> Audited:
        if self._silent:
            return self._ruled(chunk)
        try:
            asked = await to_thread.run_sync(prompt, chunk, self._day)
            reply = await self._provider.complete(asked)
        except PromptTooLong as error:
            return await self._halves(chunk, error)
        except BudgetSpent:
            raise
        except (ProviderBusy, ProviderUnreachable) as error:
            if not self._last_attempt:
                raise
            self._silent = True
            return self._ruled(chunk, error)
        except ProviderError as error:
            self._refusals += isinstance(error, ProviderRefused)
            self._silent = self._refusals >= _MOST_REFUSALS
            return self._ruled(chunk, error)
        return await to_thread.run_sync(self._read, reply, chunk)

    async def _halves(self, chunk: Sequence[Event], error: PromptTooLong) -> Audited:
        if len(chunk) == 1:
            return self._ruled(chunk, error)
        middle = len(chunk) // 2
        first, second = await self.tell(chunk[:middle]), await self.tell(chunk[middle:])
        return Audited((*first.entries, *second.entries), (*first.refused, *second.refused))

    def _read(self, reply: Reply, chunk: Sequence[Event]) -> Audited:
        parsed = parse(reply.text, reply.stop)
        if reply.stop != "end":
            self.notes.append("a reply was cut off; the rule tells what it did not reach")
        if not parsed.lines:
            self.notes.append("a reply held no line; the rule was used")
        return audit(parsed, chunk, self._day.language)

    def _ruled(self, chunk: Sequence[Event], error: ProviderError | None = None) -> Audited:
        if error:
            self.notes.append(f"the rule was used: {error}")
        return Audited(by_rule(chunk, self._day.language))
