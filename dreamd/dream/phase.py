"""One dream of one agent: raw memories that no dream has seen become insights, with an LLM or without.

What has piled up is dreamt of in portions of `dream.pool_threshold` records, one after another, each with a transaction
of its own: memory does not grow with the backlog, and when it is through nothing waits but what it names.

The order in which a kill at any instant loses and doubles nothing: the store says how far the dream looks, then the
replies are journalled one by one, then one transaction writes the insights, marks the raw memories, drops the journal.
Whoever dreams next goes on with the same input, is answered from the journal, and ends in the same insights.
"""

from collections.abc import Collection, Sequence
from datetime import date

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.clock import local_date
from dreamd.config import zone_of
from dreamd.dream.decide import Decision, Shift, decided, first_to_last
from dreamd.dream.draft import Draft
from dreamd.dream.draw import Drawn, ParkedGroup, Progress, Together, draw, nobody
from dreamd.dream.extract import drafts as extracted
from dreamd.dream.material import Known, Material, Portion, gather
from dreamd.events import DREAM_FINISHED, DREAM_PARKED
from dreamd.locks import dream_lock, exclusive
from dreamd.parts import NO_LLM, Metered, Parts
from dreamd.sections import Llm
from dreamd.stores.base import Changes, LedgerRow, RunState, Usage, cost, summed

NOTHING = "nothing new"
WAIT_S = 0.25


class Unfinished(Struct, frozen=True, omit_defaults=True):
    """What the store keeps of a dream between dreams.

    `until` (a `Memory.seq`), `again`, `day`, `reached` and `more` are set while one is under way: a dream that was killed
    goes on with the portion behind `reached` up to `until`, and with those behind it where there is `more`.
    `parked` are the groups that the last dream could not make anything of; their raw memories wait for the next.
    Nothing waits at or before `after` (a `Memory.seq`), but for what a later line of a log brought back.
    """

    until: int | None = None
    again: bool = False
    day: date | None = None
    reached: int = 0
    more: bool = False
    after: int = 0
    parked: tuple[ParkedGroup, ...] = ()


class Counts(Struct, frozen=True, kw_only=True):
    """One dream in numbers; calls, tokens and what was resumed stand in `Dreamt.spent`."""

    records: int = 0  # raw memories looked at
    scored: int = 0
    kept: int = 0
    drafts: int = 0
    new: int = 0
    merged: int = 0
    contradicted: int = 0
    promoted: int = 0
    superseded: int = 0
    archived: int = 0
    refused: int = 0
    parked: int = 0
    waiting: int = 0  # insights, contradictions and corrections that were too many for one dream


class Dreamt(Struct, frozen=True, kw_only=True):
    """What one dream did, or (dry run) would do.

    `shifts` are the insights that came or changed; `refused` says why drafts were turned down, without log text, and
    `waits` what is left to the next dream that has news.
    `spent` is what this dream took, `cost` its price where the configuration knows the prices (0: not known); the row's
    usage is what all dreams of that day took together. `outage`: the LLM could not be reached, or the
    agent has no budget left. `new` is False when there was nothing to do.
    """

    row: LedgerRow
    counts: Counts = Counts()
    shifts: tuple[Shift, ...] = ()
    refused: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    parked: tuple[ParkedGroup, ...] = ()
    spent: tuple[Usage, ...] = ()
    cost: float = 0.0
    outage: bool = False
    new: bool = True


def meta_key(agent_id: str) -> str:
    """Where the store keeps `Unfinished`."""
    return f"dream:{agent_id}"


async def dream(
    parts: Parts,
    agent_id: str,
    *,
    day: date | None = None,
    force: bool = False,
    dry_run: bool = False,
    progress: Progress = nobody,
    wait_s: float = WAIT_S,
) -> Dreamt:
    """Dream of what is new since the agent's last dream; nothing new, no call and no insight touched.

    `force` dreams of all raw memories again, which doubles nothing. `day` is the ledger's date, today by default. A dry
    run asks the LLM, so that what it shows is honest, and changes nothing. What an LLM fails at is parked, not raised.
    Raises ConfigError (unknown agent), StateLocked when another process dreams of this agent for longer than `wait_s`,
    StoreError, DiskFull.
    """
    parts.config.agent(agent_id)
    today = await to_thread.run_sync(_today, parts, agent_id) if day is None else day
    run = _Run(parts, agent_id, today, force=force, dry_run=dry_run, progress=progress)
    if dry_run:
        return await run.dreamt()
    lock = parts.state / dream_lock(agent_id)
    async with exclusive(lock, parts.clock, what=f"{agent_id} dreams", wait_s=wait_s):
        return await run.dreamt()


def _today(parts: Parts, agent_id: str) -> date:
    return local_date(parts.clock.now(), zone_of(parts.config.agent(agent_id)))


def unfinished(parts: Parts, agent_id: str) -> Unfinished:
    """Blocking."""
    kept = parts.store.meta(meta_key(agent_id))
    return msgspec.json.decode(kept, type=Unfinished) if kept else Unfinished()


