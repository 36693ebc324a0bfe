import pytest
from anyio import to_thread

from dreamd.deep_dream.review import accept, find, reject
from dreamd.errors import NothingToDo, UsageError
from tests.deep_dream.conftest import House, reply

OLD = "".join(f"- fact {number} about shelf {number}\n" for number in range(1, 7))


async def held(house: House) -> None:
    house.file.write_text(OLD)
    house.said("User: every fact about a shelf is out of date, the shop moved to Berlin -> Reply: noted")
    retired = "\n".join(f"- M{number}: no longer of interest (D1)" for number in range(1, 6))
    told = await house.dream(reply("- (M6)\n- The shop moved to Berlin (D1)", retired=retired))
    assert told.row.state == "held"


async def test_accepting_writes_file_diary_evidence_and_ledger(house: House) -> None:
    await held(house)
    await to_thread.run_sync(accept, house.parts, 1)
    assert house.memory == "- fact 6 about shelf 6\n- The shop moved to Berlin\n"
    assert "### Retired" in house.diary()
    assert house.store.evidence("cat")["The shop moved to Berlin"].ref_ids
    row = house.row()
    assert row is not None
    assert (row.state, "accepted" in row.reason) == ("done", True)
    assert find(house.parts, 1).state == "accepted"
    assert not (await house.dream()).new


async def test_rejecting_changes_no_byte_and_is_not_asked_again(house: House) -> None:
    await held(house)
    before = (house.memory, house.diary())
    assert reject(house.parts, 1).state == "rejected"
    assert (house.memory, house.diary()) == before
    assert not (await house.dream()).new


async def test_a_decision_is_made_once(house: House) -> None:
    await held(house)
    reject(house.parts, 1)
    for decide in (accept, reject):
        with pytest.raises(NothingToDo, match="rejected already"):
            decide(house.parts, 1)


def test_an_unknown_number_is_a_usage_error(house: House) -> None:
    with pytest.raises(UsageError, match="no held rewrite 3"):
        find(house.parts, 3)
