from pathlib import Path

import pytest

from dreamd.errors import UsageError
from dreamd.hand.evidence import evidence
from dreamd.hand.remember import remember
from tests.dream.conftest import House


async def test_an_insight_is_followed_down_to_what_was_said(house: House) -> None:
    kept = await remember(house.parts, "I hate red", agent="cat")
    node = await evidence(house.parts, kept.insight.memory_id[:9])
    assert (node.kind, node.text, node.status, node.confidence) == ("insight", "I hate red", "long_term", 0.9)
    (record,) = node.rests_on
    assert (record.kind, record.role, record.standing) == ("record", "user", "told")


@pytest.mark.parametrize(
    "what",
    [
        "",
        "nonsense",
        "notes/MEMORY.md",
        "MEMORY.md",
        "/nowhere/MEMORY.md:3",
        "\udcff",
        "\0:1",
        "a\0b.md:1",
        "M.md:" + "1" * 5000,
    ],
)
async def test_what_names_nothing_is_refused(house: House, what: str) -> None:
    with pytest.raises(UsageError):
        await evidence(house.parts, what)


async def test_a_file_needs_a_line(house: House, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("x")
    with pytest.raises(UsageError, match="names no line"):
        await evidence(house.parts, str(tmp_path / "notes"))
