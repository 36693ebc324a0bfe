"""A provider that never pays twice: each reply of a job is kept in the store until the job commits.

Law: a reply that came is written down before anybody uses it, even while the daemon is being stopped, and none is asked
for that could not be; the same prompt of the same job is answered from there. The phase drops a job's entries with
`Changes.settled`, in the transaction that commits the job, and also when it gives the reply up as worthless: else the
next attempt is answered with it again.
"""

import hashlib

import anyio
import msgspec
from anyio import to_thread
from msgspec.structs import replace

from dreamd.calls import Prompt, Purpose, Reply
from dreamd.clock import Clock
from dreamd.events import CALL_RESUMED, Emit
from dreamd.providers.base import Provider
from dreamd.stores.base import Changes, JournalEntry, Store, Usage, summed

_encode = msgspec.json.Encoder(order="deterministic").encode


def journal_key(job: str, prompt: Prompt) -> str:
    """SHA-256 over the job and the whole prompt, purpose and schema included."""
    return hashlib.sha256(_encode((job, prompt))).hexdigest()


def spent(purpose: Purpose, reply: Reply) -> Usage:
    """What a reply cost. One from the journal counts as resumed, not as paid."""
    if reply.journalled:
        return Usage(purpose, resumed=1)
    return Usage(purpose, 1, reply.input_tokens, reply.output_tokens)


class Journalled(Provider):
    """The chain's outermost link, one for each job. Raises StoreError and DiskFull besides what the provider raises."""

    def __init__(self, provider: Provider, *, store: Store, job: str, clock: Clock, emit: Emit) -> None:
        self._provider = provider
        self._store = store
        self._job = job
        self._clock = clock
        self._emit = emit
        self._spent: list[Usage] = []

    def usage(self) -> tuple[Usage, ...]:
        """What this job's calls cost so far, for the ledger."""
        return summed(self._spent)

    async def complete(self, prompt: Prompt) -> Reply:
        key = journal_key(self._job, prompt)
        reply = await self._recalled(key, prompt) or await self._paid(key, prompt)
        self._spent.append(spent(prompt.purpose, reply))
        return reply

    async def aclose(self) -> None:
        await self._provider.aclose()

    async def _recalled(self, key: str, prompt: Prompt) -> Reply | None:
        entry = await to_thread.run_sync(self._store.journalled, key)
        if entry is None:
            return None
        self._emit(CALL_RESUMED, job=self._job, purpose=prompt.purpose)
        return replace(entry.reply, journalled=True)

    async def _paid(self, key: str, prompt: Prompt) -> Reply:
        await to_thread.run_sync(self._store.check_room)
        reply = await self._provider.complete(prompt)
        # from here to the disk nothing may come between: not even the cancellation that stops the daemon
        with anyio.CancelScope(shield=True):
            entry = JournalEntry(
                key=key, job=self._job, purpose=prompt.purpose, reply=reply, at=self._clock.now()
            )
            await to_thread.run_sync(self._store.write, Changes(journal=(entry,), durable=True))
        return reply
