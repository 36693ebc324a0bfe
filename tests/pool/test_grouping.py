from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.memories import Entity, Memory
from dreamd.pool.grouping import entity_groups, groups

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def memory(name: str, task: str = "", day: int = 2, agent: str = "cat", **more: object) -> Memory:
    fields = {"type": "raw", "content": name, "window": date(2026, 3, day), "received_at": NOON, **more}
    return Memory(memory_id=name, agent=agent, task_id=task, **fields)


def ids(found: Sequence) -> list[tuple[str, ...]]:
    return [group.ids for group in found]


def test_the_records_of_a_task_are_one_group_across_days() -> None:
    found = groups([memory("a", "t1"), memory("b", "t2"), memory("c", "t1", 3), memory("d", "t2", 3)], 10)
    assert ids(found) == [("a", "c"), ("b", "d")]
    assert [group.key for group in found] == ["cat/task/t1/1", "cat/task/t2/1"]


def test_lone_and_taskless_records_of_a_day_are_grouped_by_window() -> None:
    found = groups([memory("a", "t1"), memory("b"), memory("c", "t3", 3)], 10)
    assert [(group.by, group.ids) for group in found] == [("window", ("a", "b")), ("window", ("c",))]


def test_a_large_task_is_cut_in_order() -> None:
    found = groups([memory(str(number), "t") for number in range(5)], 2)
    assert ids(found) == [("0", "1"), ("2", "3"), ("4",)]
    assert len({group.key for group in found}) == 3


def test_agents_are_not_mixed() -> None:
    mixed = [memory("a", "t"), memory("b", "t"), memory("c", "t", agent="dog"), memory("d", "t", agent="dog")]
    assert ids(groups(mixed, 10)) == [("a", "b"), ("c", "d")]


def test_a_group_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="holds none"):
        groups([memory("a")], 0)


_MEMORIES = st.lists(
    st.builds(
        memory,
        st.text("abcdef", min_size=1, max_size=3),
        st.sampled_from(["", "t1", "t2", "t3"]),
        st.integers(1, 4),
        st.sampled_from(["cat", "dog"]),
        type=st.sampled_from(["raw", "raw", "raw", "summary"]),
    ),
    max_size=40,
)


@given(_MEMORIES, st.integers(1, 7))
def test_primary_groups_are_a_partition_in_order_within_size(memories: list[Memory], size: int) -> None:
    found = groups(memories, size)
    order = list(dict.fromkeys(one.memory_id for one in memories if one.type == "raw"))
    members = [memory_id for group in found for memory_id in group.ids]
    assert sorted(members) == sorted(order)
    assert all(1 <= len(group.ids) <= size for group in found)
    assert all(list(group.ids) == sorted(group.ids, key=order.index) for group in found)
    assert len({group.key for group in found}) == len(found)
    assert groups(memories, size) == found


def test_an_entity_joins_across_tasks() -> None:
    said = [
        memory("a", "t1", content="mail ann@example.org about the boat"),
        memory("b", "t1", content="nothing new"),
        memory("c", "t2", content="ann@example.org has answered"),
    ]
    assert [(group.key, group.ids) for group in entity_groups(said)] == [
        ("cat/entity/ann@example.org", ("a", "c"))
    ]


def test_an_entity_of_one_task_joins_nothing() -> None:
    assert entity_groups([memory(name, "t1", content="see src/app.py") for name in "ab"]) == []


def test_entities_that_a_memory_has_are_used() -> None:
    tagged = [memory(name, name, entities=(Entity("Boat", "project"),)) for name in "ab"]
    assert ids(entity_groups(tagged)) == [("a", "b")]
