import pytest

from dreamd.errors import NothingToDo, StateLocked, UsageError
from dreamd.hand.correct import correct
from dreamd.hand.pin import pin
from dreamd.hand.remember import remember
from dreamd.locks import dream_lock, exclusive
from tests.dream.conftest import House


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("I prefer tabs over spaces in Makefiles", "I prefer spaces over tabs in Makefiles"),
        ("我喜欢红色", "我喜欢蓝色"),
        ("The shop opens at 9", "The shop opens at 9."),
    ],
)
async def test_the_right_one_stands_and_the_wrong_one_is_history(
    house: House, wrong: str, right: str
) -> None:
    house.says(f"Remember: {wrong}")
    await house.dreams()
    (old,) = house.insights()
    house.next_day()
    done = await correct(house.parts, old.memory_id[:10], right)
    stands = {one.memory_id: one for one in house.insights()}
    past, new = stands[old.memory_id], stands[done.new.memory_id]
    assert (past.status, past.content, past.valid_until) == ("superseded", old.content, house.clock.now())
    assert (new.status, new.content, new.kind) == ("long_term", right, old.kind)
    (pair,) = house.store.contradictions("cat")
    assert {pair.left_id, pair.right_id} == {past.memory_id, new.memory_id}


async def test_the_old_records_do_not_bring_the_wrong_one_back(house: House) -> None:
    house.says("Remember: I love red shirts.")
    await house.dreams()
    (old,) = house.insights()
    house.next_day()
    done = await correct(house.parts, old.memory_id, "I love blue shirts")
    await house.dreams(force=True)
    stands = {one.memory_id: one.status for one in house.insights()}
    assert stands == {old.memory_id: "superseded", done.new.memory_id: "long_term"}


async def test_a_pin_goes_over_to_the_right_one(house: House) -> None:
    old = (await remember(house.parts, "I love red shirts", agent="cat")).insight
    await pin(house.parts, old.memory_id)
    done = await correct(house.parts, old.memory_id, "I love blue shirts")
    assert done.new.pinned
    pins = {one.memory_id: (one.pinned, one.status) for one in house.insights()}
    assert pins == {old.memory_id: (False, "superseded"), done.new.memory_id: (True, "long_term")}


async def test_what_cannot_be_corrected_is_refused(house: House) -> None:
    old = (await remember(house.parts, "I love red shirts", agent="cat")).insight
    with pytest.raises(UsageError):
        await correct(house.parts, old.memory_id, "I love red shirts")
    with pytest.raises(UsageError):
        await correct(house.parts, "nonsense", "I love blue shirts")
    with pytest.raises(UsageError):
        await correct(house.parts, old.memory_id, " ")
    async with exclusive(house.state / dream_lock("cat"), house.clock, what="cat dreams"):
        with pytest.raises(StateLocked):
            await correct(house.parts, old.memory_id, "I love blue shirts")
    await correct(house.parts, old.memory_id, "I love blue shirts")
    with pytest.raises(NothingToDo):
        await correct(house.parts, old.memory_id, "I love green shirts")
