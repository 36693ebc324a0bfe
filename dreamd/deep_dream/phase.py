"""Phase 2 of the night for one agent and date: gather, ask once, audit, write; or say why not.

Nothing here decides what is true (`grounds`, `audit`) or how a file is replaced (`writing`).
"""

import hashlib
from collections.abc import Collection
from datetime import date, datetime
from functools import partial

import msgspec
from anyio import CancelScope, to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd import files
from dreamd.calls import Reply
from dreamd.deep_dream import diary
from dreamd.deep_dream.audit import Audited, audit
from dreamd.deep_dream.candidates import candidate, flat
from dreamd.deep_dream.prompt import Composed, compose
from dreamd.deep_dream.reply import Proposal, parse
from dreamd.deep_dream.sources import Material, gather
from dreamd.deep_dream.writing import Intent, encoded, resume, write
from dreamd.errors import BudgetSpent, DiskFull, FileChanged, ProviderError, ReplyUnusable, WorkspaceError
from dreamd.events import LINE_REFUSED, PHASE_FAILED, PHASE_FINISHED, REWRITE_HELD
from dreamd.memories import Memory
from dreamd.parts import Metered, Outcome, Parts
from dreamd.stores.base import Changes, Held, LedgerRow, RunState, Usage, cost, row_of, summed

_FINISHED: tuple[RunState, ...] = ("done", "held")


