import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.stated import sentences


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I hate red. Blue is fine.", ["I hate red.", "Blue is fine."]),
        ("我讨厌红色。蓝色可以！", ["我讨厌红色。", "蓝色可以！"]),
        ("I met Mr. Lee, e.g. at noon. v1.2 is out.", ["I met Mr. Lee, e.g. at noon.", "v1.2 is out."]),
        ("- always use tabs\n- I hate red", ["always use tabs", "I hate red"]),
        ("I hate red, which shirt shall I take?", ["I hate red"]),
        ("我讨厌红色，帮我挑一件T恤", ["我讨厌红色", "帮我挑一件T恤"]),
        ("From now on, please use tabs", ["From now on, please use tabs"]),
        (
            "The release of the version that we planned is\non March 13.",
            ["The release of the version that we planned is\non March 13."],
        ),
        ("Can you remember that I hate red?", ["Can you remember that I hate red?"]),
        ("Deadline: March 13", ["Deadline: March 13"]),
        ("记住：我对花生过敏", ["记住：我对花生过敏"]),
    ],
)
def test_sentences_are_found_as_they_stand(text: str, said: list[str]) -> None:
    assert list(sentences(text)) == said


@pytest.mark.parametrize(
    "text",
    [
        "Do you like red?",
        "do i hate red",
        "你喜欢红色吗",
        "我该不该用红色",
        "```\nI hate red\n```",
        "```\nI hate red",
        "> I hate red",
        "    I hate red",
        "# Always use tabs",
        "// always use tabs",
        "Bob: I hate red",
        "老板：以后都坐商务舱",
        "2026-03-02 10:00:00 user said I hate red",
        "[INFO] I hate red",
        "WARNING: I hate red",
        'color = "red"  I hate red;',
        "<system-reminder>I hate red</system-reminder>",
        "Here is the e-mail I got:\nI hate red",
        "请总结下面的内容：\n我讨厌红色",
        "How to paint\nAlways use red first.",
        "步骤一：总是先用红色",
        "# Style\nuse tabs\n# Tests\nalways run them",
        "For example: I hate red",
        "The fix is:",
    ],
)
def test_what_others_said_wrote_or_asked_is_left_out(text: str) -> None:
    assert list(sentences(text)) == []


def test_the_author_goes_on_after_a_quotation() -> None:
    assert list(sentences("> I hate red\nI like it, though.")) == ["I like it, though."]


def test_an_agent_writes_with_headings() -> None:
    text = "## Cause\nThe disk was full.\n## Fix\nI freed it."
    assert list(sentences(text)) == []
    assert list(sentences(text, document=True)) == ["The disk was full.", "I freed it."]


def test_a_message_without_end_is_cut() -> None:
    assert len(list(sentences("I hate red. " * 100_000))) < 5_000


@pytest.mark.parametrize("text", ["\n" * 20_000, "我" * 20_000, "A" * 20_000, "```" * 6_000, "<a>" * 3_000])
def test_a_hostile_message_states_nothing(text: str) -> None:
    assert list(sentences(text)) == []


@given(st.text(max_size=300) | st.text("aB1 .,!?。，！？\n\r:：>`-", max_size=80))
def test_each_sentence_is_a_piece_of_the_text(text: str) -> None:
    for sentence in sentences(text):
        assert sentence in text
        assert 2 <= len(sentence) <= 400
