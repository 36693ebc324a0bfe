import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.language import detect


@pytest.mark.parametrize(
    "text",
    [
        "帮我部署 Docker",
        "这个 pytest fixture 为什么 fail 了?",
        "看看 `docker compose up -d --build --force-recreate` 的输出",
        "跑一下 src/dreamd/pool/language.py",
        "好",
    ],
)
def test_chinese_with_english_terms_is_chinese(text: str) -> None:
    assert detect([text]) == "zh"


@pytest.mark.parametrize(
    "text",
    ["How do I deploy this?", "please translate 你好 into plain English for me", "日本語のログです", ""],
)
def test_everything_else_is_english(text: str) -> None:
    assert detect([text]) == "en"


def test_a_pasted_english_log_does_not_outvote_the_persons_own_words() -> None:
    assert detect(["ERROR connection refused " * 500, "这是什么问题？", "怎么修复？"]) == "zh"


def test_texts_of_code_and_numbers_alone_have_no_vote() -> None:
    assert detect(["```\nprint('hello world')\n```", "8080", "端口是多少"]) == "zh"


def test_nothing_at_all_is_english() -> None:
    assert detect([]) == "en"


@given(st.lists(st.text(max_size=80), max_size=6))
def test_the_order_of_the_texts_does_not_matter(texts: list[str]) -> None:
    assert detect(texts) == detect(reversed(texts))