async def deep_dream(
    parts: Parts,
    agent_id: str,
    day: date,
    *,
    lookback_days: int | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Distil MEMORY.md, the dailies of `lookback_days` up to `day` and new insights into a new MEMORY.md and the diary.

    Never raises for what can go wrong outside: a failed or held run is a ledger row with its reason. `force` runs
    on the same input again. A dry run asks the LLM, so that its diff is honest, and changes nothing. Raises
    ConfigError (unknown agent), StoreError.
    """
    parts.config.agent(agent_id)
    run = _Run(
        parts=parts,
        agent=agent_id,
        day=day,
        lookback_days=lookback_days or parts.config.deep_dream.lookback_days,
        force=force,
        dry_run=dry_run,
        started_at=parts.clock.now(),
    )
    try:
        return await run.dream()
    except ReplyUnusable as error:
        return await run.failed(str(error), settle=True)
    except (
        BudgetSpent
    ) as error:  # it will be free again, however often that is looked at; the gate has told of it
        return await run.failed(str(error), counts=False)
    except (WorkspaceError, FileChanged, DiskFull, ProviderError) as error:
        return await run.failed(str(error))
    finally:
        await run.leave_no_trace()


class _Run(Struct, kw_only=True):
    """One attempt."""

    parts: Parts
    agent: str
    day: date
    lookback_days: int
    force: bool
    dry_run: bool
    started_at: datetime
    prior: LedgerRow | None = None  # what the ledger had for this night before
    provider: Metered | None = None  # of this attempt's calls

    @property
    def usage(self) -> tuple[Usage, ...]:
        return self.provider.usage() if self.provider else ()

    @property
    def job(self) -> str:
        return f"deep_dream:{self.agent}:{self.day.isoformat()}" + (":dry" if self.dry_run else "")

    async def dream(self) -> Outcome:
        self.prior = await to_thread.run_sync(row_of, self.parts.store, self.agent, "deep_dream", self.day)
        if not self.dry_run and (finished := await self.finish_the_last()):
            return finished
        material = await to_thread.run_sync(
            partial(gather, self.parts, self.agent, self.day, self.lookback_days)
        )
        if not material.dailies:
            days = f"{self.lookback_days} days" if self.lookback_days > 1 else "day"
            return await self.skipped(f"no daily in the last {days}")
        same = None if self.force else await self.same_input(material)
        if same is not None:
            return await self.already(same)
        if self.parts.provider is None:
            return await self.skipped("no LLM configured; dailies kept")
        self.provider = self.parts.provider(self.job)
        # the pure parts are quick for a person and long for an event loop
        composed = await to_thread.run_sync(self.compose, material)
        reply = await self.provider.complete(composed.prompt)
        return await self.conclude(await to_thread.run_sync(self.decide, material, composed, reply))

    def compose(self, material: Material) -> Composed:
        limits = self.parts.config.deep_dream
        return compose(material, max_input_tokens=limits.max_input_tokens, max_entries=limits.max_entries)

    def decide(self, material: Material, composed: Composed, reply: Reply) -> "_Decision":
        proposal = parse(reply)
        audited = audit(
            proposal,
            blocks=material.blocks,
            sources=composed.shown,
            limits=self.parts.config.deep_dream,
            undone=material.undone,
            waiting=material.waiting,
        )
        intent = self.intent(material, composed, proposal, audited)
        row = self.decided(material, audited)
        intent = self.holding(intent, row) if audited.over_limit else replace(intent, row=row)
        diff = files.unified(material.base.text, audited.content, material.place.memory)
        return _Decision(audited, intent, row, diff)

    def decided(self, material: Material, audited: Audited) -> LedgerRow:
        """The row as it will stand when all is written."""
        if audited.over_limit:
            return self.row("held", held_reason(audited), input_hash=input_hash(material))
        reason = "" if audited.content != material.base.text else "nothing to change"
        return self.row("done", reason, input_hash=input_hash(material, cited=_cited(audited)))

    async def finish_the_last(self) -> Outcome | None:
        """Carry out what an earlier run decided and did not finish. None when it was not this very night's."""
        written = await to_thread.run_sync(resume, self.parts, self.agent)
        if written is None or written.row is None or written.row.day != self.day:
            return None
        self.parts.emit(PHASE_FINISHED, **self.where, state=written.row.state, resumed=True)
        return Outcome(row=written.row, files=written.files)

    async def conclude(self, decision: "_Decision") -> Outcome:
        audited, intent = decision.audited, decision.intent
        outcome = Outcome(
            row=decision.row,
            diff=decision.diff,
            refused=diary.counted(audited.refused),
            retired=0 if audited.over_limit else len(audited.retired),
            spent=self.usage,
        )
        if self.dry_run:
            return replace(outcome, files=(intent.place.memory,))
        for refusal in audited.refused:
            self.parts.emit(LINE_REFUSED, **self.where, reason=refusal.fault)
        written = await to_thread.run_sync(write, self.parts, intent)
        self.told(audited, decision.row)
        return replace(outcome, files=written.files)

    def intent(self, material: Material, composed: Composed, proposal: Proposal, audited: Audited) -> Intent:
        night = diary.Night(
            dream=proposal.dream,
            sources=[*(source.stated for source in composed.shown), self.day.isoformat()],
            left_out=composed.left_out,
            max_entries=self.parts.config.deep_dream.max_entries,
            language=material.language,
        )
        evidence = {line.text: flat(line) for line in audited.accepted}
        return Intent(
            agent=self.agent,
            day=self.day,
            place=material.place,
            base=material.base.text,
            ours=audited.content,
            author="dreamd",
            language=material.language,
            diary=diary.tell(audited, night),
            evidence=evidence,
            candidates=tuple(self.candidates(audited)),
            seen=material.found,
            job=self.job,
        )

    def holding(self, intent: Intent, row: LedgerRow) -> Intent:
        """The intent that changes nothing but stores the rewrite for a person to decide."""
        note = diary.section(f"### {diary.held_heading(intent.language)}\n\n- {row.reason}\n")
        return replace(
            intent,
            ours=intent.base,
            evidence={},
            candidates=(),
            diary=note,
            row=row,
            held=Held(
                agent=self.agent,
                day=self.day,
                path=str(intent.place.memory),
                base_sha256=files.sha256_of(intent.base),
                content=intent.ours,
                diary=intent.diary.text if intent.diary else "",
                reason=row.reason,
                detail=encoded(intent),
                at=self.parts.clock.now(),
            ),
        )

    def candidates(self, audited: Audited) -> list[Memory]:
        found = (candidate(self.agent, self.day, line, self.parts.clock.now()) for line in audited.candidates)
        return [memory for memory in found if memory is not None]

    # --- the ledger ---

    async def same_input(self, material: Material) -> LedgerRow | None:
        """The newest row that was made from just this input, while MEMORY.md is as it was left then."""
        if not material.settled:
            return None
        wanted = input_hash(material)
        rows = await to_thread.run_sync(self.parts.store.ledger, self.agent, "deep_dream")
        return next((row for row in rows if row.state in _FINISHED and row.input_hash == wanted), None)

    async def already(self, row: LedgerRow) -> Outcome:
        if row.day == self.day:
            return Outcome(row=row, new=False)
        return await self.skipped(f"same input as on {row.day.isoformat()}", input_hash=row.input_hash)

    async def skipped(self, reason: str, *, input_hash: str = "") -> Outcome:
        row = self.row("skipped", reason, input_hash=input_hash)
        if not self.dry_run and not self.finished_before:
            await self.store(Changes(ledger=(row,)))
            self.parts.emit(PHASE_FINISHED, **self.where, state="skipped", reason=reason)
        return Outcome(row=row)

    async def failed(self, reason: str, *, settle: bool = False, counts: bool = True) -> Outcome:
        row = self.row("failed", reason)
        row = row if counts else replace(row, attempts=row.attempts - 1)
        if not self.dry_run:
            standing = replace(self.prior, usage=row.usage) if self.prior and self.finished_before else row
            await self.store(Changes(ledger=(standing,), settled=(self.job,) if settle else ()))
            if counts:
                self.parts.emit(PHASE_FAILED, **self.where, reason=reason, attempts=row.attempts)
        return Outcome(row=row, spent=self.usage)

    @property
    def finished_before(self) -> bool:
        """A finished row of the night is not overwritten by a run that did nothing; its cost grows by that run's."""
        return self.prior is not None and self.prior.state in _FINISHED

    async def store(self, changes: Changes) -> None:
        await to_thread.run_sync(self.parts.store.write, changes)

    def row(self, state: RunState, reason: str = "", *, input_hash: str = "") -> LedgerRow:
        """With what the night has cost so far, earlier attempts included."""
        prior = self.prior
        again = prior is not None and prior.state in ("failed", "running")
        return LedgerRow(
            agent=self.agent,
            day=self.day,
            phase="deep_dream",
            state=state,
            attempts=prior.attempts + 1 if prior and again else 1,
            input_hash=input_hash,
            reason=reason,
            usage=summed((*(prior.usage if prior else ()), *self.usage)),
            started_at=self.started_at,
            finished_at=self.parts.clock.now(),
        )

    async def leave_no_trace(self) -> None:
        """Of a dry run: not even the reply it paid for."""
        if self.dry_run and self.usage:
            with CancelScope(shield=True):
                await self.store(Changes(settled=(self.job,)))

    # --- events ---

    @property
    def where(self) -> dict[str, object]:
        return {"agent": self.agent, "day": self.day, "phase": "deep_dream"}

    def told(self, audited: Audited, row: LedgerRow) -> None:
        if row.state == "held":
            self.parts.emit(REWRITE_HELD, **self.where, retired=len(audited.retired))
        self.parts.emit(
            PHASE_FINISHED,
            **self.where,
            state=row.state,
            entries=audited.entries,
            added=audited.added,
            merged=audited.merged,
            retired=len(audited.retired),
            refused=len(audited.refused),
            put_back=len(audited.put_back),
            candidates=len(audited.candidates),
            **cost(self.usage),
        )


class _Decision(Struct, frozen=True):
    audited: Audited
    intent: Intent
    row: LedgerRow
    diff: str


def held_reason(audited: Audited) -> str:
    return f"the rewrite would retire {len(audited.retired)} entries and leave {audited.entries}"


def input_hash(material: Material, cited: Collection[str] = ()) -> str:
    """Of what may lead to a new result: dailies and insights not `cited`. MEMORY.md is told by `Material.settled`."""
    lines = [(source.day, source.text) for source in material.dailies]
    insights = [source.refs for source in material.insights if not set(source.refs) & set(cited)]
    return hashlib.sha256(msgspec.json.encode((lines, insights))).hexdigest()


def _cited(audited: Audited) -> frozenset[str]:
    return frozenset(ref for line in audited.accepted for ref in flat(line))
