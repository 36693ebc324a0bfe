"""dreamd's own trace format: a few lines in, the items that come of them."""

import json
from pathlib import Path, PurePath

import pytest

from dreamd.formats import trace
from dreamd.formats.base import CERTAIN, NO
from dreamd.formats.trace import FORMAT
from dreamd.records import Amendment, Item, Record, Skip, Span, Turn
from tests.formats.folding import Beside, items_of, source_of

SAMPLE = Path(__file__).parent.parent / "samples/trace/01.jsonl"


def items(*lines: dict[str, object]) -> list[Item]:
    reader = FORMAT.open(source_of(Path("talk.jsonl")), Beside(Path("x"), Path("x")), b"")
    whole = [{"dreamd": 1, "session": "s", **line} for line in lines]
    return [item for line in whole for item in reader.feed(json.dumps(line).encode(), Span(source_id="x"))]


def records(*lines: dict[str, object]) -> list[Record]:
    return [item for item in items(*lines) if isinstance(item, Record)]


def message(text: str, role: str = "user", **fields: object) -> dict[str, object]:
    return {"kind": "message", "role": role, "text": text, **fields}


@pytest.mark.parametrize(
    ("by", "role", "origin"),
    [
        ("human", "user", "human"),
        ("scheduled", "user", "scheduled"),
        ("subagent", "user", "subagent"),
        ("agent", "system", "injected"),
        ("somebody", "system", "injected"),
        (None, "system", "injected"),
    ],
)
def test_a_goal_is_the_humans_only_when_it_says_so(by, role, origin):
    for kind in ("goal", "subgoal"):
        record = records({"kind": kind, "text": "Book it", "by": by})[0]
        assert (record.role, record.origin, record.text) == (role, origin, "Book it")
        assert getattr(record.trace, kind) == "Book it"


@pytest.mark.parametrize(
    ("by", "origin"),
    [
        (None, "human"),
        ("human", "human"),
        ("scheduled", "scheduled"),
        ("subagent", "subagent"),
        ("agent", "injected"),
    ],
)
def test_an_answer_belongs_to_whoever_spoke_before_it(by, origin):
    found = records(message("hi", by=by), message("hello", "assistant"))
    assert [(record.role, record.origin) for record in found] == [("user", origin), ("assistant", origin)]


def test_an_action_carries_its_arguments_then_how_it_ended():
    action, good, bad = (
        {"kind": "action", "id": "a", "tool": "call", "arguments": {"to": "Reed"}},
        {"kind": "result", "of": "a", "result": ["yes"]},
        {"kind": "result", "of": "a", "error": "no answer"},
    )
    record, done = [item for item in items(action, good) if not isinstance(item, Turn)]
    failed = items(action, bad)[-1]

    assert (record.role, record.tool, record.ok, record.trace.arguments) == (
        "tool",
        "call",
        None,
        '{"to": "Reed"}',
    )
    assert (done.identity, done.ok, done.trace.result) == (record.identity, True, '["yes"]')
    assert (failed.ok, failed.trace.error, failed.trace.arguments) == (False, "no answer", '{"to": "Reed"}')


@pytest.mark.parametrize(
    ("fields", "ok"),
    [({"result": "x"}, True), ({"error": "x"}, False), ({"result": "x", "error": False}, True)],
)
def test_an_action_may_end_on_its_own_line(fields, ok):
    found = items({"kind": "action", "tool": "call", **fields})
    assert [item.ok for item in found if isinstance(item, Amendment)] == [ok]


def test_an_action_without_result_stays_open():
    assert not [
        item for item in items({"kind": "action", "tool": "x", "result": None}) if isinstance(item, Amendment)
    ]


@pytest.mark.parametrize("kind", ["summary", "checkpoint", "end"])
def test_summaries_are_kept_as_such(kind):
    record = records({"kind": kind, "text": " Half way "})[0]
    assert (record.role, record.origin, record.text, record.trace.summary) == (
        "system",
        "injected",
        "Half way",
        "Half way",
    )
    assert records({"kind": kind}) == []


def test_a_turn_lasts_from_a_prompt_to_the_answer_or_the_tasks_end():
    found = items(
        message("hi"),
        {"kind": "action", "tool": "x"},
        message("done", "assistant"),
        {"kind": "goal", "text": "g"},
        {"kind": "end"},
    )
    assert [item.busy for item in found if isinstance(item, Turn)] == [True, False, True, False]


def test_a_line_written_twice_counts_once_by_id_or_by_all_it_says():
    with_id = records(message("hi", id=7), message("hi again", id=7))
    without = records(message("hi", at="2026-03-02T09:00:00Z"), message("hi", at="2026-03-02T09:00:00Z"))
    apart = records(message("hi", at="2026-03-02T09:00:00Z"), message("hi", at="2026-03-02T09:00:01Z"))

    assert len({record.identity for record in with_id}) == 1
    assert len({record.identity for record in without}) == 1
    assert len({record.identity for record in apart}) == 2


def test_task_project_and_time_go_into_the_record():
    record = records(message("hi", task="t", project="/srv", at="2026-03-02T09:00:00+08:00"))[0]
    assert (record.task_id, record.project, record.at.isoformat()) == (
        "t",
        "/srv",
        "2026-03-02T01:00:00+00:00",
    )


def test_what_is_unknown_or_blank_is_counted():
    found = items(
        {"kind": "mood"},
        {"kind": "goal", "dreamd": 2},
        message(" "),
        message("x", "critic"),
        {"kind": "result"},
    )
    assert found == [Skip("kind"), Skip("version"), Skip("blank"), Skip("role"), Skip("orphan")]


def test_long_values_are_cut_in_the_trace():
    found = items(
        {"kind": "action", "id": "a", "tool": "x", "arguments": "浇" * 5000},
        {"kind": "summary", "text": "y" * 5000},
    )
    assert len(found[0].trace.arguments.encode()) <= 2048
    assert (len(found[-1].text), len(found[-1].trace.summary)) == (5000, 2048)


@pytest.mark.parametrize(
    ("head", "claim"),
    [
        (b'{"dreamd":1,"kind":"goal"}', CERTAIN),
        (b'\xef\xbb\xbf {"kind": "goal", "dreamd": 1}', CERTAIN),
        (b'{"kind":"goal"}\n{"dreamd":1}', NO),
        (b'{"kind":"goal","x":{"dreamd":1}}', NO),
        (b'{"dreamd":1,"kind":"message","text":"longer than the head', CERTAIN),
        (b'{"text":"{\\"dreamd\\":1}"}', NO),
        (b"", NO),
    ],
)
def test_a_file_is_claimed_by_its_sign(head, claim):
    assert FORMAT.claims(PurePath("any.name"), head) == claim


def test_the_documented_lines_are_understood():
    lines = [line.strip() for line in trace.__doc__.splitlines() if line.strip().startswith('{"dreamd":1')]
    reader = FORMAT.open(source_of(Path("x.jsonl")), Beside(Path("x"), Path("x")), b"")
    found = [item for line in lines for item in reader.feed(line.encode(), Span(source_id="x"))]

    assert len(lines) == 4
    assert not [item for item in found if isinstance(item, Skip)]


def test_the_sample_shows_every_kind():
    kinds = {json.loads(line)["kind"] for line in SAMPLE.read_text().splitlines()}
    assert kinds >= {"goal", "subgoal", "action", "result", "summary", "message", "checkpoint", "end"}
    assert {item.task_id for item in items_of(FORMAT, SAMPLE) if isinstance(item, Record)} == {"t-1", ""}
