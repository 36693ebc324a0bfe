import anyio
import anyio.lowlevel
import pytest

from dreamd.gate.deadline import Budget, given_back, stands_still


async def test_a_block_that_takes_longer_is_cut() -> None:
    budget = Budget(0.01)
    with pytest.raises(TimeoutError), budget.within():
        await anyio.sleep_forever()
    assert budget.left == 0


async def test_what_a_block_leaves_over_is_left_for_the_next() -> None:
    budget = Budget(60)
    with budget.within():
        await anyio.sleep(0.002)
    assert 0 < budget.left < 60


async def test_time_in_which_it_stands_still_is_not_spent() -> None:
    budget = Budget(0.01)
    with budget.within():
        with stands_still():
            await anyio.sleep(0.03)
        await anyio.lowlevel.checkpoint()
    assert budget.left > 0


async def test_it_runs_on_after_it_stood_still() -> None:
    async def stands_and_runs_on() -> None:
        with Budget(0.01).within():
            with stands_still():
                await anyio.lowlevel.checkpoint()
            await anyio.sleep_forever()

    with pytest.raises(TimeoutError):
        await stands_and_runs_on()


async def test_without_a_deadline_there_is_nothing_to_stand_still() -> None:
    with stands_still():
        await anyio.lowlevel.checkpoint()
    budget = Budget(1)
    with budget.within():
        pass
    assert budget.left > 0


async def test_two_calls_at_once_each_have_their_own_deadline() -> None:
    async def waits(budget: Budget, turn: anyio.Event) -> None:
        with budget.within(), stands_still():
            await turn.wait()

    patient, turn = Budget(0.01), anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(waits, patient, turn)
        with pytest.raises(TimeoutError), Budget(0.02).within():
            await anyio.sleep_forever()
        turn.set()
    assert patient.left > 0


async def test_what_was_lost_through_no_fault_of_the_call_is_given_back() -> None:
    kept, lost = Budget(60), Budget(60)
    for budget, condition in ((kept, True), (lost, False)):
        with budget.within(), given_back(lambda condition=condition: condition):
            await anyio.sleep(0.05)
    assert kept.left > 59.99
    assert lost.left < 59.96


async def test_a_deadline_that_has_cut_a_call_is_not_taken_back() -> None:
    async def cut() -> None:
        with Budget(0.01).within(), given_back(lambda: True):
            await anyio.sleep_forever()

    with pytest.raises(TimeoutError):
        await cut()
