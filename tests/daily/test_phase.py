"""The phase as the night sees it: file, pool and ledger after each of its fates."""

from datetime import UTC, date, datetime

import pytest

from dreamd.calls import Reply
from dreamd.daily.phase import summarise
from dreamd.errors import (
    BudgetSpent,
    ConfigError,
    ProviderBusy,
    ProviderRefused,
    ProviderUnreachable,
    StoreError,
)
from dreamd.gate.late import Late
from dreamd.providers.base import Provider
from dreamd.providers.scripted import Answer, ScriptedProvider
from dreamd.records import Trust
from dreamd.stores.base import Changes, Written
from dreamd.stores.inmemory import InMemoryStore

DAY = date(2026, 3, 2)
BACKUP = ("How do I back up the photos?", "Use rsync to nas01, it runs at 03:00.")
GOOD = "- User: asked how to back up the photos -> Reply: rsync to nas01, runs at 03:00 [E1]"


async def test_a_day_becomes_a_file_summaries_and_a_ledger_row(house) -> None:
    asked, answered = house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    outcome = await summarise(house.parts, "cat", DAY)
    assert house.text.splitlines()[1:] == [
        "## Daily summary 2026-03-02 09:01-09:02 UTC+01:00",
        "",
        "- User: asked how to back up the photos -> Reply: rsync to nas01, runs at 03:00",
        "<!-- /dreamd -->",
    ]
    (summary,) = house.summaries()
    assert summary.content == "User: asked how to back up the photos -> Reply: rsync to nas01, runs at 03:00"
    assert summary.ref_ids == (asked.memory_id, answered.memory_id)
    assert (summary.trust, summary.window, summary.session_id) == (Trust.AGENT, DAY, "s1")
    assert outcome.row == house.row
    assert (outcome.row.state, outcome.row.usage[0].calls, outcome.new) == ("done", 1, True)
    assert outcome.files == (house.file,)
    assert house.unfiled() == []


