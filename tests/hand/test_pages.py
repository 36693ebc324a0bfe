import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.daily import page
from dreamd.hand.pages import Page, pieces, renumbered, without

DAY = date(2026, 3, 2)
MINE = "Mine: tea\n\n- my bullet\n"
DREAMT = "<!-- dreamd dream 0123456789ab -->\n"
DIARY = f"# 2 March\n\n{DREAMT}One thing was added. Another was dropped.\n\n### Added\n\n- tea\n\n### Merged\n\n- a → b\n"


def daily(*lines: str) -> str:
    section = page.Section(day=DAY, input_hash="0" * 64, lines=lines, agent="ada", language="en")
    return page.put(MINE, section)


@given(st.text(alphabet="-#<> !abc.。\n\r\t`") | st.text(), st.sampled_from(["memory", "daily", "diary"]))
def test_the_pieces_of_a_text_are_the_text(text: str, page: Page) -> None:
    assert "".join(one.raw for one in pieces(text, page)) == text
    assert without(text, page, ()) == text


@given(st.lists(st.sampled_from(["- a\n", "- b\n  more\n", "# h\n", "text\n", "\n"])))
def test_what_stays_keeps_its_number_or_is_told_the_new_one(lines: list[str]) -> None:
    text = "".join(lines)
    left, places = without(text, "memory", {"- a\n"}).split("\n"), renumbered(text, {"- a\n"})
    for old, new in places.items():
        assert left[new - 1 : new] == text.split("\n")[old - 1 : old]
    assert len(places) >= len(lines) - lines.count("- a\n")


def test_an_entry_of_memory_goes_with_all_that_hangs_on_it() -> None:
    text = "# Memory\n\n- a\n  more\n- b\nfree\n"
    assert without(text, "memory", {"- a\n  more\n"}) == "# Memory\n\n- b\nfree\n"


def test_of_a_daily_only_dreamds_lines_go_and_an_empty_section_with_them() -> None:
    text = daily("tea", "milk")
    own = [one.text for one in pieces(text, "daily") if one.own and one.raw.startswith("- ")]
    assert own == ["tea", "milk"]
    assert "- milk" in without(text, "daily", {"- tea\n", "- my bullet\n"})
    assert "- my bullet" in without(text, "daily", {"- tea\n", "- my bullet\n"})
    assert without(text, "daily", {"- tea\n", "- milk\n"}) == MINE


def test_of_a_diary_a_sentence_or_a_bullet_goes_and_an_empty_list_with_it() -> None:
    left = without(DIARY, "diary", {"One thing was added. ", "- tea\n"})
    assert left == f"# 2 March\n\n{DREAMT}Another was dropped.\n\n### Merged\n\n- a → b\n"
    assert re.findall("^### .*", without(DIARY, "diary", {"- a → b\n", "- tea\n"}), re.MULTILINE) == []


@pytest.mark.parametrize("text", [f"- tea\n{DIARY}", "- tea\n"])
def test_what_stands_before_dreamds_mark_in_a_diary_is_somebody_elses(text: str) -> None:
    assert not pieces(text, "diary")[0].own
    assert without(text, "diary", {"- tea\n"}).startswith("- tea\n")
