import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.gateway.bodies import MAX_TRAILERS, Chunked, Counted, body, chunk
from dreamd.gateway.message import CHUNKED, UNTIL_CLOSE, Malformed, trailer

CONTENTS = st.lists(st.binary(min_size=1, max_size=50), max_size=6)
CUTS = st.lists(st.integers(1, 40), min_size=1, max_size=20)


def read(reader: Counted | Chunked, wire: bytes, cuts: list[int]) -> bytes:
    content, at = b"", 0
    for cut in cuts * len(wire):
        if reader.done or at >= len(wire):
            break
        content += reader.feed(wire[at : at + cut])
        at += cut
    return content


@given(CONTENTS, CUTS)
def test_chunks_give_the_same_content_however_they_are_cut(contents: list[bytes], cuts: list[int]) -> None:
    reader = Chunked()
    wire = b"".join(map(chunk, contents)) + trailer([(b"x-t", b"X-T", b"1")])
    assert read(reader, wire, cuts) == b"".join(contents)
    assert (reader.done, reader.trailers, reader.left_over) == (True, [(b"x-t", b"X-T", b"1")], b"")


@given(st.binary(max_size=80), CUTS)
def test_a_counted_body_ends_where_it_was_said_to(content: bytes, cuts: list[int]) -> None:
    reader = Counted(len(content))
    assert read(reader, content, cuts) == content
    assert reader.done


def test_what_follows_a_counted_body_is_left_over() -> None:
    reader = Counted(2)
    assert reader.feed(b"okGET /") == b"ok"
    assert (reader.done, reader.left_over) == (True, b"GET /")


def test_a_body_of_nothing_is_done_at_once() -> None:
    assert body(0).done
    assert not body(CHUNKED).done


def test_a_body_without_length_ends_with_its_connection() -> None:
    reader = body(UNTIL_CLOSE)
    assert reader.feed(b"a") == b"a"
    assert not reader.done


@pytest.mark.parametrize("after", [b"GET / HTTP/1.1\r\n\r\n", b"\x00junk"])
def test_what_follows_the_last_chunk_in_the_same_piece_is_told_of(after: bytes) -> None:
    reader = Chunked()
    assert reader.feed(b"2\r\nok\r\n0\r\n\r\n" + after) == b"ok"
    assert reader.done
    assert reader.left_over


def test_many_chunks_in_one_piece_are_one_content() -> None:
    assert Chunked().feed(b"1\r\na\r\n1\r\nb\r\n1;ext=1\r\nc\r\n") == b"abc"


@pytest.mark.parametrize(
    "wire", [b"xyz\r\n", b"-1\r\n", b"2\r\nokay\r\n", b"f" * 17 + b"\r\n", b"0x2\r\nok\r\n"]
)
def test_chunks_that_are_none_are_refused(wire: bytes) -> None:
    with pytest.raises(Malformed):
        Chunked().feed(wire)


def test_trailers_have_an_end() -> None:
    lines = b"".join(b"X-%d: 1\r\n" % number for number in range(MAX_TRAILERS + 1))
    with pytest.raises(Malformed):
        Chunked().feed(b"0\r\n" + lines + b"\r\n")


def test_an_empty_chunk_is_not_written_for_it_would_be_the_last() -> None:
    assert chunk(b"") == b""
    assert chunk(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"
