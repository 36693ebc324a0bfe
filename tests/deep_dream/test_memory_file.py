from hypothesis import given
from hypothesis import strategies as st

from dreamd.deep_dream.memory_file import Edits, edit, entries, lines_of, parse, render

FILE = """---
title: notes
- not an entry
---
# Memory

Free words stay.

## People

- Ann reviews pull requests
  - on Fridays
* Bob is away

```
- not an entry either
```

## Tools

- uses pnpm"""


def test_entries_are_bullets_with_what_hangs_under_them() -> None:
    found = [block for _, block in entries(parse(FILE))]
    assert [block.text for block in found] == ["Ann reviews pull requests", "Bob is away", "uses pnpm"]
    assert found[0].whole == "Ann reviews pull requests - on Fridays"
    assert [block.line for block in found] == [11, 13, 21]


TEXT = st.lists(
    st.sampled_from(
        [
            "- a",
            "* b",
            "  - c",
            "\tmore",
            "# h",
            "## h ",
            "",
            "```",
            "~~~",
            "---",
            "text",
            "1. x",
            "- [ ] t",
            "\ufeff",
        ]
    ),
    max_size=20,
).flatmap(lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda newline: newline.join(lines)))


@given(TEXT | st.text())
def test_a_parsed_file_renders_to_the_same_bytes(text: str) -> None:
    assert render(parse(text)) == text


@given(TEXT | st.text())
def test_no_edits_change_nothing(text: str) -> None:
    assert edit(parse(text), Edits(replaced={}, after={}, sections={})) == text


@given(TEXT)
def test_removing_an_entry_touches_no_other_block(text: str) -> None:
    blocks = parse(text)
    for index, block in entries(blocks):
        rest = edit(blocks, Edits(replaced={index: ()}, after={}, sections={}))
        assert rest == render(blocks[:index] + blocks[index + 1 :]), block


def test_lines_go_to_the_end_of_their_section() -> None:
    made = edit(
        parse(FILE), Edits(replaced={}, after={}, sections={"People": ["Carl left"], "Tools": ["uses uv"]})
    )
    assert "* Bob is away\n- Carl left\n\n```" in made
    assert made.endswith("- uses pnpm\n- uses uv\n")


def test_an_unknown_heading_is_added_at_the_end() -> None:
    made = edit(parse("# Memory\n"), Edits(replaced={}, after={}, sections={"Facts": ["water is wet"]}))
    assert made == "# Memory\n\n## Facts\n\n- water is wet\n"


def test_a_new_file_begins_with_its_first_heading() -> None:
    made = edit((), Edits(replaced={}, after={}, sections={"": ["loose"], "Facts": ["water is wet"]}))
    assert made == "- loose\n\n## Facts\n\n- water is wet\n"


def test_an_empty_section_keeps_the_blank_line_under_its_heading() -> None:
    made = edit(parse("## Facts\n\n## Tools\n"), Edits(replaced={}, after={}, sections={"Facts": ["x is 1"]}))
    assert made == "## Facts\n\n- x is 1\n\n## Tools\n"


def test_windows_newlines_stay() -> None:
    made = edit(parse("- a\r\n- b\r\n"), Edits(replaced={0: ("c",)}, after={1: ("d",)}, sections={}))
    assert made == "- c\r\n- b\r\n- d\r\n"


def test_the_texts_of_a_file() -> None:
    assert lines_of("- a \n- b\n") == ["a", "b"]
