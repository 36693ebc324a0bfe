from datetime import UTC, datetime
from pathlib import Path

import pytest
from anyio import to_thread

from dreamd.deep_dream.history import last_write, undo, unified, versions
from dreamd.errors import UsageError
from dreamd.stores.base import FileVersion
from tests.deep_dream.conftest import DAY, House, reply


def history(*authors: str) -> list[FileVersion]:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    return [
        FileVersion(agent="cat", path="p", author=author, content="", sha256="", at=at)  # type: ignore[arg-type]
        for author in authors
    ]


@pytest.mark.parametrize(
    ("authors", "index"),
    [
        ((), None),
        (("found",), None),
        (("dreamd", "found"), 0),
        (("found", "dreamd", "found"), 1),
        (("undo", "dreamd", "found"), None),
        (("undo", "dreamd", "dreamd", "found"), 2),
        (("accepted", "undo", "dreamd"), 0),
        (("undo", "undo", "dreamd", "dreamd"), None),
    ],
)
def test_the_last_write_is_the_newest_that_no_undo_took_back(
    authors: tuple[str, ...], index: int | None
) -> None:
    assert last_write(history(*authors)) == index


def test_a_diff_is_unified_and_empty_for_the_same() -> None:
    assert unified("- a\n", "- a\n", Path("MEMORY.md")) == ""
    assert unified("- a\n", "- a\n- b", Path("MEMORY.md")) == (
        "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1 +1,2 @@\n - a\n+- b\n\\ No newline at end of file\n"
    )


async def test_undo_after_undo_goes_one_night_further_back(house: House) -> None:
    house.said("User: where -> Reply: the shop moved to Berlin")
    await house.dream(reply("- The shop moved to Berlin (D1)"))
    house.said("User: what -> Reply: the shop sells tea")
    await house.dream(reply("- (M1)\n- The shop sells tea (D2)"))
    contents = []
    for _ in range(2):
        await to_thread.run_sync(undo, house.parts, "cat")
        contents.append(house.memory)
    assert contents == ["- The shop moved to Berlin\n", ""]
    with pytest.raises(UsageError):
        await to_thread.run_sync(undo, house.parts, "cat")
    assert [version.author for version in await to_thread.run_sync(versions, house.parts, "cat")] == [
        "undo",
        "undo",
        "dreamd",
        "dreamd",
    ]


async def test_a_retirement_that_was_undone_is_not_made_again(house: House) -> None:
    house.file.write_text("- The shop sells tea\n- The shop moved to Bonn\n")
    house.said("User: where -> Reply: hello")
    answer = reply("- (M1)", retired="- M2: the shop is elsewhere")
    await house.dream(answer)
    assert house.memory == "- The shop sells tea\n"
    await to_thread.run_sync(undo, house.parts, "cat")
    assert not (await house.dream()).new
    await house.dream(answer, force=True, day=DAY)
    assert house.memory == "- The shop sells tea\n- The shop moved to Bonn\n"


async def test_a_night_that_changed_nothing_leaves_undo_nothing_to_take_back(house: House) -> None:
    house.file.write_text("- Ann reviews pull requests\n")
    house.said("User: where -> Reply: the shop moved to Berlin")
    done = await house.dream(reply("- (M1)"))
    assert done.row.reason == "nothing to change"
    with pytest.raises(UsageError, match="nothing"):
        await to_thread.run_sync(undo, house.parts, "cat")
    assert house.memory == "- Ann reviews pull requests\n"


async def test_a_held_night_leaves_undo_nothing_to_take_back(house: House) -> None:
    old = "".join(f"- Rule {number} is kept in drawer {number}\n" for number in range(6))
    house.file.write_text(old)
    house.said("User: where -> Reply: the shop moved to Berlin")
    retired = "".join(f"M{number}: old\n" for number in range(1, 7))
    held = await house.dream(reply("- The shop moved to Berlin (D1)", retired=retired))
    assert held.row.state == "held"
    with pytest.raises(UsageError, match="nothing"):
        await to_thread.run_sync(undo, house.parts, "cat")
    assert house.memory == old
