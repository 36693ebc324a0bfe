import json

import pytest

from dreamd.calls import Reply, Stop
from dreamd.dream.reply import MOST, Cited, notes, proposals
from dreamd.errors import ReplyUnusable
from dreamd.memories import Entity
from tests.dream.told import insight, insights


def reply(text: str, stop: Stop = "end") -> Reply:
    return Reply(text=text, stop=stop)


def test_notes_have_their_quotes_by_label() -> None:
    text = '{"notes": [{"quotes": [{"ref": "R2", "text": "as  is"}], "text": "It is\\nso"}]}'
    (note,) = notes(reply(text))
    assert (note.text, note.quotes, note.sources) == ("It is so", (Cited("R2", "as is"),), ())


@pytest.mark.parametrize(
    "value",
    [
        [{"ref": "R2", "text": "as is"}], [{"id": "[r2]", "quote": "as is"}], {"R2": "as is"},
        ["R2: as is"], "R2: as is", {"ref": "R2", "text": "as is"}, [{"ref": " R 2:", "text": "as is"}],
    ],
)  # fmt: skip
def test_quotes_are_understood_in_several_dresses(value: object) -> None:
    (note,) = notes(reply(json.dumps({"notes": [{"quotes": value, "text": "x"}]})))
    assert note.quotes == (Cited("R2", "as is"),)


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        (["P1", "p 2", "[P3]"], ("P1", "P2", "P3")), ("P1, P2", ("P1", "P2")), (["P2-P4"], ("P2", "P3", "P4")),
        (3, ("3",)), ([1, 2], ("1", "2")), (["a1b2"], ("a1b2",)), ([], ()), ([None], ("?",)), ("P1-P9999", ("P1-P9999",)),
    ],
)  # fmt: skip
def test_labels_are_understood_in_several_dresses(value: object, labels: tuple[str, ...]) -> None:
    (note,) = notes(reply(json.dumps({"notes": [{"from": value, "text": "x"}]})))
    assert note.sources == labels


def test_an_insight_is_read_whole() -> None:
    one = insight(
        "Reports are PDF", [("R1", "PDF")], kind="Preference", entities=[{"name": "PDF", "type": "Format"}, "Anna"],
        applies_when="reports", confidence=0.7,
    )  # fmt: skip
    (found,) = proposals(reply(insights(one)))
    assert (found.statement, found.kind, found.confidence) == ("Reports are PDF", "preference", 0.7)
    assert found.entities == (Entity("PDF", "format"), Entity("Anna", "other"))
    assert (found.applies_when, found.quotes) == ("reports", (Cited("R1", "PDF"),))


@pytest.mark.parametrize(
    ("given", "figure"), [(5, 1.0), (-1, 0.0), ("high", 1.0), (True, 1.0), (None, 1.0), (0.25, 0.25)]
)
def test_a_confidence_is_only_ever_a_cap(given: object, figure: float) -> None:
    (found,) = proposals(reply(insights(insight("x", confidence=given))))
    assert found.confidence == figure


def test_a_kind_nobody_knows_is_a_fact() -> None:
    (found,) = proposals(reply(insights(insight("x", kind="prophecy"))))
    assert found.kind == "fact"


def test_a_bare_list_and_fences_and_talk_around_do_not_matter() -> None:
    text = f"Sure!\n```json\n{json.dumps([insight('x')])}\n```\nHope this helps."
    assert [found.statement for found in proposals(reply(text))] == ["x"]


def test_an_empty_list_is_an_answer() -> None:
    assert notes(reply('{"notes": []}')) == ()
    assert proposals(reply('{"insights": []}')) == ()


@pytest.mark.parametrize(
    "text",
    [
        "The user likes tea.", '{"insights": [{"statement": "x"', '{"insights": "none"}', '{"insights": ["x"]}', "{}", "[1]",
        '{"other": []}', "null",
    ],
)  # fmt: skip
def test_prose_and_other_shapes_are_unusable(text: str) -> None:
    with pytest.raises(ReplyUnusable):
        proposals(reply(text))


@pytest.mark.parametrize("stop", ["length", "filter"])
def test_a_reply_that_was_cut_off_is_unusable_even_if_it_parses(stop: Stop) -> None:
    with pytest.raises(ReplyUnusable, match="cut off"):
        proposals(reply('{"insights": []}', stop))


def test_the_error_never_quotes_the_model() -> None:
    with pytest.raises(ReplyUnusable) as caught:
        proposals(reply("secret words"))
    assert "secret" not in str(caught.value)


def test_a_model_that_runs_on_is_read_up_to_a_bound() -> None:
    assert len(proposals(reply(insights(*[insight(f"x{n}") for n in range(500)])))) == MOST
