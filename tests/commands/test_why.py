from pathlib import Path

from dreamd.errors import UsageError
from dreamd.memories import raw_id
from tests.commands.dreamer import LINE, SAID, Dreamer, reply
from tests.commands.sleeper import TEA, Sleeper


def test_a_line_of_memory_is_followed_down_to_the_bytes_of_the_log(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    line = cat.json("why", f"{cat.memory}:4")
    (daily,) = line["rests_on"]
    (record,) = daily["rests_on"]
    assert (daily["kind"], daily["text"], daily["file"], daily["line"]) == ("daily", LINE, str(cat.daily), 3)
    assert (record["text"], record["standing"], record["offset"]) == (SAID, "verified", 9)
    whole = cat.log.read_bytes()
    assert SAID.encode() in whole[record["offset"] : record["offset"] + record["length"]]


def test_it_reads_well(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    assert cat.run("why", f"{cat.memory}:4").output == (
        "The shop moved to Berlin on 2026-03-01\n"
        f"  [{cat.memory}:4]\n"
        f"  {LINE}\n"
        f"    [{cat.daily}:3]\n"
        f"    user: {SAID}\n"
        f"      [{cat.log} byte 9 +{len(cat.log.read_bytes()) - 10}, 2026-03-02 09:00 UTC, verified]\n"
    )


def test_a_line_that_was_there_before_says_so(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    (found,) = cat.json("why", f"{cat.memory}:3")["rests_on"]
    assert (found["kind"], found["text"], found["line"]) == ("found", "- The shop sells tea", 3)


def test_a_line_of_a_daily_and_a_memory_can_be_asked_for(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    assert cat.json("why", f"{cat.daily}:3")["rests_on"][0]["text"] == SAID
    assert cat.json("why", raw_id("cat", "1"))["standing"] == "verified"


def test_a_log_that_was_rewritten_or_is_gone_is_said(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.log.write_bytes(cat.log.read_bytes().replace(b"Berlin", b"Bremen"))
    assert "the log was rewritten since" in cat.run("why", f"{cat.daily}:3").output
    cat.log.unlink()
    gone = cat.run("why", f"{cat.daily}:3").output
    assert "the log is gone" in gone
    assert SAID in gone


def test_what_cannot_be_asked_is_a_usage_error(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    for what in (f"{cat.memory}:1", f"{cat.log}:1", "nonsense"):
        assert isinstance(cat.run("why", what).exception, UsageError)


def test_a_line_by_another_hand_has_no_evidence(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.memory.write_text("- mine\n")
    assert "dreamd did not write this line" in cat.json("why", f"{cat.memory}:1")["note"]


def test_a_line_of_the_diary_says_what_it_rests_on_or_that_it_is_an_account(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.replies(reply("- (M1)\n- The shop moved to Berlin on 2026-03-01 (D1)\n- It has 900 staff (D1)"))
    cat.run("deep-dream")
    (diary,) = (cat.memory.parent / "memory" / "dreams").glob("*.md")
    bullets = [n for n, line in enumerate(diary.read_text().split("\n"), 1) if line.startswith("- ")]
    assert cat.json("why", f"{diary}:{bullets[0]}")["rests_on"][0]["text"] == LINE
    assert "account" in cat.json("why", f"{diary}:{bullets[-1]}")["note"]


def test_a_line_of_an_agent_that_was_renamed_since_still_resolves(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    cat.config.write_text(cat.config.read_text().replace("[agents.cat]", "[agents.tom]"))
    assert cat.json("why", f"{cat.memory}:4")["rests_on"][0]["text"] == LINE
    assert cat.json("why", f"{cat.daily}:3")["rests_on"][0]["text"] == SAID


def test_the_beginning_of_an_id_is_enough_when_only_one_begins_so(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    assert cat.json("why", raw_id("cat", "1")[:8])["text"] == SAID
    for what, says in (("", "no memory"), ("zz", "no memory")):
        assert says in str(cat.run("why", what).exception)


def test_an_error_tells_what_is_wrong_with_the_line(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    cat.memory.write_text(cat.memory.read_text() + "<!-- mark -->\nfree words\n")
    for line, says in (
        (1, "is a heading"), (2, "is blank"), (5, "is a mark"), (6, "is free text"), (99, "has no line 99: it has 6"),
        (0, "has no line 0"),
    ):  # fmt: skip
        error = cat.run("why", f"{cat.memory}:{line}").exception
        assert isinstance(error, UsageError)
        assert says in str(error)
    for what, says in (
        (str(cat.memory), "names no line"), ("MEMORY.md:x", "names no line"), (f"{cat.memory}x:1", "no agent"),
        (f"{cat.log}:1", "is no agent's"),
    ):  # fmt: skip
        assert says in str(cat.run("why", what).exception)


def test_the_diarys_merged_retired_and_waiting_lines_and_its_prose_can_be_asked_for(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    cat.dreamt()
    diary = cat.daily.parent / "dreams" / "2026-03-02.md"
    diary.write_text(
        "The shop moved.\n- Old → The shop moved to Berlin on 2026-03-01\n"
        "- The shop moved to Berlin on 2026-03-01: outdated\n"
    )
    for line in (2, 3):
        assert cat.json("why", f"{diary}:{line}")["rests_on"][0]["text"] == LINE
    prose = cat.run("why", f"{diary}:1").output
    assert "The shop moved." in prose
    assert (
        f"account of what it did, no memory: audited against the sources of that night, such as {cat.daily}"
        in prose
    )


def test_an_insight_is_followed_to_the_bytes_and_says_what_it_lacks(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    waiting, believed = cat.insight("green tea"), cat.insight("tabs")
    node = cat.json("why", waiting["insight"]["memory_id"])
    assert (node["kind"], node["status"], node["lacks"]) == ("insight", "candidate", waiting["lacks"])
    (record,) = node["rests_on"]
    assert (record["text"], record["standing"]) == (TEA, "verified")
    log = Path(record["file"]).read_bytes()
    assert TEA.encode() in log[record["offset"] : record["offset"] + record["length"]]
    assert "lacks: " in cat.run("why", waiting["insight"]["memory_id"][:12]).output
    shown = cat.run("why", believed["insight"]["memory_id"]).output
    assert "long-term insight" in shown
    assert "lacks" not in shown
    assert shown.count("verified") == 2
