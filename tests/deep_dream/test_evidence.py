from pathlib import Path

import pytest
from anyio import to_thread

from dreamd.deep_dream.evidence import Node, of_line, of_memory
from dreamd.errors import UsageError
from dreamd.memories import STATUSES
from dreamd.records import Span
from dreamd.stores.base import Changes, Cursor, MemoryQuery
from tests.deep_dream.conftest import House, reply


def check(span: Span, path: str) -> str:
    return "verified" if path == "/logs/a.jsonl" else "changed"


def asked(house: House, file: Path, line: int) -> Node:
    return of_line(house.parts, file, line, check)


async def test_every_line_of_a_dreamt_file_resolves(house: House) -> None:
    house.store.write(Changes(cursor=Cursor(source_id="log", agent="cat", path="/logs/a.jsonl", format="x")))
    house.file.write_text("- The shop sells tea\n  - and cake\n")
    house.said("User: where -> Reply: the shop moved to Berlin")
    await house.dream(reply("- (M1)\n- The shop moved to Berlin (D1)"))
    (found,) = (await to_thread.run_sync(asked, house, house.file, 2)).rests_on
    assert (found.kind, found.text) == ("found", "- The shop sells tea")
    (daily,) = (await to_thread.run_sync(asked, house, house.file, 3)).rests_on
    assert (daily.kind, daily.line, daily.file) == ("daily", 1, str(house.daily()))
    (record,) = daily.rests_on
    assert (record.kind, record.file, record.offset, record.standing) == (
        "record",
        "/logs/a.jsonl",
        0,
        "verified",
    )


def test_a_log_that_no_cursor_knows_is_gone(house: House) -> None:
    memory = house.record("hello")
    assert of_memory(house.parts, memory, check).standing == "gone"


def test_a_record_forgotten_since_is_named_as_such(house: House) -> None:
    memory = house.record("hello")
    house.store.write(Changes(statuses=((memory.memory_id, "forgotten"),)))
    (left,) = house.store.memories(MemoryQuery(ids=(memory.memory_id,), statuses=STATUSES))
    assert of_memory(house.parts, left, check).note == "forgotten"


def test_a_summary_is_followed_without_its_file(house: House) -> None:
    summary = house.said("hello there")
    node = of_memory(house.parts, summary, check)
    assert (node.kind, node.rests_on[0].text) == ("daily", "hello there")


def test_a_daily_line_of_another_hand_says_so(house: House) -> None:
    house.wrote("mine")
    assert asked(house, house.daily(), 1).note == "dreamd did not write this line"


def test_other_files_and_other_lines_cannot_be_asked(house: House) -> None:
    house.file.write_text("# Memory\n")
    for file, line in ((house.file, 1), (house.file, 9), (house.workspace / "x.md", 1)):
        with pytest.raises(UsageError):
            asked(house, file, line)


async def test_a_candidate_that_the_diary_lists_is_followed(house: House) -> None:
    hurry = house.record("hurry up with the report, quick")
    house.said("User: hurry up with the report, quick -> Reply: the report is ready", hurry)
    await house.dream(reply("- The user prefers quick reports (D1)"))
    diary = house.workspace / "memory" / "dreams" / "2026-03-02.md"
    line = house.diary().split("\n").index("- The user prefers quick reports") + 1
    (insight,) = (await to_thread.run_sync(asked, house, diary, line)).rests_on
    assert (insight.kind, insight.text) == ("insight", "The user prefers quick reports")
