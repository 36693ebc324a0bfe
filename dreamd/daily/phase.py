"""Phase 1 of the night: one day of one agent from the pool into its daily file.

The order in which a kill at any instant loses and doubles nothing: the ledger says `running` with the input's hash,
then the file gets its section, marked with that hash, then one transaction files the records, stores the lines and
drops the journal. A rerun is answered from the journal and finds its own mark.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial

from anyio import CancelScope, to_thread
from msgspec.structs import replace

from dreamd import files
from dreamd.daily import page, publish
from dreamd.daily.ask import Summary, ruled, summary
from dreamd.daily.audit import Entry
from dreamd.daily.lines import listed, memories, standing
from dreamd.daily.material import UNFINISHED, Material, gather
from dreamd.daily.prompt import Day
from dreamd.errors import BudgetSpent, DiskFull, DreamdError, FileChanged, ProviderError, WorkspaceError
from dreamd.events import LINE_REFUSED, PHASE_FAILED, PHASE_FINISHED
from dreamd.memories import Memory, Status
from dreamd.parts import NO_LLM, Metered, Outcome, Parts
from dreamd.stores.base import Changes, LedgerRow, MemoryQuery, RunState, Usage, cost, summed


async def summarise(
    parts: Parts, agent_id: str, day: date, *, force: bool = False, dry_run: bool = False
) -> Outcome:
    """Write what is new of the agent's day into its daily file; nothing new, no call and no byte.

    A day that has a section already gets a supplement from the late records alone; `force` tells the whole day again,
    in place of dreamd's sections of it. A dry run asks the LLM, so that its diff is honest, and changes nothing. What
    goes wrong outside (LLM, workspace, disk) is a `failed` row, to be run again. Raises ConfigError, StoreError.
    """
    agent = parts.config.agent(agent_id)
    read = partial(gather, parts.store, agent, agent_id, day, whole=force)
    run = _Run(parts, await to_thread.run_sync(read), dry_run=dry_run)
    return await run.outcome()


class _Run:
    """One run of the phase. What it wrote or would write ends in `_end`."""

    def __init__(self, parts: Parts, material: Material, *, dry_run: bool) -> None:
        self.parts = parts
        self.material = material
        self.dry_run = dry_run
        self.job = f"daily:{material.agent_id}:{material.day.isoformat()}" + (":dry" if dry_run else "")
        self.where = publish.place(parts.config.agent(material.agent_id), material.day)
        self.provider: Metered | None = None
        self.started_at = parts.clock.now()
        self.began_s = parts.clock.monotonic()

    async def outcome(self) -> Outcome:
        prior = self.material.prior
        if prior and not self.material.whole and self._settled(prior):
            return Outcome(row=prior, new=False)
        if not self.material.unfiled:
            return await self._skip("no records of that day")
        if not self.material.spoken:
            return await self._skip(
                "no conversation that day, only scheduled, injected or subagents' records"
            )
        if self.where is None:
            return await self._skip("no workspace is configured: the records wait for one")
        try:
            return await self._write(self.where)
        except (ProviderError, WorkspaceError, DiskFull, FileChanged) as error:
            return await self._fail(error)
        finally:
            await self._forget_dry_calls()

    def _settled(self, prior: LedgerRow) -> bool:
        """Nothing came since the day was done or skipped."""
        if not self.material.unfiled:
            return prior.state not in UNFINISHED
        return prior.state == "done" and prior.input_hash == self.material.input_hash

    async def _skip(self, reason: str) -> Outcome:
        """Records without a conversation count as filed; what a workspace is missing for does not."""
        prior = self.material.prior
        filed = () if self.material.spoken else self.material.unfiled
        stays = prior is not None and prior.state == "done" and not self.material.spoken
        row = prior if prior and stays else self._row("skipped", reason)
        await self._store(Changes(filed=filed, ledger=(row,), durable=True))
        self._tell(row)
        return Outcome(row=row, new=not stays)

    async def _write(self, where: publish.Place) -> Outcome:
        await to_thread.run_sync(publish.check, where)
        await self._store(Changes(ledger=(self._row("running"),), durable=True))
        told = await self._told()
        if not told.entries:
            return await self._commit(told, (), None)
        shown = listed(told.entries)
        section = self._section(shown, len(told.entries) - len(shown))
        compose = partial(page.put, section=section, instead_of=self._abandoned())
        edit = await to_thread.run_sync(
            partial(files.edit, where.path, compose, root=where.root, dry_run=self.dry_run)
        )
        written = page.lines_of(edit.after, section.day, section.input_hash)
        lines = written or section.lines  # somebody took the closing mark away
        return await self._commit(told, standing(lines, shown, self.material.events), edit)

    async def _told(self) -> Summary:
        events, day = self.material.events, self._day()
        if self.parts.provider is None:
            return ruled(events, day, NO_LLM)
        self.provider = self.parts.provider(self.job)
        last = self._attempt() >= self.parts.config.night.max_attempts
        return await summary(self.provider, events, day, last_attempt=last)

    def _day(self) -> Day:
        limits, material = self.parts.config.daily, self.material
        return Day(
            material.day,
            material.zone,
            material.offset,
            material.language,
            limits.max_input_tokens,
            limits.max_output_tokens,
            chosen=self.parts.config.agent(material.agent_id).language != "auto",
        )

    def _section(self, entries: Sequence[Entry], more: int) -> page.Section:
        return page.Section(
            day=self.material.day,
            input_hash=self.material.input_hash,
            agent=self.material.agent_id,
            lines=[entry.text for entry in entries],
            language=self.material.language,
            rules=sum(entry.by_rule for entry in entries),
            hours=self.material.hours,
            more=more,
        )

    def _begun(self) -> tuple[str, ...]:
        """Input hashes of runs that began and were never committed: one of them may have written its section."""
        prior = self.material.prior
        return tuple(prior.input_hash.split()) if prior and prior.state in UNFINISHED else ()

    def _abandoned(self) -> tuple[str, ...] | None:
        if self.material.whole:
            return None
        return tuple(begun for begun in self._begun() if begun != self.material.input_hash)

    async def _commit(self, told: Summary, entries: Sequence[Entry], edit: files.Edit | None) -> Outcome:
        row = self._row("done", "; ".join(told.notes))
        kept = list(memories(entries, self.material, self.parts.clock.now()))
        changes = Changes(
            memories=kept,
            statuses=await self._replaced(kept),
            filed=self.material.unfiled,
            ledger=(row,),
            settled=(self.job,),
            durable=True,
        )
        await self._store(changes)
        self._tell(row, entries, told.refused)
        changed = edit is not None and edit.after != edit.before
        return Outcome(
            row=row,
            files=(edit.path,) if edit and changed else (),
            diff=edit.diff if edit else "",
            refused=told.refused,
            spent=self._usage(),
        )

    async def _replaced(self, kept: Iterable[Memory]) -> tuple[tuple[str, Status], ...]:
        """When the whole day is told anew: its earlier lines are superseded, but for those that were said again."""
        if not self.material.whole:
            return ()
        query = MemoryQuery(
            agent=self.material.agent_id,
            types=("summary",),
            statuses=("fresh", "superseded"),
            window=self.material.day,
        )
        old = await to_thread.run_sync(lambda: list(self.parts.store.memories(query)))
        again = {memory.memory_id for memory in kept}
        return tuple((one.memory_id, "fresh" if one.memory_id in again else "superseded") for one in old)

    async def _fail(self, error: DreamdError) -> Outcome:
        row = self._row("failed", str(error))
        spent = isinstance(error, BudgetSpent)
        if spent:  # it will be free again, however often that is looked at; the gate has told of it
            row = replace(row, attempts=row.attempts - 1)
        await self._store(Changes(ledger=(row,), durable=True))
        if not self.dry_run and not spent:
            self.parts.emit(
                PHASE_FAILED,
                phase="daily",
                agent=row.agent,
                day=row.day,
                attempts=row.attempts,
                reason=row.reason,
                error=type(error).__name__,
            )
        self._tell(row)
        return Outcome(row=row, spent=self._usage())

    def _attempt(self) -> int:
        """Counted by failures: a run that was killed is repeated, not counted."""
        prior = self.material.prior
        if not prior or prior.state not in UNFINISHED:
            return 1
        return prior.attempts + (prior.state == "failed")

    def _row(self, state: RunState, reason: str = "") -> LedgerRow:
        """The row as it stands now. While a run is not committed, `input_hash` lists all hashes begun."""
        prior, now = self.material.prior, self.material.input_hash
        begun = dict.fromkeys((*self._begun(), now)) if state in UNFINISHED else (now,)
        return LedgerRow(
            agent=self.material.agent_id,
            day=self.material.day,
            phase="daily",
            state=state,
            attempts=self._attempt(),
            input_hash=" ".join(begun),
            reason=reason,
            usage=summed((*(prior.usage if prior else ()), *self._usage())),
            started_at=self.started_at,
            finished_at=None if state == "running" else self.parts.clock.now(),
        )

    def _usage(self) -> tuple[Usage, ...]:
        return self.provider.usage() if self.provider else ()

    async def _store(self, changes: Changes) -> None:
        if not self.dry_run:
            await to_thread.run_sync(self.parts.store.write, changes)

    async def _forget_dry_calls(self) -> None:
        if self.dry_run and self.provider:
            with CancelScope(shield=True):
                await to_thread.run_sync(self.parts.store.write, Changes(settled=(self.job,)))

    def _tell(self, row: LedgerRow, entries: Sequence[Entry] = (), refused: Sequence[str] = ()) -> None:
        if self.dry_run:
            return
        about: dict[str, object] = {"phase": "daily", "agent": row.agent, "day": row.day}
        for reason in refused:
            self.parts.emit(LINE_REFUSED, **about, reason=reason)
        self.parts.emit(
            PHASE_FINISHED,
            **about,
            state=row.state,
            reason=row.reason,
            attempts=row.attempts,
            records=self.material.records,
            events=len(self.material.events),
            lines=len(entries),
            by_rule=sum(entry.by_rule for entry in entries),
            refused=len(refused),
            **cost(self._usage()),
            seconds=round(self.parts.clock.monotonic() - self.began_s, 3),
        )
