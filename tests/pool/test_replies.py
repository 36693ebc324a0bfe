import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.replies import json_of, unfenced

_plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_json = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | _plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_plain, inner, max_size=4),
    max_leaves=12,
)
_containers = st.lists(_json, min_size=1, max_size=4) | st.dictionaries(_plain, _json, min_size=1, max_size=4)
_talk = st.text("abc 你好。,!\n", max_size=40)


@given(_json, st.sampled_from([None, 1, 2]), st.booleans())
def test_json_alone_is_itself_however_it_is_laid_out(
    value: object, indent: int | None, escaped: bool
) -> None:
    assert json_of(json.dumps(value, indent=indent, ensure_ascii=escaped)) == value


@given(_containers, _talk, _talk)
def test_json_is_found_in_prose(value: object, before: str, after: str) -> None:
    assert json_of(f"{before}\n{json.dumps(value, ensure_ascii=False)}\n{after}") == value


@given(_containers, _talk, _talk, st.sampled_from(["json", "", "JSON5"]))
def test_json_is_found_in_a_fence_with_talk_around(value: object, before: str, after: str, tag: str) -> None:
    assert json_of(f"{before}\n```{tag}\n{json.dumps(value, indent=2)}\n```\n{after}") == value


@given(_containers, _talk)
def test_json_after_a_thought_is_found_and_json_in_the_thought_is_not(value: object, thought: str) -> None:
    assert json_of(f'<think>{thought} {{"not": "this"}}</think>\n{json.dumps(value)}') == value


@given(_containers)
def test_trailing_commas_are_forgiven_once(value: object) -> None:
    written = json.dumps(value)
    assert json_of(f"{written[:-1]} ,\n{written[-1]}") == value


@given(_containers, _talk, st.data())
def test_a_value_that_is_cut_off_is_none_and_no_piece_of_it(
    value: object, before: str, data: st.DataObject
) -> None:
    written = json.dumps(value)
    cut = written[: data.draw(st.integers(1, len(written) - 1))]
    assert json_of(f"{before}\n{cut}") is None


@given(st.text(max_size=200) | st.text('{}[]",:\\`<think>/ \n1', max_size=60))
def test_any_text_is_taken_without_a_fault(text: str) -> None:
    json_of(text)
    assert len(unfenced(text)) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"insights": [{"text": "cut off in the mid',
        "<html><body>Bad gateway</body></html>",
        "",
        "None",
        "[" * 100_000,
        '{"a": ' * 50_000,
        "[NaN]",
        '{"n": Infinity}',
        '{"half": "\\ud83d"}',
    ],
)
def test_what_is_no_whole_json_is_none(text: str) -> None:
    assert json_of(text) is None


def test_of_several_values_in_prose_the_longest_counts() -> None:
    assert json_of('As [1] says, [2]: {"text": "the answer", "refs": [1]} and not {}.') == {
        "text": "the answer",
        "refs": [1],
    }


def test_a_comma_in_a_string_is_no_trailing_comma() -> None:
    assert json_of('{"a": "x,]", "b": [",}",],}') == {"a": "x,]", "b": [",}"]}


@given(_talk)
def test_a_fence_around_the_whole_reply_is_dropped(talk: str) -> None:
    assert unfenced(f"```markdown\n{talk}\n```") == talk.strip()


def test_talk_before_the_first_marker_is_dropped() -> None:
    assert unfenced("Sure! Here it is:\n\n[MEMORY]\n- a\n[DREAM]\nb") == "[MEMORY]\n- a\n[DREAM]\nb"


def test_a_fence_that_opens_before_the_marker_goes_with_its_end() -> None:
    reply = "Here:\n```\n[MEMORY]\n- run:\n```sh\nls\n```\n[DREAM]\nb\n```\nAnything else?"
    assert unfenced(reply) == "[MEMORY]\n- run:\n```sh\nls\n```\n[DREAM]\nb"


def test_a_fence_within_the_reply_is_content() -> None:
    reply = "- how to list:\n```sh\nls\n```\n- done"
    assert unfenced(reply) == reply
