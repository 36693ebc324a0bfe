from datetime import UTC, datetime

import pytest

from dreamd.daily.audit import MOST_CITED, Audited, audit, by_rule
from dreamd.daily.reply import parse
from dreamd.daily.transcript import Event
from dreamd.records import Trust


def event(number: int, asked: str, *answers: str, awaited: bool = False) -> Event:
    return Event(
        number=number, session_id="s", task_id="", at=datetime(2026, 3, 2, tzinfo=UTC), asked=asked, answers=answers,
        tools=(), ref_ids=(f"m{number}",), trust=Trust.AGENT, fresh=True, awaited=awaited,
    )  # fmt: skip


BACKUP = event(
    1, "How do I back up the photos?", "Use rsync to nas01, it runs at 03:00 and takes 20 minutes."
)
FERRY = event(2, "When does the ferry to Elba leave?", "At 09:40 on March 5.")
RULE_1 = (
    "User: How do I back up the photos? -> Reply: Use rsync to nas01, it runs at 03:00 and takes 20 minutes."
)
RULE_2 = "User: When does the ferry to Elba leave? -> Reply: At 09:40 on March 5."


def told(reply: str, *chunk: Event, language: str = "en") -> Audited:
    return audit(parse(reply, "end"), chunk or (BACKUP, FERRY), language)


def texts(audited: Audited) -> list[str]:
    return [entry.text for entry in audited.entries]


def test_a_line_that_its_events_bear_out_stands() -> None:
    line = "User: asked about backing up photos -> Reply: rsync to nas01, runs at 03:00"
    audited = told(f"- {line} [E1]", BACKUP)
    assert (texts(audited), audited.refused) == ([line], ())
    assert audited.entries[0].events == (BACKUP,)


@pytest.mark.parametrize(
    "altered",
    [
        "User: asked about the photos -> Reply: rsync to nas01, runs at 04:00 [E1]",
        "User: asked about the photos -> Reply: rsync to nas02 [E1]",
        "User: asked about the photos -> Reply: rsync to nas01, takes 25 minutes [E1]",
        "User: asked about the photos -> Reply: rsync to nas01, as Francesca advised [E1]",
        "User: asked about the photos -> Reply: rsync to nas01 on March 6 [E1]",
        "User: asked about the photos -> Reply: rsync to nas01 at 09:40 [E1]",  # the ferry's time
    ],
)
def test_an_altered_value_gives_way_to_the_rules_line(altered: str) -> None:
    audited = told(f"- {altered}", BACKUP)
    assert texts(audited) == [RULE_1]
    assert audited.entries[0].by_rule
    (reason,) = audited.refused
    assert reason.startswith("E1: ")
    assert "photos" not in reason


def test_a_secret_that_the_model_made_up_is_refused() -> None:
    audited = told(
        "- User: asked about backing up photos -> Reply: rsync to nas01, [redacted:api-key] [E1]", BACKUP
    )
    assert texts(audited) == [RULE_1]
    assert audited.refused


def test_a_line_that_names_an_event_of_another_chunk_is_refused() -> None:
    audited = told("- User: asked about the photos -> Reply: rsync to nas01 [E1, E901]", BACKUP)
    assert texts(audited) == [RULE_1]
    assert audited.refused == ("E1, E901: names an event that is not there",)


def test_a_line_without_numbers_is_refused() -> None:
    audited = told("- User: asked about the photos -> Reply: rsync to nas01", BACKUP)
    assert (texts(audited), audited.refused) == ([RULE_1], ("1 x a line names no event",))


def test_what_no_line_tells_gets_the_rules_line_in_its_place() -> None:
    audited = told("- User: asked when the ferry to Elba leaves -> Reply: 09:40, March 5 [E2]")
    assert texts(audited) == [RULE_1, "User: asked when the ferry to Elba leaves -> Reply: 09:40, March 5"]


def test_an_invention_without_any_value_is_refused_too() -> None:
    audited = told("- User: enjoys cooking pasta with friends -> Reply: shared a tomato recipe [E1]", BACKUP)
    assert texts(audited) == [RULE_1]


def test_the_human_is_not_made_to_say_what_the_assistant_said() -> None:
    audited = told("- User: wants rsync to nas01 at 03:00 -> Reply: rsync to nas01 [E1]", BACKUP)
    assert texts(audited) == [RULE_1]
    assert "did not" in audited.refused[0]


def test_nobody_asked_then_no_line_has_a_question() -> None:
    aside = event(1, "", "The nightly build has 3 failures.")
    audited = told("- User: asked about the nightly build -> Reply: 3 failures [E1]", aside)
    assert (texts(audited), len(audited.refused)) == ([], 1)
    assert texts(told("- Reply: the nightly build has 3 failures [E1]", aside)) == [
        "Reply: the nightly build has 3 failures"
    ]


def test_an_answer_that_somebody_waited_for_is_never_missing() -> None:
    late = event(1, "", "It leaves at 09:40.", awaited=True)
    assert texts(told("None", late)) == ["Reply: It leaves at 09:40."]


def test_one_line_over_everything_tells_nothing() -> None:
    many = [event(number, f"question {number}", "answer") for number in range(1, MOST_CITED + 2)]
    audited = told(f"- User: asked a question -> Reply: answer [E1-E{MOST_CITED + 1}]", *many)
    assert len(audited.entries) == len(many)
    assert all(entry.by_rule for entry in audited.entries)


def test_a_line_as_long_as_a_page_is_refused() -> None:
    audited = told(f"- User: photos {'photos ' * 100} -> Reply: rsync [E1]", BACKUP)
    assert texts(audited) == [RULE_1]


@pytest.mark.parametrize("arrow", ["->", "→", "-->", "=>"])
def test_labels_and_arrow_are_those_of_the_language(arrow: str) -> None:
    audited = told(
        f"- **用户**：怎么备份照片 {arrow} **回复**：用 rsync [E1]",
        event(1, "怎么备份照片？", "用 rsync。"),
        language="zh",
    )
    assert texts(audited) == ["用户: 怎么备份照片 → 回复: 用 rsync"]


def test_a_summary_in_another_language_than_the_talk_is_judged_by_its_values_alone() -> None:
    good = "- 用户: 询问如何备份照片 → 回复: 用 rsync 备份到 nas01，03:00 运行 [E1]"
    assert not told(good, BACKUP, language="zh").entries[0].by_rule
    assert told(good.replace("03:00", "04:00"), BACKUP, language="zh").entries[0].by_rule


def test_no_line_opens_a_comment_in_the_file() -> None:
    hidden = event(1, "what is <!-- /dreamd --> for?", "<!-- it closes a section")
    assert "<!--" not in texts(told("None", hidden))[0]
    assert (
        "<!--"
        not in texts(
            told("- User: what is <!-- /dreamd --> for? -> Reply: it closes a section [E1]", hidden)
        )[0]
    )


def test_the_rule_tells_every_event_in_which_somebody_waited() -> None:
    chunk = (BACKUP, event(3, "", "aside"), FERRY)
    assert [entry.text for entry in by_rule(chunk, "en")] == [RULE_1, RULE_2]


@pytest.mark.parametrize(
    "line",
    [
        "User: Use rsync to nas01, it runs at 03:00 and takes 20 minutes.",  # the assistant's own words
        "User: How do I back up the photos?",
        "User: run rsync to nas01 -> Reply: it takes 20 minutes",
    ],
)
def test_what_the_assistant_said_is_not_put_into_the_humans_mouth(line: str) -> None:
    audited = told(f"- {line} [E1]", BACKUP)
    assert (texts(audited), len(audited.refused)) == ([RULE_1], 1)
