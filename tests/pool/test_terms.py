from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.terms import dated, headed, of_a_time, stem, terms, told, wanted

TODAY = date(2026, 3, 2)
_DATES = tuple("\ue000\ue001\ue002\ue003\ue004")
HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2, max_size=2)


@given(st.text())
def test_terms_hold_no_white_space_and_are_never_empty(text: str) -> None:
    assert all(term and not any(char.isspace() for char in term) for term in terms(text))


@given(HAN, st.text(max_size=20), st.text(max_size=20))
def test_every_chinese_word_of_two_characters_is_found_wherever_it_stands(
    word: str, head: str, tail: str
) -> None:
    assert set(terms(word)) & {word} == {word}
    assert word in terms(f"{head}{word}{tail}")


@given(st.text(max_size=60))
def test_what_a_question_wants_stands_in_a_text_of_the_same_words(text: str) -> None:
    plain = [term for term in wanted(text, TODAY) if not term.startswith(_DATES)]
    assert set(plain) <= set(terms(text))


def test_a_single_character_is_the_beginning_of_terms_or_a_term_at_the_end_of_its_run() -> None:
    assert wanted("红", TODAY) == ["红"]
    assert headed("红")
    assert not headed("r")
    assert not headed("红色")
    assert any(term.startswith("红") for term in terms("我讨厌红"))
    assert any(term.startswith("红") for term in terms("红色的衣服"))


@pytest.mark.parametrize("bent", ["run runs running", "plan plans planned planning", "make makes making", "city cities",
                                  "deploy deploys deployed deployment"])  # fmt: skip
def test_bent_english_words_are_one_term(bent: str) -> None:
    assert len({stem(word) for word in bent.split()}) == 1


def test_names_with_digits_and_short_words_stay_whole() -> None:
    assert [stem(word) for word in ("gas", "v2s", "naïves")] == ["gas", "v2s", "naïves"]


def test_a_possessive_is_the_name() -> None:
    assert terms("Caroline's dog") == terms("Caroline dog")


@pytest.mark.parametrize("text", ["May 2nd, 2023", "2 May 2023", "the 2nd of May 2023", "2023-05-02", "2023/5/2", "2023年5月2日",
                                  "2023年5月2号", "二〇二三年五月二日"])  # fmt: skip
def test_a_date_in_any_spelling_gives_the_terms_of_the_day(text: str) -> None:
    assert set(dated(date(2023, 5, 2))) <= set(terms(text))


@pytest.mark.parametrize("text", ["on May 2nd", "5月2号", "五月二号"])
def test_a_day_without_its_year_meets_the_day(text: str) -> None:
    assert len(set(dated(date(2023, 5, 2))) & set(terms(text))) == 2
    assert len(set(dated(date(2023, 5, 3))) & set(terms(text))) == 1


@pytest.mark.parametrize("text", ["in June 2023", "2023年6月"])
def test_a_month_meets_its_days(text: str) -> None:
    assert len(set(dated(date(2023, 6, 9))) & set(terms(text))) == 3


@pytest.mark.parametrize(("text", "day"), [("what did I say yesterday?", date(2026, 3, 1)), ("昨天我说了什么", date(2026, 3, 1)),
                                           ("three days ago", date(2026, 2, 27)), ("3天前", date(2026, 2, 27))])  # fmt: skip
def test_yesterday_is_a_date(text: str, day: date) -> None:
    assert dated(day)[-1] in wanted(text, TODAY)


@pytest.mark.parametrize("text", ["may I go?", "version 1.2.3", "13月45日", "99/99/9999", "march on"])
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert not any(term.startswith(_DATES) for term in terms(text))


@pytest.mark.parametrize(("asked", "said"), [("上周的会议", date(2026, 2, 27)), ("last week", date(2026, 2, 23)), ("去年", date(2025, 7, 1)),
                                            ("上个月", date(2026, 2, 1)), ("last month", date(2026, 2, 28))])  # fmt: skip
def test_a_time_that_is_asked_for_meets_its_days_and_the_days_before_and_after_it_not(
    asked: str, said: date
) -> None:
    wish = set(wanted(asked, TODAY))
    assert wish & set(dated(said))
    assert not wish & set(dated(TODAY))


def test_what_was_told_a_day_later_is_found_by_the_day_it_was_of() -> None:
    for text in ("I bought shoes yesterday", "昨天买了鞋"):
        assert dated(date(2026, 3, 1))[-1] in told(text, TODAY)
        assert dated(TODAY)[-1] in told(text, TODAY)
    assert sum(map(of_a_time, told("I bought shoes, and a flag", TODAY))) == 2


@pytest.mark.parametrize(("question", "words"), [("部署的是哪台吗", ["部署"]), ("数据库是什么呢？", ["数据", "据库"]), ("红的吗", ["红"]), ("旅行的目的", ["旅行", "目的"])])  # fmt: skip
def test_chinese_particles_join_no_words(question: str, words: list[str]) -> None:
    assert set(words) <= set(wanted(question, TODAY))
    assert not any(set(term) & set("的吗呢么") for term in wanted(question, TODAY) if term != "目的")


def test_grammar_alone_is_not_asked_for_unless_there_is_nothing_else() -> None:
    assert "我的" not in wanted("我的预算", TODAY)
    assert wanted("我的", TODAY) == ["我的"]


@given(st.integers(1, 10**9))
def test_an_absurd_number_of_days_ago_is_no_error(days: int) -> None:
    assert wanted(f"{days} days ago", TODAY)
