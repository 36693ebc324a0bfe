import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.plain import plain


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x1b[31mred\x1b[0m b", "ared b"),
        ("\x1b]0;title\x07x\x9b2Jy", "xy"),
        ("nul\x00 bell\x07 del\x7f", "nul bell del"),
        ("pay \u202e001\u202c now\u2066\u2069", "pay 001 now"),
        ("one\u2028two\x85three\x0cfour", "one two three four"),
        ("hidden\U000e0041\U000e0042 tags\u200b", "hidden tags"),
        ("ein\tBaum\r\n桥👩\u200d🔧 می\u200cخواهم", "ein\tBaum\r\n桥👩\u200d🔧 می\u200cخواهم"),
    ],
)
def test_what_is_not_seen_is_gone_and_the_rest_stays(text: str, seen: str) -> None:
    assert plain(text) == seen


@given(st.text())
def test_plain_text_stays_plain_and_breaks_only_where_everybody_breaks(text: str) -> None:
    once = plain(text)
    assert plain(once) == once
    assert (
        once.splitlines() == once.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        or not once
    )