async def test_the_same_day_again_makes_no_call_and_changes_no_byte(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    await summarise(house.parts, "cat", DAY)
    before, row = house.file.stat(), house.row
    house.clock.at = datetime(2026, 3, 3, 12, tzinfo=UTC)
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.new, outcome.row, outcome.files) == (False, row, ())
    assert (house.file.stat().st_mtime_ns, house.file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert len(house.llm.prompts) == 1


async def test_without_a_model_the_rule_writes_and_the_file_says_so(house) -> None:
    house.talk(*BACKUP)
    outcome = await summarise(house.parts, "cat", DAY)
    assert "(rule-based summary)" in house.text
    assert (
        "- User: How do I back up the photos? -> Reply: Use rsync to nas01, it runs at 03:00.\n" in house.text
    )
    assert (outcome.row.state, outcome.row.reason) == ("done", "no LLM is configured")


async def test_a_chinese_day_is_written_in_chinese(house) -> None:
    house.talk("怎么部署 Docker？", "当然！\n用 docker compose up 就可以。")
    outcome = await summarise(house.parts, "cat", DAY)
    assert "## 每日摘要 2026-03-02 09:01-09:02 UTC+01:00（规则摘要）" in house.text
    assert "- 用户: 怎么部署 Docker？ → 回复: 用 docker compose up 就可以。\n" in house.text
    assert outcome.row.state == "done"


async def test_the_configured_language_wins(house) -> None:
    house.configure(language="zh")
    house.talk(*BACKUP)
    await summarise(house.parts, "cat", DAY)
    assert "- 用户: How do I back up the photos? → 回复: " in house.text


async def test_what_a_person_wrote_in_the_file_stays_byte_for_byte(house) -> None:
    house.file.parent.mkdir()
    own = "\ufeff# my notes\r\n- User: mine -> Reply: mine".encode()
    house.file.write_bytes(own)
    house.talk(*BACKUP)
    await summarise(house.parts, "cat", DAY)
    assert house.file.read_bytes().startswith(own + b"\n<!-- dreamd daily 2026-03-02 ")


async def test_late_records_get_a_supplement_from_themselves_alone(house) -> None:
    house.talk(*BACKUP)
    await summarise(house.parts, "cat", DAY)
    first = house.text
    house.talk("And the videos?", "They go to nas02.")
    outcome = await summarise(house.parts, "cat", DAY)
    assert house.text.startswith(first)
    late = house.text.removeprefix(first)
    assert "## Daily summary 2026-03-02, supplement " in late
    assert "User: And the videos? -> Reply: They go to nas02." in late
    assert "photos" not in late
    assert (outcome.row.state, outcome.row.attempts) == ("done", 1)


async def test_a_late_answer_is_told_with_its_filed_question(house) -> None:
    house.talk("When does the ferry leave?")
    await summarise(house.parts, "cat", DAY)
    assert "User: When does the ferry leave? -> Reply: (no reply)" in house.text
    house.tell(house.record("assistant", "The ferry leaves at 09:40."))
    await summarise(house.parts, "cat", DAY)
    assert "User: When does the ferry leave? -> Reply: The ferry leaves at 09:40." in house.text


async def test_an_answer_after_midnight_is_told_under_its_own_day_with_the_question(house) -> None:
    house.talk("When does the ferry leave?", at=datetime(2026, 3, 2, 22, 59, tzinfo=UTC))
    late = datetime(2026, 3, 2, 23, 1, tzinfo=UTC)
    house.tell(house.record("assistant", "It leaves at 09:40.", at=late))
    await summarise(house.parts, "cat", date(2026, 3, 3))
    text = (house.workspace / "memory" / "2026-03-03.md").read_text()
    assert "## Daily summary 2026-03-03 00:01 UTC+01:00" in text
    assert "User: When does the ferry leave? -> Reply: It leaves at 09:40." in text
    assert [one.content for one in house.unfiled()] == ["When does the ferry leave?"]


async def test_every_date_is_the_callers_whatever_the_clock_says(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    house.clock.at = datetime(2026, 3, 9, 1, 0, tzinfo=UTC)
    outcome = await summarise(house.parts, "cat", DAY)
    assert outcome.row.day == DAY
    assert [path.name for path in house.file.parent.iterdir()] == ["2026-03-02.md"]
    assert "2026-03-09" not in house.text + house.llm.prompts[0].user


async def test_a_day_the_clocks_change_shows_both_offsets_once(house) -> None:
    house.talk("first", "one", at=datetime(2026, 3, 28, 23, 30, tzinfo=UTC))
    house.talk("second", "two", at=datetime(2026, 3, 29, 10, 0, tzinfo=UTC))
    await summarise(house.parts, "cat", date(2026, 3, 29))
    text = (house.workspace / "memory" / "2026-03-29.md").read_text()
    assert "## Daily summary 2026-03-29 00:30-12:00 UTC+01:00/+02:00 (rule" in text


async def test_a_day_without_records_is_skipped_and_said(house) -> None:
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.row.state, outcome.row.reason) == ("skipped", "no records of that day")
    assert not house.file.exists()


async def test_scheduled_noise_alone_writes_nothing_and_counts_as_filed(house) -> None:
    house.tell(
        house.record("user", "[SCHEDULED] price check", "scheduled"),
        house.record("assistant", "11:28 price=1013, normal", "scheduled"),
    )
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.row.state, house.file.exists(), house.unfiled()) == ("skipped", False, [])


async def test_late_noise_leaves_a_done_day_done(house) -> None:
    house.talk(*BACKUP)
    done = (await summarise(house.parts, "cat", DAY)).row
    house.tell(house.record("user", "[SCHEDULED] price check", "scheduled"))
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.row, house.row, outcome.new, house.unfiled()) == (done, done, False, [])


async def test_without_a_workspace_the_records_wait_for_one(house) -> None:
    house.configure(workspace="")
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.row.state, len(house.unfiled())) == ("skipped", 2)
    assert house.llm.prompts == []


async def test_an_unknown_agent_is_an_error_that_names_it(house) -> None:
    with pytest.raises(ConfigError, match="dog"):
        await summarise(house.parts, "dog", DAY)


async def test_a_missing_workspace_fails_before_anything_is_paid_and_is_not_created(house, tmp_path) -> None:
    house.configure(workspace=str(tmp_path / "gone"))
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    outcome = await summarise(house.parts, "cat", DAY)
    assert outcome.row.state == "failed"
    assert "no workspace at" in outcome.row.reason
    assert (house.llm.prompts, (tmp_path / "gone").exists(), len(house.unfiled())) == ([], False, 2)


