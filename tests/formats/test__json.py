import json
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, Struct

from dreamd.formats._json import Lines, cut, decoded, loosely, mended, moment, objects, opening


class Part(Struct, frozen=True):
    type: str = ""
    text: str | None = None


class Shape(Struct, frozen=True, rename="camel"):
    type: str = ""
    is_meta: bool | None = None
    part: Part | None = None
    content: str | list[Part] | None = None
    rest: Raw = Raw(b"")


LINES = Lines(Shape)
WHOLE = b'{"type":"user","content":"hi"}'


def test_a_whole_line_is_one_record():
    assert LINES.read(WHOLE) == ([Shape(type="user", content="hi")], 0)
    assert objects(WHOLE) == ([WHOLE], 0)


def test_several_objects_on_one_line_all_count():
    assert objects(WHOLE * 3) == ([WHOLE] * 3, 0)
    assert objects(WHOLE + b"  " + WHOLE) == ([WHOLE] * 2, 0)


def test_a_cut_record_before_the_next_one_costs_only_itself():
    torn = b'{"parentUuid":null,"type":"user","message":{"content":[{"type":"te'
    assert objects(torn + WHOLE) == ([WHOLE], 1)
    assert objects(WHOLE + torn) == ([WHOLE], 1)
    assert objects(WHOLE + torn + WHOLE) == ([WHOLE] * 2, 1)


def test_a_part_of_a_damaged_record_is_no_record():
    torn = b'{"type":"progress","data":[{"type":"user","content":"not said"},{"id":1}],"x":"cu'
    assert objects(torn + WHOLE) == ([WHOLE], 1)


@pytest.mark.parametrize("line", [b"[1]", b'"text"', b"null", b"{", b"nonsense", b"[" * 5000, b"\xff\xfe"])
def test_what_is_no_object_is_counted(line):
    assert LINES.read(line) == ([], 1)


def test_the_opening_of_a_log_passes_over_what_holds_nothing():
    head = b"\xef\xbb\xbf\0\0\r\n \n" + WHOLE + b"\r\n\0\n" + WHOLE[:9]
    assert opening(head) == [WHOLE, WHOLE[:9]]
    assert opening(b"\0" * 100) == []
    assert len(opening(WHOLE + b"\n" + (WHOLE + b"\n") * 99)) == 8


def test_deep_nesting_is_bad_input_and_no_crash():
    assert LINES.read(b'{"type":"user","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}") == ([], 1)


def test_a_damaged_line_full_of_record_starts_is_given_up_in_time():
    assert objects(b'{"id":' * 50_000)[1] == 1


def test_a_field_of_another_type_keeps_its_default_and_the_record_counts():
    line = (
        b'{"type":"user","isMeta":"yes","part":{"type":1,"text":"t"},"content":[{"type":"text","text":7},3]}'
    )
    assert LINES.read(line) == (
        [Shape(type="user", part=Part(text="t"), content=[Part(type="text")])],
        0,
    )
    assert loosely(b'{"type":"user","content":{"0":"h"}}', Shape) == Shape(type="user")
    assert loosely(b"3", Shape) is None


def test_broken_text_becomes_the_replacement_character():
    assert LINES.read(b'{"type":"user","content":"a\\ud83db"}') == (
        [Shape(type="user", content="a\ufffdb")],
        0,
    )
    assert LINES.read(b'{"type":"user","content":"a\xffb"}') == ([Shape(type="user", content="a\ufffdb")], 0)
    assert mended(b'"\\\\ud83d \\ud83d\\ude00 \\ude00"') == b'"\\\\ud83d \\ud83d\\ude00 \\ufffd"'
    assert decoded(msgspec.json.Decoder(str), b'"\\ud83d"') == "\ufffd"
    assert decoded(msgspec.json.Decoder(str), b"3") is None


def test_line_separators_inside_strings_stay():
    line = json.dumps({"type": "user", "content": "a\u2028b\u0085c"}, ensure_ascii=False).encode()
    assert LINES.read(line) == ([Shape(type="user", content="a\u2028b\u0085c")], 0)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-02T01:00:05.1239Z", datetime(2026, 3, 2, 1, 0, 5, 123_000, tzinfo=UTC)),
        ("2026-03-02T01:00:05.9999999Z", datetime(2026, 3, 2, 1, 0, 5, 999_000, tzinfo=UTC)),
        ("2026-03-02T09:00:05+08:00", datetime(2026, 3, 2, 1, 0, 5, tzinfo=UTC)),
        ("2026-03-02T01:00:05", datetime(2026, 3, 2, 1, 0, 5, tzinfo=UTC)),
        ("0001-01-01T00:00:00+08:00", None),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_times_become_utc_truncated_to_milliseconds(text, at):
    assert moment(text) == at
    assert at is None or moment(text).utcoffset() == timedelta(0)


@given(
    st.datetimes(
        timezones=st.just(timezone(timedelta(hours=5, minutes=45))),
        min_value=datetime.fromisoformat("1970-01-02"),
    )
)
def test_a_moment_is_never_later_than_its_text(at):
    assert timedelta(0) <= at - moment(at.isoformat()) < timedelta(milliseconds=1)


@given(st.text(), st.integers(0, 40))
def test_a_cut_text_is_a_head_and_fits(text, limit):
    assert text.startswith(cut(text, limit)) or "\ufffd" in mended(text.encode("utf-8", "replace")).decode()
    assert len(cut(text, limit).encode("utf-8", "replace")) <= limit


@given(
    st.lists(
        st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=3), max_size=4
    )
)
def test_objects_on_a_line_are_found_again(values):
    line = b"".join(json.dumps({"type": "x", **value}, separators=(",", ":")).encode() for value in values)
    found, lost = objects(line)
    assert [json.loads(each) for each in found] == [
        json.loads(mended(json.dumps({"type": "x", **value}).encode())) for value in values
    ]
    assert lost == 0


@given(st.binary() | st.text(alphabet='{}[]",:\\ua1type').map(str.encode))
def test_no_input_raises(data):
    records, lost = LINES.read(data)
    assert records or lost or not data.strip()
