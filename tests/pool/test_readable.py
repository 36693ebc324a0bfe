import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.readable import readable, unquoted


@pytest.mark.parametrize(
    ("coded", "meant"),
    [
        (r"\u676d\u5dde", "杭州"),
        (r"to \\u676d\\u5dde", "to 杭州"),
        (r"\ud83d\ude00", "😀"),
        (r"\ud83d alone", "\ufffd alone"),
        (r"\u67", r"\u67"),
        (r"\u000a and \u0041", r"\u000a and \u0041"),
        (r"C:\users\new", r"C:\users\new"),
    ],
)
def test_coded_letters_are_read(coded: str, meant: str) -> None:
    assert readable(coded) == meant


def test_json_is_read_as_it_is_meant() -> None:
    said = '第一行\nimport os\t"C:\\new"'
    assert unquoted(json.dumps(said)).replace("\t", " ") == f'"{said}"'.replace("\t", " ")


@given(st.text(st.characters(min_codepoint=0x20, exclude_characters="\x7f\\", exclude_categories=["Cs"])))
def test_what_json_makes_of_a_text_reads_as_the_text(text: str) -> None:
    readings = (unquoted(json.dumps(text)), unquoted(json.dumps(text, ensure_ascii=False)))
    assert all(text in reading for reading in readings if "\x80" not in text)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    readable(text).encode()
    unquoted(text).encode("utf-8", "surrogatepass")
