from datetime import UTC, date, datetime

from dreamd.memories import Memory
from dreamd.pool.remembering import LONG_KEPT, SHORT, remembering, remembering_verdicts

asked: list[str] = []


@remembering(100)
def shouted(text: str, mark: str = "!") -> str:
    """Louder."""
    asked.append(text)
    return text.upper() + mark


def test_what_was_asked_before_is_remembered() -> None:
    asked.clear()
    assert [shouted("tea"), shouted("tea"), shouted("tea", "?"), shouted("tea", mark="?")] == [
        "TEA!", "TEA!", "TEA?", "TEA?",
    ]  # fmt: skip
    assert asked == ["tea"] * 3
    assert (shouted.__name__, shouted.__doc__) == ("shouted", "Louder.")


def test_of_long_texts_few_are_remembered_and_no_short_one_makes_way_for_them() -> None:
    asked.clear()
    shouted("short")
    long = [f"{number} {'x' * SHORT}" for number in range(LONG_KEPT + 1)]
    for text in long:
        shouted(text)
    asked.clear()
    shouted("short")
    shouted(long[-1])
    assert asked == []
    shouted(long[0])
    assert asked == [long[0]]


def test_a_memory_is_as_long_as_what_it_says() -> None:
    counted: list[str] = []

    @remembering(100)
    def said(memory: Memory) -> str:
        counted.append(memory.memory_id)
        return memory.content

    at = datetime(2026, 3, 2, tzinfo=UTC)
    memories = [
        Memory(memory_id=f"m{number}", type="raw", content="x" * SHORT * 2, agent="cat", window=date(2026, 3, 2), received_at=at)
        for number in range(LONG_KEPT + 1)
    ]  # fmt: skip
    for memory in (*memories, memories[0]):
        said(memory)
    assert counted[-1] == "m0"
    assert len(counted) == len(memories) + 1


def test_verdicts_are_remembered_until_there_are_too_many() -> None:
    questions: list[tuple[str, str]] = []

    @remembering_verdicts(2)
    def alike(left: str, right: str) -> bool:
        questions.append((left, right))
        return left == right

    assert [alike("a", "a"), alike("a", "b"), alike("a", "a"), alike("a", "b")] == [True, False, True, False]
    assert questions == [("a", "a"), ("a", "b")]
    assert [alike("b", "b"), alike("a", "a")] == [True, True]
    assert questions[2:] == [("b", "b"), ("a", "a")]
