"""Records of what was put right since."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from dreamd.hand.correct import correct
from dreamd.indexes.sqlite import OPEN
from dreamd.parts import Parts
from dreamd.recall.recalling import recall
from dreamd.stores.base import Changes, Contradiction
from tests.dream.conftest import House, house
from tests.recall.pouring import NOW, insight, pour, record

__all__ = ["house"]

SAID = record(1, "the port is 8080")
OLD = insight(1, "The port is 8080", status="superseded", valid_until=NOW, ref_ids=(SAID.memory_id,))
MID = insight(2, "The port is 8377", status="superseded", valid_until=NOW)
NEW = insight(3, "The port is 9000", valid_from=NOW)


def at_odds(parts: Parts, *pairs: tuple[str, str]) -> None:
    noted = [
        Contradiction(agent="ada", left_id=left, right_id=right, reason="8080 or 8377", at=NOW)
        for left, right in pairs
    ]
    parts.store.write(Changes(contradictions=noted))


async def test_it_is_marked_with_what_took_its_place_in_the_end(parts: Parts) -> None:
    pour(parts, SAID, OLD, MID, NEW)
    at_odds(parts, (OLD.memory_id, MID.memory_id), (MID.memory_id, NEW.memory_id))
    answer = await recall(parts, "which port is it?")
    (one,) = answer.records
    assert (one.put_right, one.superseded_by, one.instead) == (True, NEW.memory_id, "The port is 9000")
    assert "the port is 8080 [" in answer.text
    assert f"(put right since: The port is 9000 [{NEW.memory_id[:8]}])" in answer.text


async def test_it_is_marked_though_nothing_is_believed_in_its_place(parts: Parts) -> None:
    pour(parts, SAID, OLD)
    answer = await recall(parts, "which port?")
    assert answer.records[0].put_right
    assert "(put right since)" in answer.text


async def test_as_of_a_day_before_nothing_was_put_right(parts: Parts) -> None:
    pour(parts, SAID, replace(OLD, timestamp=NOW - timedelta(hours=1)), NEW)
    at_odds(parts, (OLD.memory_id, NEW.memory_id))
    answer = await recall(parts, "which port?", as_of=NOW - timedelta(days=1))
    assert [one.put_right for one in answer.records] == [False]


async def test_a_record_that_says_what_is_right_too_needs_no_mark(parts: Parts) -> None:
    both = record(2, "the port is not 8080 but 9000")
    pour(
        parts,
        both,
        replace(OLD, ref_ids=(both.memory_id,)),
        replace(NEW, ref_ids=(both.memory_id,), content="x"),
    )
    at_odds(parts, (OLD.memory_id, NEW.memory_id))
    assert [one.put_right for one in (await recall(parts, "which port?")).records] == [False]


STORIES = [
    ("Remember: the deploy port is 8080.", "The deploy port is 8377", "Correction: the deploy port is 8377, not 8080.", "which deploy port?"),
    ("记住：部署端口是8080。", "部署端口是8377", "更正：部署端口是8377，不是8080。", "部署端口是多少？"),
]  # fmt: skip


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize(("wrong", "right", "correction", "goal"), STORIES)
async def test_after_a_correction_the_wrong_statement_never_comes_unmarked(
    house: House, wrong: str, right: str, correction: str, goal: str, *, by_hand: bool
) -> None:
    said = house.says(wrong)
    await house.dreams()
    house.next_day()
    if by_hand:
        (old,) = house.insights()
        await correct(house.parts, old.memory_id, right)
    else:
        house.says(correction, task="t2")
        await house.dreams()
    index = OPEN(house.state)
    answer = await recall(replace(house.parts, index=index), goal, agents=["cat"])
    index.close()
    (one,) = (record for record in answer.records if record.memory_id == said.memory_id)
    assert one.put_right
    assert "8377" in one.instead
    assert all(record.put_right for record in answer.records if "8377" not in record.text)
    assert any("8377" in insight.statement for insight in answer.insights)
