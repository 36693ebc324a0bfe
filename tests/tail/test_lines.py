import hashlib
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dreamd.tail.lines import Line, Splitter, cleaned

pieces = st.lists(st.binary(max_size=60), max_size=12)
log = st.binary(max_size=300).map(lambda data: data.replace(b"a", b"\n"))


def split(chunks: list[bytes], **bounds: int) -> list[Line]:
    splitter = Splitter(**bounds)
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@given(log, st.lists(st.integers(0, 300), max_size=10))
def test_lines_do_not_depend_on_where_the_chunks_were_cut(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(data)]
    chunks = [data[start:end] for start, end in pairwise(edges)]
    assert split(chunks) == split([data]) == split([data[at : at + 1] for at in range(len(data))])


@given(log)
def test_spans_and_hashes_are_of_the_raw_bytes(data: bytes) -> None:
    lines = split([data])
    assert [data[line.offset : line.offset + line.length] for line in lines] == data.split(b"\n")[:-1]
    for line in lines:
        raw = data[line.offset : line.offset + line.length]
        assert line.sha256 == hashlib.sha256(raw).digest()
        assert line.content == cleaned(raw)


def test_only_a_newline_ends_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\re\x0bf".encode()
    assert [line.content for line in split([text + b"\n"])] == [text]


def test_a_line_is_handed_on_without_bom_carriage_return_and_nuls() -> None:
    assert cleaned(b"\0\0\xef\xbb\xbf{}\0\r") == b"{}"
    assert cleaned(b"{}\r\r") == b"{}\r"


def test_the_unterminated_end_waits_and_may_be_looked_at_and_taken() -> None:
    splitter = Splitter(100)
    assert list(splitter.feed(b"one\ntwo")) == [Line(b"one", 100, 3, hashlib.sha256(b"one").digest())]
    rest = splitter.rest()
    assert rest is not None
    assert (rest.content, rest.offset, splitter.offset) == (b"two", 104, 104)
    splitter.take_rest()
    assert splitter.rest() is None
    assert [line.offset for line in splitter.feed(b"\nthree\n")] == [107, 108]


def test_an_over_long_line_comes_cut_with_the_span_of_all_its_bytes() -> None:
    whole = b'{"text":"' + b"x" * 10_000 + b'","uuid":"u"}'
    for size in (1, 7, 4096, 20_000):
        data = whole + b"\nnext\n"
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        long, following = split(chunks, max_line_bytes=4096)
        assert long.cut
        assert (long.offset, long.length) == (0, len(whole))
        assert long.sha256 == hashlib.sha256(whole).digest()
        assert long.content == b'{"text":"' + b"x" * 1024 + b'","uuid":"u"}'
        assert (following.content, following.offset, following.cut) == (b"next", len(whole) + 1, False)


def test_a_long_run_of_nuls_is_not_kept_in_memory() -> None:
    splitter = Splitter(max_line_bytes=4096)
    for _ in range(64):
        assert list(splitter.feed(b"\0" * (1 << 16))) == []
    [line] = splitter.feed(b'{"a":1}\n')
    assert line.content == b'{"a":1}'
    assert line.length == (64 << 16) + 7
