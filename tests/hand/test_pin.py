import pytest
from msgspec.structs import replace

from dreamd.errors import NothingToDo, UsageError
from dreamd.hand.pin import pin, unpin
from dreamd.hand.remember import remember
from dreamd.stores.base import Changes, Written
from dreamd.stores.inmemory import InMemoryStore
from tests.dream.conftest import House


async def test_a_pinned_insight_never_fades_until_it_is_unpinned(house: House) -> None:
    kept = await remember(house.parts, "I hate red", agent="cat")
    pinned = await pin(house.parts, kept.insight.memory_id[:8])
    assert pinned.pinned
    house.next_day(2000)
    await house.dreams()
    assert [one.status for one in house.insights()] == ["long_term"]
    assert not (await unpin(house.parts, kept.insight.memory_id)).pinned
    await house.dreams()
    assert [one.status for one in house.insights()] == ["archived"]


@pytest.mark.parametrize("status", ["candidate", "archived"])
async def test_a_pin_vouches_for_what_was_not_believed(house: House, status: str) -> None:
    kept = await remember(house.parts, "I hate red", agent="cat")
    house.store.write(Changes(replaced=[replace(kept.insight, status=status)]))
    assert (await pin(house.parts, kept.insight.memory_id)).status == "long_term"
    assert [one.status for one in house.insights()] == ["long_term"]


async def test_what_is_no_insight_or_stands_so_already_is_refused(house: House) -> None:
    kept = await remember(house.parts, "I hate red", agent="cat")
    assert kept.record is not None
    for unknown in ("", "nonsense", kept.record.memory_id):
        with pytest.raises(UsageError):
            await pin(house.parts, unknown)
    with pytest.raises(NothingToDo):
        await unpin(house.parts, kept.insight.memory_id)
    await pin(house.parts, kept.insight.memory_id)
    with pytest.raises(NothingToDo):
        await pin(house.parts, kept.insight.memory_id)
    house.store.write(
        Changes(pins=[(kept.insight.memory_id, False)], statuses=[(kept.insight.memory_id, "superseded")])
    )
    with pytest.raises(UsageError, match="was superseded"):
        await pin(house.parts, kept.insight.memory_id)


class Overtaken(InMemoryStore):
    """Whose insight is put right just before a pin is written."""

    def write(self, changes: Changes) -> Written:
        for memory_id, pinned in changes.pins:
            if pinned:
                super().write(Changes(statuses=[(memory_id, "superseded")]))
        return super().write(changes)


async def test_a_pin_that_looked_before_a_correction_revives_nothing(house: House) -> None:
    house.store = Overtaken()
    kept = await remember(house.parts, "I hate red", agent="cat")
    with pytest.raises(UsageError, match="was superseded"):
        await pin(house.parts, kept.insight.memory_id)
    (past,) = house.insights()
    assert (past.status, past.pinned) == ("superseded", False)
