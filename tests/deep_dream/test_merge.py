from hypothesis import given
from hypothesis import strategies as st

from dreamd.deep_dream.merge import merge

TEXT = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n"]), max_size=8).map("".join)


@given(TEXT, TEXT)
def test_a_change_of_one_side_alone_is_taken(base: str, changed: str) -> None:
    assert merge(base, changed, base) == changed
    assert merge(base, base, changed) == changed


@given(TEXT, TEXT)
def test_the_same_change_on_both_sides_is_taken_once(base: str, changed: str) -> None:
    assert merge(base, changed, changed) == changed


@given(TEXT, TEXT, TEXT)
def test_no_line_comes_from_nowhere_and_what_all_have_stays(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    if merged is not None:
        assert set(merged.splitlines()) <= set((ours + theirs).splitlines())
        in_all = set(base.splitlines()) & set(ours.splitlines()) & set(theirs.splitlines())
        assert in_all <= set((merged + base).splitlines())


@given(TEXT, TEXT, TEXT)
def test_a_line_that_one_side_added_is_in_the_merge(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    if merged is not None:
        added = (set(ours.splitlines()) | set(theirs.splitlines())) - set(base.splitlines())
        assert added <= set(merged.splitlines())


def test_changes_apart_are_both_kept() -> None:
    assert merge("- a\n- b\n- c\n", "- A\n- b\n- c\n", "- a\n- b\n- c\n- d\n") == "- A\n- b\n- c\n- d\n"


def test_different_changes_of_the_same_line_are_a_conflict() -> None:
    assert merge("- a\n", "- b\n", "- c\n") is None


def test_both_may_append() -> None:
    assert merge("- a\n", "- a\n- ours\n", "- a\n\ntheirs") == "- a\n- ours\n\ntheirs"


def test_a_line_removed_by_one_and_changed_by_the_other_is_a_conflict() -> None:
    assert merge("- a\n- b\n", "- b\n", "- a!\n- b\n") is None


def test_changes_that_only_touch_are_both_made() -> None:
    assert merge("- a\n- b\n", "- a\n- B\n", "- a\n- b\n- mine\n") == "- a\n- B\n- mine\n"
    assert merge("- a\n- b\n", "- A\n- b\n", "- a\n- B\n") == "- A\n- B\n"
    assert merge("- a\n- b\n", "- B\n", "- mine\n- a\n- b\n") == "- mine\n- B\n"


def test_a_line_added_among_lines_that_the_other_side_removed_stays() -> None:
    assert merge("- a\n- b\n- c\n", "- a\n", "- a\n- b\n- mine\n- c\n") == "- a\n- mine\n"
    assert merge("- a\n- b\n- c\n", "- a\n- x\n", "- a\n- b\n- mine\n- c\n") is None


def test_both_may_remove_the_same_lines() -> None:
    assert merge("- a\n- b\n- c\n", "- a\n", "- a\n- c\n") == "- a\n"


def test_a_missing_newline_at_the_end_is_no_change_of_the_line() -> None:
    assert merge("- a\n- b", "- a\n- B\n", "- a\n- b\n- mine\n") == "- a\n- B\n- mine\n"
    assert merge("- a\n- b", "- A\n- b", "- a\n- b\n- mine") == "- A\n- b\n- mine"


@given(TEXT, TEXT)
def test_what_only_one_side_added_behind_it_all_never_conflicts(base: str, ours: str) -> None:
    merged = merge(base, ours, f"{base}- mine\n")
    assert merged is not None
    assert "- mine" in merged.splitlines()
