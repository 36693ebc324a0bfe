"""What every line format promises, whoever writes it: run on its samples under `tests/samples/<format>/`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreamd import _plugins
from dreamd.formats.base import NO, LineFormat, LineReader
from dreamd.records import Amendment, Item, Record, Span
from tests.formats.folding import Beside, content, expected, fold, items_of, source_of, split

SAMPLES = Path(__file__).parent.parent / "samples"
FORMATS: dict[str, LineFormat] = {
    name: _plugins.load("formats", name, "FORMAT") for name in _plugins.names("formats")
}
LINES = {name: each for name, each in FORMATS.items() if each.family == "lines"}


def _logs(name: str) -> list[Path]:
    found = sorted((SAMPLES / name).rglob("*"))
    return [
        path for path in found if ".jsonl" in path.name and LINES[name].claims(path, content(path)[: 1 << 16])
    ]


CASES = [pytest.param(name, log, id=f"{name}/{log.name}") for name in LINES for log in _logs(name)]
every_log = pytest.mark.parametrize(("name", "log"), CASES)
every_format = pytest.mark.parametrize("name", list(LINES))
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _opened(name: str, log: Path, state: bytes = b"") -> LineReader:
    return LINES[name].open(source_of(log), Beside(log, log), state)


def _identities(items: Iterator[Item] | list[Item]) -> list[str]:
    return [item.identity for item in items if isinstance(item, Record)]


@every_format
def test_a_format_has_a_sample_of_its_own(name):
    assert _logs(name)


@every_log
def test_a_sample_is_claimed_by_its_own_format_above_all_others(name, log):
    head = content(log)[: 1 << 16]
    mine = LINES[name].claims(log, head)

    assert mine > NO
    assert all(mine > each.claims(log, head) for other, each in FORMATS.items() if other != name)


@every_log
def test_a_sample_reads_as_its_golden_list_says(name, log):
    golden = log.with_name(log.name.partition(".jsonl")[0] + ".expected.json")
    if not golden.exists():
        pytest.skip("part of a folder with a golden list of its own")

    assert fold([items_of(LINES[name], log)], LINES[name].label) == expected(golden)


@every_log
def test_a_reader_carries_on_after_a_restart_at_any_line(name, log):
    lines = list(split(content(log), str(log)))
    through, items, states = _opened(name, log), [], [b""]
    for line, span in lines:
        items.append(list(through.feed(line, span)))
        states.append(through.dump())
    end = list(through.settle())

    for cut, state in enumerate(states):
        resumed = _opened(name, log, state)
        assert [list(resumed.feed(line, span)) for line, span in lines[cut:]] == items[cut:]
        assert list(resumed.settle()) == end


@every_log
def test_a_line_fed_twice_makes_no_second_record(name, log):
    reader, known = _opened(name, log), set()
    for line, span in split(content(log), str(log)):
        known.update(_identities(reader.feed(line, span)))
        assert set(_identities(reader.feed(line, span))) <= known


@every_log
def test_resting_twice_changes_nothing(name, log):
    reader = _opened(name, log)
    for line, span in split(content(log), str(log)):
        reader.feed(line, span)
        first, state = list(reader.settle()), reader.dump()
        assert set(_identities(reader.settle())) <= set(_identities(first))
        assert reader.dump() == state


@every_log
def test_identities_are_unique_and_amendments_name_them(name, log):
    items = items_of(LINES[name], log)
    known = set(_identities(items))

    assert all(item.identity for item in items if isinstance(item, Record | Amendment))
    assert all(item.role == "tool" or item.text for item in items if isinstance(item, Record))
    assert all(bool(item.tool) == (item.role == "tool") for item in items if isinstance(item, Record))
    assert all(
        item.at is None or item.at.utcoffset().seconds == 0 for item in items if isinstance(item, Record)
    )
    assert known


@every_log
@quick
@given(data=st.data())
def test_a_damaged_sample_raises_nothing(name, log, data):
    lines = [line for line, _ in split(content(log), str(log))]
    reader = _opened(name, log)
    for _ in range(6):
        line = data.draw(st.sampled_from(lines))
        damage = data.draw(st.sampled_from([_with_odd_field, _cut, _spliced]))
        reader.feed(damage(line, lines, data), Span(source_id="x"))
    reader.settle()

    assert isinstance(_opened(name, log, reader.dump()).dump(), bytes)


@every_format
@quick
@given(line=st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_garbage_raises_nothing_and_makes_no_record(name, line):
    path = Path("garbage.jsonl")
    reader = LINES[name].open(source_of(path), Beside(path, path), b"")

    assert _identities(reader.feed(line, Span(source_id="x"))) == []
    assert LINES[name].claims(path, line) >= NO
    assert isinstance(LINES[name].order(path, line, line), tuple)


def _with_odd_field(line: bytes, _: list[bytes], data: st.DataObject) -> bytes:
    """The line with a value somewhere in it replaced by any JSON."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    where = value
    while isinstance(where, dict) and where:
        key = data.draw(st.sampled_from(sorted(where)))
        if not isinstance(where[key], dict) or data.draw(st.booleans()):
            where[key] = data.draw(json_values)
            break
        where = where[key]
    return json.dumps(value).encode()


def _cut(line: bytes, _: list[bytes], data: st.DataObject) -> bytes:
    return line[: data.draw(st.integers(0, len(line)))]


def _spliced(line: bytes, lines: list[bytes], data: st.DataObject) -> bytes:
    return _cut(line, lines, data) + data.draw(st.sampled_from(lines))
