from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.deep_dream.sources import Material, brought_back, gather, place_of, undone
from dreamd.errors import WorkspaceError
from dreamd.memories import Memory
from dreamd.stores.base import Changes, FileVersion, LineEvidence
from tests.deep_dream.conftest import DAY, House


def gathered(house: House, lookback_days: int = 1) -> Material:
    return gather(house.parts, "cat", DAY, lookback_days)


def test_entries_are_numbered_and_point_at_where_they_stood(house: House) -> None:
    house.file.write_text("# Memory\n\n- one\n- two\n")
    found = gathered(house)
    assert [(source.id, source.text) for source in found.memories] == [("M1", "one"), ("M2", "two")]
    assert found.memories[1].refs[0].startswith("found:")
    assert found.memories[1].refs[0].endswith("#4")


def test_an_entry_with_evidence_keeps_it(house: House) -> None:
    house.file.write_text("- one\n")
    record = house.record("one, two")
    house.store.write(
        Changes(
            lines=(
                LineEvidence(
                    agent="cat", line="one", ref_ids=(record.memory_id,), day=DAY, at=house.clock.now()
                ),
            )
        )
    )
    (entry,) = gathered(house).memories
    assert entry.refs == (record.memory_id,)
    assert entry.records == (replace(record, seq=entry.records[0].seq),)


def test_daily_lines_of_the_days_looked_back_to_come_with_their_records(house: House) -> None:
    old = house.said("before", day=DAY - timedelta(days=1))
    new = house.said("now")
    house.said("too old", day=DAY - timedelta(days=2))
    found = gathered(house, 2).dailies
    assert [(source.id, source.text, source.refs) for source in found] == [
        ("D1", "before", (old.memory_id,)),
        ("D2", "now", (new.memory_id,)),
    ]
    assert found[0].records[0].content == "before"
    assert found[0].stated == "before (2026-03-01)"


def test_a_line_whose_records_were_all_withdrawn_is_no_source_and_one_with_a_record_left_is(
    house: House,
) -> None:
    taken, left = house.record("the shop is in Berlin"), house.record("the shop sells tea")
    house.said("the shop is in Berlin", taken)
    house.said("the shop is in Berlin and sells tea", taken, left)
    house.store.write(Changes(statuses=((taken.memory_id, "withdrawn"),)))
    (line,) = gathered(house).dailies
    assert (line.text, [record.memory_id for record in line.records]) == (
        "the shop is in Berlin and sells tea",
        [left.memory_id],
    )


def test_an_insight_on_withdrawn_records_is_no_source(house: House) -> None:
    said = house.record("the shop is in Berlin")
    insight = Memory(
        memory_id="i1", type="insight", content="the shop is in Berlin", agent="cat", window=DAY,
        received_at=house.clock.now(), ref_ids=(said.memory_id,), status="long_term",
    )  # fmt: skip
    house.store.write(Changes(memories=(insight,)))
    assert [source.text for source in gathered(house).insights] == ["the shop is in Berlin"]
    house.store.write(Changes(statuses=((said.memory_id, "forgotten"),)))
    assert gathered(house).insights == ()


def test_headings_notes_and_nothing_are_no_daily_lines(house: House) -> None:
    house.daily().write_text("## Title\n\n- None\n- 无\ntext\n- real\n", encoding="utf-8")
    assert [source.text for source in gathered(house).dailies] == ["real"]


def test_withdrawn_lines_are_no_source(house: House) -> None:
    summary = house.said("now")
    house.store.write(Changes(statuses=((summary.memory_id, "withdrawn"),)))
    assert gathered(house).dailies == ()


def insight(house: House, text: str, **changes: object) -> Memory:
    memory = Memory(
        memory_id=text, type="insight", content=text, agent="cat", window=DAY, received_at=house.clock.now(),
        status="long_term", ref_ids=(house.record(text).memory_id,),
    )  # fmt: skip
    memory = replace(memory, **changes)
    house.store.write(Changes(memories=(memory,)))
    return memory


def test_long_term_insights_come_until_a_line_rests_on_them(house: House) -> None:
    insight(house, "tea is liked")
    insight(house, "not yet", status="candidate")
    house.file.write_text("- tea\n")
    assert [source.text for source in gathered(house).insights] == ["tea is liked"]
    row = LineEvidence(agent="cat", line="tea", ref_ids=("tea is liked",), day=DAY, at=house.clock.now())
    house.store.write(Changes(lines=(row,)))
    assert gathered(house).insights == ()


def test_what_is_kept_verbatim(house: House) -> None:
    house.limits(protected=("^Rule",))
    insight(house, "pinned in the pool", pinned=True, status="candidate")
    house.file.write_text(
        "- free\n- Rule one\n- marked <!-- pin -->\n- [pinned] also\n- nested\n  - child\n- pinned in the pool\n"
    )
    assert [source.kept for source in gathered(house).memories] == [False, True, True, True, True, True]


def version(content: str, author: str = "dreamd") -> FileVersion:
    return FileVersion(
        agent="cat",
        path="p",
        author=author,
        content=content,
        sha256=content,
        at=datetime(2026, 3, 2, tzinfo=UTC),  # type: ignore[arg-type]
    )


def test_what_was_undone_is_remembered_until_somebody_writes_it_again() -> None:
    history = [version("- a\n", "undo"), version("- a\n- b\n"), version("- a\n", "found")]
    assert undone(history, "- a\n") == ("b",)
    assert undone(history, "- a\n- b\n") == ()
    assert undone(history[1:], "- a\n") == ()


def test_what_an_undo_brought_back_stays() -> None:
    assert brought_back([version("- a\n- b\n", "undo"), version("- a\n")]) == {"b"}


def test_a_missing_workspace_is_said(house: House) -> None:
    house.agent(workspace="")
    with pytest.raises(WorkspaceError, match="no workspace"):
        place_of(house.config.agents["cat"], "cat")
    house.agent(workspace=str(house.workspace / "none"))
    with pytest.raises(WorkspaceError, match="missing"):
        place_of(house.config.agents["cat"], "cat")


def test_a_file_outside_the_workspace_is_refused(house: House, tmp_path: Path) -> None:
    house.agent(memory_file="../MEMORY.md")
    with pytest.raises(WorkspaceError, match="outside"):
        gathered(house)
