from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.daily.fallback import ASKED_CHARACTERS, REPLY_CHARACTERS, line, meaningful
from dreamd.daily.transcript import Event
from dreamd.records import Trust


def event(asked: str, *answers: str) -> Event:
    return Event(
        number=1, session_id="s", task_id="", at=datetime(2026, 3, 2, tzinfo=UTC), asked=asked, answers=answers,
        tools=(), ref_ids=("m1",), trust=Trust.AGENT, fresh=True, awaited=False,
    )  # fmt: skip


def test_the_two_languages_have_the_seeds_form() -> None:
    assert line(event("deploy Docker", "use compose"), "en") == "User: deploy Docker -> Reply: use compose"
    assert line(event("部署 Docker", "用 compose"), "zh") == "用户: 部署 Docker → 回复: 用 compose"


@pytest.mark.parametrize(("letter", "language"), [("x", "en"), ("汉", "zh"), ("🙂", "en")])
def test_of_the_users_message_the_first_120_characters_are_kept(letter: str, language: str) -> None:
    text = line(event(letter * 500, "ok then"), language)
    assert text.count(letter) == 120
    assert f"{letter}… " in text


def test_120_characters_exactly_are_not_marked_as_cut() -> None:
    assert "…" not in line(event("x" * 120, "ok then"), "en")


def test_white_space_is_folded() -> None:
    assert line(event("a\n\n  b\tc", "d  e"), "en") == "User: a b c -> Reply: d e"


def test_what_nobody_sees_stays_out_of_the_file() -> None:
    text = line(event("a\x1b[31m red\u202e", "one\u2028two\x00 three"), "en")
    assert text == "User: a red -> Reply: one two three"


def test_a_missing_reply_is_said() -> None:
    assert line(event("hello?"), "en") == "User: hello? -> Reply: (no reply)"
    assert line(event("在吗"), "zh") == "用户: 在吗 → 回复: （无回复）"


def test_an_answer_without_its_question_stands_alone() -> None:
    assert line(event("", "It is done by cron."), "en") == "Reply: It is done by cron."


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("# Deployment\n\nUse compose.", "Use compose."),
        ("---\n\nUse compose.", "Use compose."),
        ("```yaml\nservices:\n```\nUse this file.", "Use this file."),
        ("~~~\n```\ncode\n~~~\nAfter both.", "After both."),
        ("Sure!\nThe port is 8080.", "The port is 8080."),
        ("Great question! The port is 8080.", "Great question! The port is 8080."),
        ("好的，端口是 8080。", "好的，端口是 8080。"),
        ("好的！\n\n端口是 8080。", "端口是 8080。"),
        ("- \n* \n- First point", "First point"),
        ("1. First step", "First step"),
        ("| --- | --- |\n| a | b |", "| a | b |"),
        ("<details>\nInside", "Inside"),
        ("***\n===\nText", "Text"),
        ("> quoted", "quoted"),
        ("3.14 is the value", "3.14 is the value"),
        ("They go to nas02.", "They go to nas02."),
        ("Surely not.", "Surely not."),
        ("OK", "OK"),
        ("# Only a heading", "# Only a heading"),
        ("```\nonly code\n```", "only code"),
        ("```\nunclosed", "unclosed"),
        ("", ""),
        ("...\n---", ""),
    ],
)
def test_the_first_meaningful_line_is_found(reply: str, expected: str) -> None:
    assert meaningful([reply]) == expected


def test_the_last_answer_of_a_turn_is_its_outcome() -> None:
    assert meaningful(["Let me look.", "The disk is full."]) == "The disk is full."
    assert meaningful(["The disk is full.", "Done!"]) == "The disk is full."


@given(st.text(max_size=400), st.lists(st.text(max_size=400), max_size=3), st.sampled_from(["en", "zh"]))
def test_a_line_is_bounded_is_one_line_and_invents_nothing(
    asked: str, answers: list[str], language: str
) -> None:
    text = line(event(asked, *answers), language)
    assert len(text) <= ASKED_CHARACTERS + REPLY_CHARACTERS + 30
    assert len(text.splitlines()) == 1
    said = " ".join(meaningful(answers).split())
    assert not said or any(said in " ".join(answer.split()) for answer in answers)