class _Run:
    def __init__(
        self, parts: Parts, agent_id: str, day: date, *, force: bool, dry_run: bool, progress: Progress
    ) -> None:
        self.parts = parts
        self.agent_id = agent_id
        self.day = day
        self.force = force
        self.dry_run = dry_run
        self.progress = Together(progress)
        # without a date: a dream that was killed before midnight is answered from the journal after it
        self.job = f"dream:{agent_id}" + (":dry" if dry_run else "")
        self.provider: Metered | None = None
        self.prior: LedgerRow | None = None
        self.parked: tuple[ParkedGroup, ...] = ()
        self.interrupted = Unfinished()
        self.waits_behind: int | None = None  # a `Memory.seq`, where something waits
        self.known: Known | None = None
        self.started_at = parts.clock.now()
        self.began_s = parts.clock.monotonic()

    async def dreamt(self) -> Dreamt:
        try:
            return await self._through()
        finally:
            await self._forget_dry_calls()

    async def _through(self) -> Dreamt:
        """Portion after portion, until there is no more or no LLM to be had."""
        portion: Portion | None = await to_thread.run_sync(self._first)
        done: list[Dreamt] = []
        while portion is not None:
            one, portion = await self._portion(portion)
            done += [one] if one else []
        if not done:
            return self._nothing()
        outcome = self._joined(done)
        self._tell(outcome)
        return outcome

    async def _portion(self, portion: Portion) -> tuple[Dreamt | None, Portion | None]:
        """What came of it, and the next one. Its records are let go before those of the next are read."""
        material = await to_thread.run_sync(self._gathered, portion)
        one = await self._one(material, portion)
        if not material.more or (one and one.outage):
            return one, None
        self.progress.next()
        return one, Portion(after=material.until, again=portion.again, most=portion.most)

    def _first(self) -> Portion:
        """Where to begin. A dream that was interrupted goes on with what it had, and no more."""
        before = unfinished(self.parts, self.agent_id)
        self.day = before.day or self.day
        rows = self.parts.store.ledger(self.agent_id, "dream", since=self.day)
        self.prior = next((row for row in rows if row.day == self.day), None)
        most = self.parts.config.dream.pool_threshold
        interrupted = before.until is not None or before.reached > 0
        if self.dry_run or not interrupted or (self.force and not before.again):
            # the first dream of a day looks at all that waits
            after = before.after if self.prior and not self.force else 0
            return Portion(after=after, again=self.force, most=most)
        self.parked = before.parked
        self.waits_behind = before.after if before.after < before.reached else None
        self.interrupted = before
        return Portion(after=before.reached, until=before.until, again=before.again, most=most)

    def _gathered(self, portion: Portion) -> Material:
        agent = self.parts.config.agent(self.agent_id)
        material = gather(self.parts.store, agent, self.agent_id, portion, self.known)
        return replace(material, more=self.interrupted.more) if portion.until is not None else material

    async def _one(self, material: Material, portion: Portion) -> Dreamt | None:
        await self._begin(material, portion)
        drawn = await self._drawn(material)
        rules = await to_thread.run_sync(extracted, material.fresh)
        decision = await to_thread.run_sync(self._decided, material, (*rules, *drawn.drafts))
        if not material.fresh and not decision.shifts and not decision.contradictions:
            return None
        return await self._commit(material, portion, drawn, decision, drafts=len(rules) + len(drawn.drafts))

    async def _begin(self, material: Material, portion: Portion) -> None:
        """Say how far this portion goes, before the first call: the same prompts must come again after a kill."""
        if not material.fresh or self.parts.provider is None:
            return  # without calls there is nothing to resume: a killed dream leaves nothing and is dreamt anew
        left = self._unfinished(material, portion)
        after = portion.after if self.waits_behind is None else self.waits_behind
        begun = replace(left, until=material.until, reached=portion.after, after=after)
        await self._store(
            Changes(ledger=(self._row("running", material),), meta=self._meta(begun), durable=True)
        )

    def _unfinished(self, material: Material, portion: Portion) -> Unfinished:
        """What is left when a portion is done: all behind it, or what waits of those that are."""
        after = material.until if self.waits_behind is None else self.waits_behind
        left = Unfinished(after=after, parked=self.parked)
        if not material.more:
            return replace(left, again=portion.again, day=self.day)
        return replace(left, again=portion.again, day=self.day, reached=material.until, more=True)

    async def _drawn(self, material: Material) -> Drawn:
        if not material.fresh:
            return Drawn()
        if self.parts.provider is not None and self.provider is None:
            self.provider = self.parts.provider(self.job)
        drawn = await draw(self.provider, material, self.parts, self.progress)
        return drawn if self.provider else replace(drawn, note=NO_LLM)

    def _decided(self, material: Material, drafts: Sequence[Draft]) -> Decision:
        return decided(material, drafts, self.parts.config, self.started_at)

    def _nothing(self) -> Dreamt:
        row = self.prior or replace(self._row("skipped", None), reason=NOTHING)
        return Dreamt(row=row, new=False)

    async def _commit(
        self, material: Material, portion: Portion, drawn: Drawn, decision: Decision, *, drafts: int
    ) -> Dreamt:
        waiting = {memory_id for group in drawn.parked for memory_id in group.ids} | decision.waiting
        looked_at = [one for one in material.fresh if one.memory_id not in waiting and one.status == "fresh"]
        self.parked += drawn.parked
        if waiting and self.waits_behind is None:
            self.waits_behind = _behind(material, waiting)
        left = self._unfinished(material, portion)
        if not material.more or drawn.outage:
            left = Unfinished(after=left.after, parked=left.parked)
        row = self._row("done", material, _reason(drawn.note, self.parked, decision.waits))
        changes = Changes(
            memories=(*drawn.summaries, *decision.new),
            replaced=decision.replaced,
            contradictions=decision.contradictions,
            statuses=tuple((one.memory_id, "dreamt") for one in looked_at),
            ledger=(row,),
            settled=() if drawn.outage else (self.job,),
            meta=self._meta(left),
            durable=True,
        )
        await self._store(changes)
        if self.dry_run:
            self.known = material.after((*decision.new, *decision.replaced), decision.contradictions)
        refused = (*drawn.refused, *decision.refused)
        return Dreamt(
            row=row,
            counts=_counts(material, drawn, decision, drafts=drafts, refused=len(refused)),
            shifts=decision.shifts,
            refused=refused,
            waits=decision.waits,
            parked=drawn.parked,
            outage=drawn.outage,
        )

    def _joined(self, done: Sequence[Dreamt]) -> Dreamt:
        """The portions as one; of an insight that changed in several of them, from its first state to its last."""
        spent = self._usage()
        return Dreamt(
            row=done[-1].row,
            counts=Counts(**{name: sum(getattr(one.counts, name) for one in done) for name in Counts.__struct_fields__}),
            shifts=first_to_last(shift for one in done for shift in one.shifts),
            refused=tuple(reason for one in done for reason in one.refused),
            waits=tuple(reason for one in done for reason in one.waits),
            parked=tuple(group for one in done for group in one.parked),
            outage=done[-1].outage,
            spent=spent,
            cost=price(spent, self.parts.config.llm),
        )  # fmt: skip

    # --- the ledger ---

    def _row(self, state: RunState, material: Material | None, reason: str = "") -> LedgerRow:
        prior = self.prior
        return LedgerRow(
            agent=self.agent_id,
            day=self.day,
            phase="dream",
            state=state,
            attempts=1,
            input_hash=material.input_hash if material else "",
            reason=reason,
            usage=summed((*(prior.usage if prior else ()), *self._usage())),
            started_at=self.started_at,
            finished_at=None if state == "running" else self.parts.clock.now(),
        )

    def _meta(self, now: Unfinished) -> dict[str, str]:
        return {meta_key(self.agent_id): msgspec.json.encode(now).decode()}

    def _usage(self) -> tuple[Usage, ...]:
        return self.provider.usage() if self.provider else ()

    async def _store(self, changes: Changes) -> None:
        if not self.dry_run:
            await to_thread.run_sync(self.parts.store.write, changes)

    async def _forget_dry_calls(self) -> None:
        if self.dry_run and self.provider:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self.parts.store.write, Changes(settled=(self.job,)))

    # --- events ---

    def _tell(self, outcome: Dreamt) -> None:
        if self.dry_run:
            return
        about: dict[str, object] = {"agent": self.agent_id, "day": self.day}
        for group in outcome.parked:
            self.parts.emit(
                DREAM_PARKED, **about, group=group.key, records=len(group.ids), reason=group.reason
            )
        self.parts.emit(
            DREAM_FINISHED,
            **about,
            **msgspec.structs.asdict(outcome.counts),
            **cost(outcome.spent),
            cost=outcome.cost,
            reason=outcome.row.reason,
            seconds=round(self.parts.clock.monotonic() - self.began_s, 3),
        )


