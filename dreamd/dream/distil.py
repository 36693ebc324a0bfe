"""A group of raw memories goes in, drafts of insights come out, by way of summaries: recursive, bounded, verified.

Law: no request is over `max_input_tokens`, whatever there is to read; what a reply says is believed no further than its
quotes reach. A reply that cannot be used is asked for again in halves; after `attempts` the group is parked. An outage
is the caller's: it is raised as it came.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from anyio import to_thread
from msgspec import Struct

from dreamd.calls import Reply
from dreamd.clock import Clock
from dreamd.dream import plan, points, reply
from dreamd.dream.draft import Draft
from dreamd.dream.judge import Judged, Resolve, final, judged, named_faults, of_notes, of_records, united
from dreamd.dream.points import Point
from dreamd.dream.prompt import Frame, Step, prompt, room, weight
from dreamd.dream.said import heard, shown
from dreamd.dream.verify import SAYS, Fault
from dreamd.errors import Parked, PromptTooLong, ProviderError, ProviderRefused, ReplyUnusable
from dreamd.memories import Memory
from dreamd.pool.language import Tongue
from dreamd.providers.base import Provider
from dreamd.sections import Dream

Item = TypeVar("Item")
Found = TypeVar("Found")
Ask = Callable[[Sequence[Item], int, Sequence[str]], Awaitable[list[Found]]]
Report = Callable[[int, int], None]  # calls made, calls expected in all

_UNUSABLE: Mapping[Tongue, str] = {
    "en": "It was not one whole JSON object. Be shorter. (attempt {attempt})",
    "zh": "它不是一个完整的 JSON 对象。请更简短。（第 {attempt} 次）",
}
_WHOLE = 600  # tokens: a room up to this one record may fill alone, of a larger one it takes half


class Distilled(Struct, frozen=True, kw_only=True):
    """`drafts` name raw memories of the group alone; `summaries` are the levels between, lowest first.

    `refused` are reasons, for people, without any text of a model or log. `calls` counts those answered from the
    journal too.
    """

    drafts: tuple[Draft, ...] = ()
    summaries: tuple[Memory, ...] = ()
    refused: tuple[str, ...] = ()
    calls: int = 0


def nobody(_made: int, _expected: int) -> None:
    """Shows nothing."""


async def distil(
    provider: Provider,
    group: Sequence[Memory],
    known: Sequence[str],
    settings: Dream,
    language: Tongue,
    clock: Clock,
    report: Report = nobody,
) -> Distilled:
    """The drafts of one group. `known` are statements of earlier insights, the most important first.

    Raises Parked when no usable answer can be had for a part, with the ProviderError as its cause (ProviderRefused: a
    person must act); an outage (ProviderBusy, ProviderUnreachable, BudgetSpent) as it came.
    """
    frame = Frame(language, settings.max_input_tokens, settings.max_output_tokens, tuple(known))
    return await _Distiller(provider, frame, settings, clock, report).distil(group)


class _Node(Struct, frozen=True):
    """A summary on the way up."""

    points: tuple[Point, ...]
    memory: Memory


class _Distiller:
    """One group's way from records to drafts."""

    def __init__(
        self, provider: Provider, frame: Frame, settings: Dream, clock: Clock, report: Report
    ) -> None:
        self._provider = provider
        self._frame = frame
        self._settings = settings
        self._clock = clock
        self._report = report
        self._inputs: Mapping[str, Memory] = {}
        self._summaries: list[Memory] = []
        self._refused: list[str] = []
        self._calls = self._expected = 0
        self._rooms: Mapping[Step, int] = {
            step: room(step, frame) for step in ("distil", "merge", "insights", "conclude")
        }
        least = min(self._rooms["distil"], self._rooms["insights"])
        self._record = least if least <= _WHOLE else max(least // 2, _WHOLE)
        self._part = min(self._rooms["merge"], self._rooms["conclude"]) // plan.FAN

    async def distil(self, group: Sequence[Memory]) -> Distilled:
        # long texts are measured and compared in threads: the loop goes on meanwhile
        records, sizes = await to_thread.run_sync(self._measured, group)
        self._inputs = {memory.memory_id: memory for memory in records}
        if not records:
            drafts: list[Draft] = []
        elif plan.straight(sizes, self._rooms["insights"], self._settings.subgroup_records):
            self._expect(1)
            drafts = await self._halving(records, self._of_records)
        else:
            drafts = await self._by_levels(records, sizes)
        return Distilled(
            drafts=united(drafts, self._settings.similarity),
            summaries=tuple(self._summaries),
            refused=tuple(self._refused),
            calls=self._calls,
        )

    def _measured(self, group: Sequence[Memory]) -> tuple[list[Memory], list[int]]:
        records = [memory for memory in group if memory.type == "raw" and heard(memory)]
        return records, [weight(self._shown(memory, "R999", 1)) for memory in records]

    def _shown(self, memory: Memory, label: str, attempt: int) -> str:
        return shown(memory, label, (self._record >> (attempt - 1)) - 3)

    def _expect(self, calls: int) -> None:
        self._expected = calls
        self._report(0, calls)

    # --- the levels ---

    async def _by_levels(self, records: Sequence[Memory], sizes: Sequence[int]) -> list[Draft]:
        leaves = plan.chunks(sizes, self._rooms["distil"], self._settings.subgroup_records)
        self._expect(plan.calls(len(leaves)))
        nodes = [await self._leaf([records[at] for at in leaf]) for leaf in leaves]
        nodes = [node for node in nodes if node.points]
        while sum(map(self._size, nodes)) > self._rooms["conclude"]:
            cut = plan.chunks([*map(self._size, nodes)], self._rooms["merge"], plan.MOST_MERGED)
            nodes = [await self._merged([nodes[at] for at in part]) for part in cut]
            nodes = [node for node in nodes if node.points]
        top = [point for node in nodes for point in node.points]
        return await self._halving(top, self._of_points) if top else []

    async def _leaf(self, records: Sequence[Memory]) -> _Node:
        found = await self._halving(records, self._noted)
        refs = [memory.memory_id for memory in records if any(memory.memory_id in one.refs for one in found)]
        return await to_thread.run_sync(self._node, found, refs, records)

    async def _merged(self, nodes: Sequence[_Node]) -> _Node:
        if len(nodes) == 1:
            return nodes[0]
        together = [point for node in nodes for point in node.points]
        found = await self._fewer(together)
        below = [node.memory for node in nodes]
        return await to_thread.run_sync(self._node, found, [memory.memory_id for memory in below], below)

    def _node(self, found: Sequence[Point], refs: Sequence[str], below: Sequence[Memory]) -> _Node:
        kept = points.trimmed(found, self._part, self._inputs)
        memory = points.summary(kept, refs, below, self._inputs, self._clock.now())
        if kept:
            self._summaries.append(memory)
        return _Node(kept, memory)

    def _size(self, node: _Node) -> int:
        return sum(weight(self._line(point, "P999")) for point in node.points)

    def _line(self, point: Point, label: str, attempt: int = 1) -> str:
        return points.line(point, label, self._inputs, self._part >> (attempt - 1))

    # --- what is asked ---

    async def _call(self, step: Step, lines: Sequence[str], faults: Sequence[str]) -> Reply:
        asked = await to_thread.run_sync(prompt, step, lines, self._frame, faults)
        self._calls += 1
        self._expected = max(self._expected, self._calls)
        try:
            answer = await self._provider.complete(asked)
        finally:
            self._report(self._calls, self._expected)
        return answer

    async def _halving(
        self, items: Sequence[Item], ask: Ask[Item, Found], attempt: int = 1, faults: Sequence[str] = ()
    ) -> list[Found]:
        """What is found in all items: in halves, and in shorter texts, where a whole has no usable answer."""
        try:
            return await ask(items, attempt, faults)
        except (PromptTooLong, ReplyUnusable) as error:
            if attempt >= self._settings.attempts:
                raise self._parked(error) from error
        except ProviderRefused as error:
            raise self._parked(error) from error
        middle = (len(items) + 1) // 2
        halves = [half for half in (items[:middle], items[middle:]) if half]
        again = (self._unusable(attempt + 1),)
        return [*chain.from_iterable([await self._halving(half, ask, attempt + 1, again) for half in halves])]

    def _unusable(self, attempt: int) -> str:
        return _UNUSABLE[self._frame.language].format(attempt=attempt)

    def _parked(self, error: ProviderError) -> Parked:
        return Parked(
            f"no usable answer for a group of {len(self._inputs)} records: {error.what}",
            hint="it is tried again in the next dream",
        )

    async def _noted(self, records: Sequence[Memory], attempt: int, faults: Sequence[str]) -> list[Point]:
        labelled = {f"R{number}": memory for number, memory in enumerate(records, 1)}
        lines = [self._shown(memory, label, attempt) for label, memory in labelled.items()]
        notes = reply.notes(await self._call("distil", lines, faults))
        found = await to_thread.run_sync(points.noted, notes, labelled)
        own = [fault for fault in dict.fromkeys(found.faults) if fault != "example"]
        if own and not found.points and not faults:
            says = SAYS[self._frame.language]
            return await self._noted(records, attempt, [says[fault] for fault in own])
        self._refuse("a note", found.faults)
        return list(found.points)

    async def _fewer(self, together: Sequence[Point]) -> Sequence[Point]:
        """Merged by the model; where it cannot, left as they are, for no model is needed to carry them."""
        labelled = {f"P{number}": point for number, point in enumerate(together, 1)}
        lines = [self._line(point, label) for label, point in labelled.items()]
        for faults in ((), (self._unusable(2),)):
            try:
                notes = reply.notes(await self._call("merge", lines, faults))
            except (PromptTooLong, ReplyUnusable):
                continue
            except ProviderRefused as error:
                raise self._parked(error) from error
            found = await to_thread.run_sync(points.merged, notes, labelled, self._inputs)
            self._refuse("a merged note", found.faults)
            return found.points
        self._refused.append("a merge had no usable answer: its notes were carried as they are")
        return together

    def _refuse(self, what: str, faults: Sequence[Fault]) -> None:
        self._refused += [f"{what} was refused: {SAYS['en'][fault]}" for fault in faults]

    # --- conclusions ---

    async def _of_records(
        self, records: Sequence[Memory], attempt: int, faults: Sequence[str]
    ) -> list[Draft]:
        labelled = {f"R{number}": memory for number, memory in enumerate(records, 1)}
        lines = [self._shown(memory, label, attempt) for label, memory in labelled.items()]
        return await self._drafted("insights", lines, faults, of_records(labelled))

    async def _of_points(self, top: Sequence[Point], attempt: int, faults: Sequence[str]) -> list[Draft]:
        labelled = {f"P{number}": point for number, point in enumerate(top, 1)}
        lines = [self._line(point, label, attempt) for label, point in labelled.items()]
        return await self._drafted("conclude", lines, faults, of_notes(labelled))

    async def _drafted(
        self, step: Step, lines: Sequence[str], faults: Sequence[str], resolve: Resolve
    ) -> list[Draft]:
        """The drafts of one answer, and of a second one where the first has faults, which are named to the model."""
        proposed = reply.proposals(await self._call(step, lines, faults))
        first = await to_thread.run_sync(judged, proposed, resolve, self._inputs)
        second = await self._second(step, lines, resolve, first) if first.faulty else Judged()
        drafts, refused = await to_thread.run_sync(
            final, first, second, self._inputs, self._settings.similarity
        )
        self._refused += refused
        return drafts

    async def _second(self, step: Step, lines: Sequence[str], resolve: Resolve, first: Judged) -> Judged:
        try:
            answer = await self._call(step, lines, named_faults(first, self._frame.language))
            return await to_thread.run_sync(judged, reply.proposals(answer), resolve, self._inputs)
        except (PromptTooLong, ReplyUnusable):
            return Judged()
