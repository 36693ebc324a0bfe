from datetime import UTC, datetime

import pytest
from anyio import to_thread
from msgspec.structs import replace

from dreamd.deep_dream.history import last_write, restore, undo, versions
from dreamd.errors import FileChanged, NothingToDo, UsageError
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


def test_putting_a_version_back_puts_back_what_could_be_undone_then() -> None:
    told = [
        ("found", ""),
        ("dreamd", ""),
        ("dreamd", ""),
        ("undo", "back to version 2"),
        ("undo", "back to version 3"),
    ]
    kept = [
        replace(version, version_id=number, note=note)
        for number, (version, (_, note)) in enumerate(
            zip(history(*(author for author, _ in told)), told, strict=True), 1
        )
    ]
    assert [last_write(kept[:count][::-1]) for count in range(6)] == [None, None, 0, 0, 2, 2]


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
    assert not house.file.exists()
    with pytest.raises(NothingToDo):
        await to_thread.run_sync(undo, house.parts, "cat")
    assert [version.author for version in await to_thread.run_sync(versions, house.parts, "cat")] == [
        "undo",
        "undo",
        "dreamd",
        "dreamd",
    ]


async def test_a_retirement_that_was_undone_is_not_made_again(house: House) -> None:
    house.file.write_text("- The shop sells tea\n- The shop moved to Bonn\n")
    house.said("User: the shop left Bonn -> Reply: hello")
    answer = reply("- (M1)", retired="- M2: the shop is elsewhere (D1)")
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
    with pytest.raises(NothingToDo, match="nothing"):
        await to_thread.run_sync(undo, house.parts, "cat")
    assert house.memory == "- Ann reviews pull requests\n"


async def test_a_held_night_leaves_undo_nothing_to_take_back(house: House) -> None:
    old = "".join(f"- Rule {number} is kept in drawer {number}\n" for number in range(6))
    house.file.write_text(old)
    house.said("User: no rule is in its drawer any more since the shop moved to Berlin -> Reply: noted")
    retired = "".join(f"M{number}: old (D1)\n" for number in range(1, 7))
    held = await house.dream(reply("- The shop moved to Berlin (D1)", retired=retired))
    assert held.row.state == "held"
    with pytest.raises(NothingToDo, match="nothing"):
        await to_thread.run_sync(undo, house.parts, "cat")
    assert house.memory == old


async def moved(house: House) -> None:
    """A night that wrote one line."""
    house.said("User: where -> Reply: the shop moved to Berlin")
    await house.dream(reply("- The shop moved to Berlin (D1)"))


async def test_a_night_without_a_change_stores_the_file_as_found(house: House) -> None:
    house.file.write_text("- Ann reviews pull requests\n")
    house.said("User: where -> Reply: the shop moved to Berlin")
    await house.dream(reply("- (M1)"))
    assert [version.author for version in house.store.versions("cat")] == ["found"]


async def test_undoing_the_first_write_leaves_no_file_where_there_was_none(house: House) -> None:
    await moved(house)
    await to_thread.run_sync(undo, house.parts, "cat")
    assert not house.file.exists()
    assert not (await house.dream()).new


async def test_undoing_the_first_write_leaves_an_empty_file_where_one_was(house: House) -> None:
    house.file.write_text("")
    await moved(house)
    await to_thread.run_sync(undo, house.parts, "cat")
    assert house.file.read_bytes() == b""


async def test_undoing_the_first_write_leaves_what_a_person_added_since(house: House) -> None:
    await moved(house)
    house.file.write_text(house.memory + "- mine\n")
    await to_thread.run_sync(undo, house.parts, "cat")
    assert house.memory == "- mine\n"


async def test_a_file_that_was_deleted_before_the_write_is_none_after_the_undo(house: House) -> None:
    house.file.write_text("- old\n")
    house.said("User: hi -> Reply: hello there")
    await house.dream(reply("- (M1)"))
    house.file.unlink()
    house.said("User: where -> Reply: the shop moved to Berlin")
    await house.dream(reply("- The shop moved to Berlin (D2)"))
    assert house.memory == "- The shop moved to Berlin\n"
    await to_thread.run_sync(undo, house.parts, "cat")
    assert not house.file.exists()


async def test_a_write_that_a_person_took_out_by_hand_does_not_block_the_one_before(house: House) -> None:
    await moved(house)
    house.said("User: what -> Reply: the shop sells tea")
    await house.dream(reply("- (M1)\n- The shop sells tea (D2)"))
    house.file.write_text("- The shop moved to Berlin\n")
    await to_thread.run_sync(undo, house.parts, "cat")
    assert house.memory == "- The shop moved to Berlin\n"
    await to_thread.run_sync(undo, house.parts, "cat")
    assert not house.file.exists()


async def test_any_version_can_be_put_back_and_that_is_a_version_too(house: House) -> None:
    house.file.write_text("- Ann reviews pull requests\n")
    house.said("User: where -> Reply: the shop moved to Berlin")
    await house.dream(reply("- (M1)\n- The shop moved to Berlin (D1)"))
    house.file.write_text("- mine\n" + house.memory)
    for version_id, standing in ((1, "- mine\n- Ann reviews pull requests\n"), (2, None)):
        await to_thread.run_sync(restore, house.parts, "cat", version_id)
        assert house.memory == standing or "Berlin" in house.memory
    assert house.store.versions("cat")[0].note == "back to version 2"
    with pytest.raises(UsageError, match="no version 99"):
        await to_thread.run_sync(restore, house.parts, "cat", 99)


async def test_a_version_that_stands_already_is_not_put_back(house: House) -> None:
    await moved(house)
    with pytest.raises(NothingToDo, match="already"):
        await to_thread.run_sync(restore, house.parts, "cat", 1)


async def test_an_undo_that_conflicts_says_what_to_do(house: House) -> None:
    await moved(house)
    house.file.write_text("- The shop moved to Bonn\n")
    with pytest.raises(FileChanged, match="change the file by hand"):
        await to_thread.run_sync(undo, house.parts, "cat")
    assert house.memory == "- The shop moved to Bonn\n"
