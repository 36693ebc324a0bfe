"""The tags of a text: what stands inside them, and what is left without them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.formats._claude_lines import Line
from dreamd.formats._claude_said import command, inside, local, printed, said, unwrapped, without

plain = st.text(alphabet="ab \n中", max_size=10)


@given(st.lists(st.tuples(plain, plain), max_size=5), plain)
def test_blocks_come_apart_as_they_were_put_together(blocks, rest):
    text = "".join(f"{before}<x-y>{within}</x-y>" for before, within in blocks) + rest

    assert without(text, "x-y") == "".join(before for before, _ in blocks) + rest
    assert inside(text, "x-y") == "\n".join(within.strip() for _, within in blocks if within.strip())


def test_a_tag_may_have_attributes_and_must_be_closed():
    assert inside('<m to="a" from="b">x</m>', "m") == "x"
    assert inside("<mm>x</mm>", "m") == ""
    assert without("<m>x", "m") == "<m>x"
    assert inside('<m about="x < y > z">x</m>', "m") == "x"
    assert inside('<m about=">x</m>', "m") == "x"


def test_what_stands_around_unwrapped_messages_stays():
    text = 'Before\n<m from="a">\none\n</m>\n<m from="b" about="1 < 2">two</m> after'
    assert unwrapped(text, "m") == "Before\none\ntwo\nafter"
    assert unwrapped("<m>not closed", "m") == "<m>not closed"


def test_many_openings_without_an_end_are_read_in_one_go():
    text = "<system-reminder>" * 200_000
    assert said(Line(), [text], subagent=False, fired=False).text == text


@pytest.mark.parametrize(
    "text", ["", "x", "/x", "<command-args>only</command-args>", "<command-name></command-name>"]
)
def test_what_names_no_command_is_none(text):
    assert command(text) == ""


def test_a_system_line_is_a_command_or_its_output_or_nothing():
    assert local(" <command-name>/x</command-name>").text == "/x"
    assert local("<local-command-stderr>e</local-command-stderr>").role == "system"
    assert local("Conversation compacted") is None
    assert printed("plain") is None


def test_terminal_titles_and_colours_leave_nothing_behind():
    assert (
        printed("<local-command-stdout>\x1b]0;title\x07\x1b[1;31mred\x1b[0m\x1bM</local-command-stdout>")
        == "red"
    )


@given(plain, st.booleans())
def test_a_text_without_marks_is_its_writers(text, subagent):
    verdict = said(Line(), [text], subagent=subagent, fired=False)
    if text.strip():
        assert (verdict.text, verdict.origin) == (text.strip(), "subagent" if subagent else "human")
    else:
        assert verdict is None