async def test_a_daily_folder_that_leads_outside_is_refused(house, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (house.workspace / "memory").symlink_to(tmp_path / "elsewhere")
    house.talk(*BACKUP)
    outcome = await summarise(house.parts, "cat", DAY)
    assert outcome.row.state == "failed"
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_an_outage_leaves_the_day_for_later_with_everything_intact(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([ProviderUnreachable("no route"), GOOD])
    first = await summarise(house.parts, "cat", DAY)
    assert (first.row.state, first.row.attempts, house.file.exists()) == ("failed", 1, False)
    assert (len(house.unfiled()), house.summaries()) == (2, [])
    assert [(told["attempts"], told["error"]) for told in house.told("phase.failed")] == [
        (1, "ProviderUnreachable")
    ]
    second = await summarise(house.parts, "cat", DAY)
    assert (second.row.state, second.row.attempts) == ("done", 2)
    assert "rule-based" not in house.text


async def test_what_was_paid_before_an_outage_is_not_paid_again(house) -> None:
    for number in range(20):
        house.talk(f"question number {number}", f"answer number {number}")
    answers: list[Answer] = ["- User: question number 0 -> Reply: answer number 0 [E1]", ProviderBusy("full")]
    house.llm = ScriptedProvider(answers)
    await summarise(house.parts, "cat", DAY)
    house.llm = ScriptedProvider(["- User: question number 15 -> Reply: answer number 15 [E1]"])
    outcome = await summarise(house.parts, "cat", DAY)
    (usage,) = outcome.row.usage
    assert (outcome.row.state, usage.calls, usage.resumed) == ("done", 2, 1)
    assert [(usage.calls, usage.resumed) for usage in outcome.spent] == [(1, 1)]


async def test_the_last_attempt_writes_by_rule_and_says_so(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider(lambda _: ProviderUnreachable("no route"))
    states = [(await summarise(house.parts, "cat", DAY)).row.state for _ in range(5)]
    assert states == ["failed"] * 4 + ["done"]
    assert "(rule-based summary)" in house.text
    assert "no route" in house.row.reason


async def test_a_day_for_which_there_is_no_budget_waits_for_it_and_uses_up_no_attempt(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider(lambda _: BudgetSpent("the 9 calls an hour of cat are used up"))
    tried = [(await summarise(house.parts, "cat", DAY)).row for _ in range(7)]
    assert {(row.state, row.attempts) for row in tried} == {("failed", 0)}
    house.llm = ScriptedProvider([GOOD])
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.row.state, outcome.row.attempts) == ("done", 1)
    assert "rule-based" not in house.text


async def test_a_refused_key_writes_by_rule_at_once(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([ProviderRefused("401", hint="check the key")])
    outcome = await summarise(house.parts, "cat", DAY)
    assert outcome.row.state == "done"
    assert "401; check the key" in outcome.row.reason
    assert "(rule-based summary)" in house.text


async def test_a_provider_that_cannot_be_opened_is_as_good_as_none_and_is_said(house) -> None:
    def broken() -> Provider:
        raise ConfigError("$LLM_KEY is not set", hint="set it")

    house.talk(*BACKUP)
    house.llm = Late(broken)
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.row.state, outcome.row.reason) == (
        "done",
        "the rule was used: $LLM_KEY is not set; set it",
    )
    assert "(rule-based summary)" in house.text


async def test_an_altered_number_never_reaches_the_file(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD.replace("03:00", "04:00")])
    outcome = await summarise(house.parts, "cat", DAY)
    assert "04:00" not in house.text
    assert "Reply: Use rsync to nas01, it runs at 03:00." in house.text
    assert len(outcome.refused) == 1
    assert [values["reason"] for values in house.told("memory_line.refused")] == list(outcome.refused)


class Killed(BaseException):
    """As if the process had ended here."""


class MortalStore(InMemoryStore):
    """Dies instead of the n-th write that has `die_on` in it."""

    dies = False

    def write(self, changes: Changes) -> Written:
        if self.dies and changes.filed:
            raise StoreError("killed")
        return super().write(changes)


async def test_a_kill_between_file_and_transaction_is_made_good_without_a_second_section(house) -> None:
    house.store = MortalStore()
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    house.store.dies = True
    with pytest.raises(StoreError):
        await summarise(house.parts, "cat", DAY)
    written = house.text
    assert (house.row.state, len(house.unfiled()), house.summaries()) == ("running", 2, [])
    house.store.dies = False
    outcome = await summarise(house.parts, "cat", DAY)
    assert house.text == written
    assert (outcome.row.state, outcome.row.usage[0].resumed, len(house.llm.prompts)) == ("done", 1, 1)
    assert [one.content for one in house.summaries()] == [GOOD.removeprefix("- ").removesuffix(" [E1]")]


async def test_a_section_left_by_a_kill_gives_way_when_more_was_said_meanwhile(house) -> None:
    house.store = MortalStore()
    house.talk(*BACKUP)
    house.store.dies = True
    with pytest.raises(StoreError):
        await summarise(house.parts, "cat", DAY)
    house.talk("And the videos?", "They go to nas02.")
    with pytest.raises(StoreError):
        await summarise(house.parts, "cat", DAY)
    house.talk("And the music?", "It goes to nas03.")
    house.store.dies = False
    await summarise(house.parts, "cat", DAY)
    assert house.text.count("<!-- dreamd daily") == 1
    assert [house.text.count(word) for word in ("photos", "videos", "music")] == [1, 1, 1]
    assert "supplement" not in house.text


async def test_a_section_left_by_a_kill_and_worded_otherwise_keeps_its_evidence(house) -> None:
    house.store = MortalStore()
    said = house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    house.store.dies = True
    with pytest.raises(StoreError):
        await summarise(house.parts, "cat", DAY)
    house.store.dies, house.llm = False, None
    await summarise(house.parts, "cat", DAY)
    (summary,) = house.summaries()
    assert f"- {summary.content}\n" in house.text
    assert summary.ref_ids == tuple(one.memory_id for one in said)


async def test_force_tells_the_day_anew_in_place_of_dreamds_sections_alone(house) -> None:
    house.talk(*BACKUP)
    await summarise(house.parts, "cat", DAY)
    house.file.write_text("before\n" + house.text + "between\n")
    house.talk("And the videos?", "They go to nas02.")
    await summarise(house.parts, "cat", DAY)
    house.llm = ScriptedProvider([GOOD + "\n- User: asked about the videos -> Reply: they go to nas02 [E2]"])
    outcome = await summarise(house.parts, "cat", DAY, force=True)
    lines = house.text.splitlines()
    assert (lines[0], lines[-1]) == ("before", "between")
    assert house.text.count("<!-- dreamd daily") == 1
    assert "rule-based" not in house.text
    assert outcome.row.state == "done"
    assert [one.status for one in house.summaries()] == ["superseded", "superseded", "fresh", "fresh"]


async def test_a_forced_run_that_was_killed_is_finished_by_the_next(house) -> None:
    house.store = MortalStore()
    house.talk(*BACKUP)
    await summarise(house.parts, "cat", DAY)
    house.llm = ScriptedProvider([GOOD])
    house.store.dies = True
    with pytest.raises(StoreError):
        await summarise(house.parts, "cat", DAY, force=True)
    house.store.dies = False
    outcome = await summarise(house.parts, "cat", DAY)
    assert (outcome.row.state, len(house.llm.prompts)) == ("done", 1)
    assert house.text.count("<!-- dreamd daily") == 1
    assert [one.status for one in house.summaries()] == ["superseded", "fresh"]


async def test_a_dry_run_shows_the_diff_and_changes_nothing(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    outcome = await summarise(house.parts, "cat", DAY, dry_run=True)
    assert "+- User: asked how to back up the photos" in outcome.diff
    assert (outcome.files, outcome.row.state) == ((house.file,), "done")
    assert (house.file.exists(), house.file.parent.exists(), house.row) == (False, False, None)
    assert (len(house.unfiled()), house.summaries(), house.store._tables.journal) == (2, [], {})
    assert house.told("phase.finished") == []


async def test_one_canonical_event_tells_the_whole_run_without_any_text(house) -> None:
    house.talk(*BACKUP)
    house.llm = ScriptedProvider([GOOD])
    await summarise(house.parts, "cat", DAY)
    (told,) = house.told("phase.finished")
    assert told["state"] == "done"
    assert {name: told[name] for name in ("records", "events", "lines", "by_rule", "refused", "calls")} == {
        "records": 2, "events": 1, "lines": 1, "by_rule": 0, "refused": 0, "calls": 1,
    }  # fmt: skip
    assert "photos" not in repr(told)


async def test_a_reply_cut_off_keeps_its_whole_lines_and_the_rule_tells_the_rest(house) -> None:
    house.talk(*BACKUP)
    house.talk("And the videos?", "They go to nas02.")
    house.llm = ScriptedProvider([Reply(text=f"{GOOD}\n- User: asked about the vi", stop="length")])
    outcome = await summarise(house.parts, "cat", DAY)
    assert "User: And the videos? -> Reply: They go to nas02." in house.text
    assert "(partly rule-based summary)" in house.text
    assert "cut off" in outcome.row.reason


async def test_none_is_not_believed_while_a_human_has_spoken(house) -> None:
    house.talk("记住我的生日是3月5日", "好的，记住了。")
    house.llm = ScriptedProvider(["- 无"])
    await summarise(house.parts, "cat", DAY)
    assert "用户: 记住我的生日是3月5日 → 回复: 好的，记住了。" in house.text
