from collections.abc import Iterable

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.calls import Prompt, Purpose, Reply
from dreamd.clock import StillClock
from dreamd.errors import DiskFull, ProviderRefused
from dreamd.events import CALL_RESUMED, Event, silent
from dreamd.gate.journal import Journalled, journal_key, spent
from dreamd.providers.base import Provider
from dreamd.providers.scripted import ScriptedProvider
from dreamd.stores.base import Changes, JournalEntry, Usage, Written, summed
from dreamd.stores.inmemory import InMemoryStore

JOB = "daily:kit:2026-03-02"
PROMPT = Prompt(purpose="daily-summary", system="s", user="u", max_tokens=9)


def journalled(provider: Provider, store: InMemoryStore, clock: StillClock, job: str = JOB) -> Journalled:
    return Journalled(provider, store=store, job=job, clock=clock, emit=silent)


async def test_the_same_prompt_of_the_same_job_is_paid_once(clock: StillClock) -> None:
    store, script = InMemoryStore(), ScriptedProvider(["the day"])
    paid = await journalled(script, store, clock).complete(PROMPT)
    resumed = await journalled(script, store, clock).complete(PROMPT)  # as after a crash
    assert len(script.prompts) == 1
    assert not paid.journalled
    assert resumed == msgspec.structs.replace(paid, journalled=True)


async def test_a_resumed_call_is_told(clock: StillClock) -> None:
    told: list[tuple[Event, dict[str, object]]] = []
    store, script = InMemoryStore(), ScriptedProvider(["the day"])
    await journalled(script, store, clock).complete(PROMPT)
    second = Journalled(
        script, store=store, job=JOB, clock=clock, emit=lambda event, **values: told.append((event, values))
    )
    await second.complete(PROMPT)
    assert told == [(CALL_RESUMED, {"job": JOB, "purpose": "daily-summary"})]


async def test_a_settled_job_pays_again(clock: StillClock) -> None:
    store, script = InMemoryStore(), ScriptedProvider(["one", "two"])
    await journalled(script, store, clock).complete(PROMPT)
    store.write(Changes(settled=(JOB,)))
    assert (await journalled(script, store, clock).complete(PROMPT)).text == "two"


async def test_another_job_pays_for_itself(clock: StillClock) -> None:
    store, script = InMemoryStore(), ScriptedProvider(["one", "two"])
    await journalled(script, store, clock).complete(PROMPT)
    assert (await journalled(script, store, clock, job="daily:kit:2026-03-03").complete(PROMPT)).text == "two"


async def test_a_failed_call_is_not_kept(clock: StillClock) -> None:
    store, script = InMemoryStore(), ScriptedProvider([ProviderRefused("no"), "yes"])
    chain = journalled(script, store, clock)
    with pytest.raises(ProviderRefused):
        await chain.complete(PROMPT)
    assert (await chain.complete(PROMPT)).text == "yes"
    assert chain.usage() == (Usage("daily-summary", calls=1, output_tokens=0),)


class SlowDisk(InMemoryStore):
    """A write that takes until `go`; `durable` is what was asked of each."""

    def __init__(self) -> None:
        super().__init__()
        self.started = anyio.Event()
        self.go = anyio.Event()
        self.durable: list[bool] = []

    def write(self, changes: Changes) -> Written:
        self.durable.append(changes.durable)
        anyio.from_thread.run_sync(self.started.set)
        anyio.from_thread.run(self.go.wait)
        return super().write(changes)


async def test_a_reply_that_came_is_kept_though_the_daemon_is_being_stopped(clock: StillClock) -> None:
    store = SlowDisk()
    async with anyio.create_task_group() as group:
        group.start_soon(journalled(ScriptedProvider(["paid for"]), store, clock).complete, PROMPT)
        await store.started.wait()
        group.cancel_scope.cancel()
        store.go.set()
    entry = store.journalled(journal_key(JOB, PROMPT))
    assert entry is not None
    assert (entry.reply.text, entry.at) == ("paid for", clock.now())
    assert store.durable == [True]


class FullDisk(InMemoryStore):
    def write(self, changes: Changes) -> Written:
        raise DiskFull("no space left")


async def test_a_reply_that_cannot_be_kept_is_not_used(clock: StillClock) -> None:
    chain = journalled(ScriptedProvider(["paid for"]), FullDisk(), clock)
    with pytest.raises(DiskFull):
        await chain.complete(PROMPT)
    assert chain.usage() == ()


class HardlyAnyRoom(InMemoryStore):
    def check_room(self) -> None:
        raise DiskFull("no space left")


async def test_what_could_not_be_kept_is_not_paid_for_and_what_is_kept_is_given_all_the_same(
    clock: StillClock,
) -> None:
    store, provider = HardlyAnyRoom(), ScriptedProvider(["paid for"])
    entry = JournalEntry(
        key=journal_key(JOB, PROMPT),
        job=JOB,
        purpose=PROMPT.purpose,
        reply=Reply(text="kept", stop="end"),
        at=clock.now(),
    )
    store.write(Changes(journal=(entry,)))
    chain = journalled(provider, store, clock)
    assert (await chain.complete(PROMPT)).text == "kept"
    with pytest.raises(DiskFull):
        await chain.complete(msgspec.structs.replace(PROMPT, user="another"))
    assert provider.prompts == []


@pytest.mark.parametrize(
    "other",
    [
        {"purpose": "merge"},
        {"system": "t"},
        {"user": "v"},
        {"max_tokens": 10},
        {"schema": {"type": "object"}},
    ],
)
def test_every_part_of_a_prompt_counts_for_the_key(other: dict[str, object]) -> None:
    assert journal_key(JOB, PROMPT) != journal_key(JOB, msgspec.structs.replace(PROMPT, **other))


def test_the_order_in_which_a_schema_is_written_does_not_count() -> None:
    one = msgspec.structs.replace(PROMPT, schema={"a": 1, "b": 2})
    two = msgspec.structs.replace(PROMPT, schema={"b": 2, "a": 1})
    assert journal_key(JOB, one) == journal_key(JOB, two)


_replies = st.lists(
    st.tuples(
        st.sampled_from(["daily-summary", "merge", "deep-dream"]),
        st.builds(
            Reply,
            text=st.just("x"),
            stop=st.just("end"),
            input_tokens=st.integers(0, 999),
            output_tokens=st.integers(0, 999),
            journalled=st.booleans(),
        ),
    )
)


@given(_replies)
def test_a_tally_counts_every_reply_once_and_pays_only_for_those_not_resumed(
    replies: Iterable[tuple[Purpose, Reply]],
) -> None:
    replies = list(replies)
    rows = summed(spent(purpose, reply) for purpose, reply in replies)
    paid = [reply for _, reply in replies if not reply.journalled]
    assert [row.purpose for row in rows] == list(dict.fromkeys(purpose for purpose, _ in replies))
    assert sum(row.calls for row in rows) == len(paid)
    assert sum(row.resumed for row in rows) == len(replies) - len(paid)
    assert sum(row.input_tokens + row.output_tokens for row in rows) == sum(
        reply.input_tokens + reply.output_tokens for reply in paid
    )


async def test_closing_reaches_the_provider(clock: StillClock) -> None:
    closed: list[bool] = []

    class Closing(ScriptedProvider):
        async def aclose(self) -> None:
            closed.append(True)

    await journalled(Closing([]), InMemoryStore(), clock).aclose()
    assert closed == [True]
