"""The same words for another matter are found out; honest paraphrases are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream.bent import bent, rearranged, stronger

BENT = {
    "Anna pays the hotel and Bert pays the train.": (
        "Bert pays the hotel and Anna pays the train",
        "Bert pays the hotel",
    ),
    "Anna reports to Bert.": ("Bert reports to Anna", "Anna is reported to by Bert"),
    "The user pays Anna.": ("The user is paid by Anna",),
    "The hotel costs 300 euros and the train 80 euros.": (
        "The hotel costs 80 euros",
        "The train costs 300 euros and the hotel 80 euros",
    ),
    "The review is on 12 March and the release on 20 March.": ("The release is on 12 March",),
    "The timeout was raised from 30 to 60 seconds.": ("The timeout was raised from 60 to 30 seconds",),
    "I prefer tea to coffee.": ("The user prefers coffee to tea",),
    "The backup works on elm01 but not on oak02.": ("The backup works on oak02 but not on elm01",),
    "The tests failed.": ("The tests passed",),
    "The price rose to 30 euros.": ("The price fell to 30 euros",),
    "Disk usage is above 90%.": ("Disk usage is below 90%",),
    "At least 3 reviewers are required.": ("At most 3 reviewers are required",),
    "The meeting is before lunch.": ("The meeting is after lunch",),
    "The port 8443 is open.": ("The port 8443 is closed",),
    "Maybe we could use Postgres some day.": ("The user uses Postgres",),
    "Should we use Postgres?": ("The user wants to use Postgres",),
    "If the price falls, we buy the server.": ("We buy the server",),
    "I used to like Vim.": ("The user likes Vim",),
    "My brother hates cilantro.": ("The user hates cilantro",),
    "The customer said he prefers Word.": ("The user prefers Word",),
    "Only Anna may deploy.": ("Everyone but Anna may deploy",),
    "All servers except elm01 are patched.": ("All servers including elm01 are patched", "All servers are patched"),
    "小王付酒店，小李付车票。": ("小李付酒店，小王付车票",),
    "酒店300元，车票80元。": ("酒店80元，车票300元",),
    "张伟向李娜汇报。": ("李娜向张伟汇报",),
    "预算增加到5000元。": ("预算减少到5000元",),
    "会议从周一改到周二。": ("会议从周二改到周一",),
    "如果便宜了我们就换服务器。": ("我们换服务器",),
    "我同事喜欢用表格。": ("用户喜欢用表格",),
}  # fmt: skip

STRAIGHT = {
    "Please put reports in as PDF, not Word.": "The user wants reports as PDF, not Word",
    "When writing reports, use PDF.": "Use PDF when writing reports",
    "The budget for the trip is 5,000 euros until 12 March.": "The trip's budget is 5,000 euros until 12 March",
    "The budget is 5,000 euros, and it holds until 12 March.": "The budget of 5,000 euros holds until 12 March",
    "If tests fail, tell me at once.": "The user wants to be told when tests fail",
    "Could you use tabs, please?": "The user wants tabs",
    "Can we keep the summaries short?": "The user wants short summaries",
    "The hotel costs 300 euros and the train 80 euros.": "The train costs 80 euros",
    "The timeout was raised from 30 to 60 seconds.": "The timeout was raised to 60 seconds",
    "Bert manages Anna.": "Anna is managed by Bert",
    "I only want tea.": "The user only wants tea",
    "My wife likes jazz.": "The user's wife likes jazz",
    "Anna pays the hotel and Bert pays the train.": "Bert pays the train",
    "记住，以后周报都用表格，不要长段落。": "用户要周报都用表格，不要长段落",
    "酒店300元，车票80元。": "车票80元",
    "会议从周一改到周二。": "会议改到周二",
    "可以用表格吗？": "用户想用表格",
    "如果测试失败就马上告诉我。": "测试失败时用户要马上知道",
    "会议别排在9点半之前。": "9点半之前不要给我安排会议",
}


@pytest.mark.parametrize(
    ("source", "statement"), [(source, one) for source, many in BENT.items() for one in many]
)
def test_the_same_words_for_another_matter_are_bent(source: str, statement: str) -> None:
    assert bent(statement, source)


@pytest.mark.parametrize(("source", "statement"), STRAIGHT.items())
def test_other_words_for_the_same_matter_are_not(source: str, statement: str) -> None:
    assert not bent(statement, source)


def test_what_says_nothing_of_it_bends_nothing() -> None:
    assert not bent("Anna reports to Bert", "The weather is fine.")
    assert not bent("Anna reports to Bert", "")


def test_one_sentence_that_says_so_is_enough() -> None:
    assert not bent("Bert reports to Anna", "Anna reports to Bert. No: Bert reports to Anna.")


@pytest.mark.parametrize(
    ("statement", "source", "surer"),
    [
        ("The user is always in a hurry", "Hurry up please.", True),
        ("The user always wants PDF", "Remember: PDF.", False),
        ("用户总是要求快一点", "这次快一点。", True),
        ("The user decided on Postgres", "Postgres looks nice.", True),
        ("The user decided on Postgres", "Let's go with Postgres.", False),
    ],
)
def test_what_was_said_once_or_not_settled_is_not_said_for_good(
    statement: str, source: str, surer: bool
) -> None:
    assert stronger(statement, [source]) is surer


def test_two_statements_of_the_same_words_for_other_things_are_not_the_same() -> None:
    assert rearranged("The hotel costs 300 and the train 80", "The hotel costs 80 and the train 300")
    assert not rearranged("I prefer tea", "tea is what I prefer")


@given(st.text(max_size=80))
def test_no_text_bends_itself(text: str) -> None:
    assert not rearranged(text, text)
    assert not bent(text, text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_asked(statement: str, source: str) -> None:
    assert bent(statement, source) in (True, False)