def _behind(material: Material, waiting: Collection[str]) -> int:
    """The place before which no raw memory waits for a dream."""
    parked = (memory.seq - 1 for memory in material.fresh if memory.memory_id in waiting)
    return min(parked, default=material.until)


def _reason(note: str, parked: Sequence[ParkedGroup], waits: Sequence[str]) -> str:
    waiting = f"{len(parked)} group(s) wait for the next dream" if parked else ""
    return "; ".join(filter(None, (note, waiting, *waits)))


def _counts(material: Material, drawn: Drawn, decision: Decision, *, drafts: int, refused: int) -> Counts:
    return Counts(
        records=len(material.fresh),
        scored=drawn.scored,
        kept=drawn.kept,
        drafts=drafts,
        new=sum(not shift.put_away for shift in decision.shifts if shift.before is None),
        merged=decision.merged,
        contradicted=len(decision.contradictions),
        promoted=decision.became("long_term"),
        superseded=decision.became("superseded"),
        archived=decision.became("archived"),
        refused=refused,
        parked=len(drawn.parked),
        waiting=decision.late,
    )


def price(spent: Sequence[Usage], llm: Llm) -> float:
    """What the tokens cost by `llm.input_price` and `output_price`, each of a million."""
    millions = (one.input_tokens * llm.input_price + one.output_tokens * llm.output_price for one in spent)
    return round(sum(millions) / 1e6, 6)
