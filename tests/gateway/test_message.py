from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.gateway import message
from dreamd.gateway.message import CHUNKED, UNTIL_CLOSE, Malformed


def asked(*lines: str, first: str = "POST /x/v1/messages HTTP/1.1") -> bytes:
    return "\r\n".join([first, *(lines or ["Host: a"]), "", ""]).encode("latin-1")


def answered(*lines: str, first: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join([first, *lines, "", ""]).encode("latin-1")


def onward(raw: bytes) -> list[bytes]:
    return whole(raw).split(b"\r\n")


def whole(raw: bytes) -> bytes:
    head = message.request(raw)
    return message.onward(head, b"/t", b"up:1") + head.framing + b"\r\n"


def test_what_is_end_to_end_goes_onward_as_it_came_and_in_order() -> None:
    raw = asked("host: here", "X-B: 2", "authorization: Bearer sk-1", "x-b: caf\xe9", "Content-Length: 3")
    lines = [b"POST /t HTTP/1.1", b"Host: up:1", b"X-B: 2", b"authorization: Bearer sk-1", b"x-b: caf\xe9"]
    assert onward(raw) == [*lines, b"Content-Length: 3", b"", b""]


@pytest.mark.parametrize(
    "line",
    [
        "Connection: close",
        "Keep-Alive: timeout=5",
        "Proxy-Connection: x",
        "Proxy-Authorization: x",
        "TE: trailers",
        "Expect: 100-continue",
        "X-Dreamd-Token: t",
        "Connection: x-mine\r\nX-Mine: 1",
    ],
)
def test_what_is_between_neighbours_stays_behind(line: str) -> None:
    assert onward(asked("Host: a", *line.split("\r\n"))) == [b"POST /t HTTP/1.1", b"Host: up:1", b"", b""]


def test_a_client_cannot_strike_out_where_its_message_ends() -> None:
    assert b"Content-Length: 3" in onward(asked("Host: a", "Connection: content-length", "Content-Length: 3"))


def test_chunks_are_announced_anew() -> None:
    raw = asked("Host: a", "transfer-encoding: Chunked")
    assert message.request(raw).length == CHUNKED
    assert onward(raw)[-3:] == [b"Transfer-Encoding: chunked", b"", b""]


@pytest.mark.parametrize(
    "raw",
    [
        asked("Host: a", "Content-Length: 3", "Transfer-Encoding: chunked"),
        asked("Host: a", "Transfer-Encoding: chunked", "Content-Length: 3"),
        asked("Host: a", "Content-Length: 3", "Content-Length: 4"),
        asked("Host: a", "Content-Length: 3", "Content-Length: 3"),
        asked("Host: a", "Content-Length: 3, 3"),
        asked("Host: a", "Content-Length: +3"),
        asked("Host: a", "Content-Length: -3"),
        asked("Host: a", "Content-Length: 99999999999999999999999"),
        asked("Host: a", "Content-Length:"),
        asked("Host: a", "Transfer-Encoding: gzip, chunked"),
        asked("Host: a", "Transfer-Encoding: chunked, identity"),
        asked("Host: a", "Transfer-Encoding: xchunked"),
        asked("Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        asked("Host: a", "Transfer-Encoding : chunked"),
        asked("Host: a", "Transfer-Encoding: chunked", first="POST / HTTP/1.0"),
        asked("Host: a", "Host: b"),
        asked("X: 1"),
        asked("Host: a", "X: 1", " folded"),
        asked("Host: a", "X: \x01"),
        asked("Host: a", "X: a\x00b"),
        asked("Host: a", "X: a\nY: b"),
        asked("Host: a", "X: a\rY: b"),
        b"POST / HTTP/1.1\nHost: a\n\n",
        asked(first="POST / HTTP/2"),
        asked(first="POST http://elsewhere/ HTTP/1.1"),
        asked(first="CONNECT elsewhere:443 HTTP/1.1"),
        asked(first="OPTIONS * HTTP/1.1"),
        asked(first="POST /a b HTTP/1.1"),
        asked(first="NONSENSE"),
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"\r\n\r\n",
    ],
)
def test_a_request_that_two_servers_could_read_differently_is_refused(raw: bytes) -> None:
    with pytest.raises(Malformed):
        message.request(raw)


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_head_or_refused(raw: bytes) -> None:
    for read, head in ((message.request, message.RequestHead), (message.response, message.ResponseHead)):
        with suppress(Malformed):
            assert isinstance(read(raw + b"\r\n\r\n"), head)


@given(
    st.lists(
        st.tuples(st.from_regex(r"\A[A-Za-z][A-Za-z-]{0,9}\Z"), st.from_regex(r"\A[!-~]{0,12}\Z")), max_size=8
    )
)
def test_a_head_written_onward_reads_as_the_same_head_again(pairs: list[tuple[str, str]]) -> None:
    raw = asked("Host: a", *(f"X-{name}: {value}" for name, value in pairs))
    once = whole(raw)
    assert whole(once) == once


def test_an_older_client_gets_its_connection_closed_and_no_chunks() -> None:
    head = message.request(asked("Connection: keep-alive", first="GET / HTTP/1.0"))
    assert (head.lasting, head.chunks) == (False, False)


def test_the_words_of_connection_count_in_any_case_and_from_every_field() -> None:
    assert not message.request(asked("Host: a", "Connection: Keep-Alive", "Connection: x, CLOSE")).lasting


@pytest.mark.parametrize(
    ("method", "raw", "length"),
    [
        (b"POST", answered("Content-Length: 7"), 7),
        (b"POST", answered("Transfer-Encoding: chunked"), CHUNKED),
        (b"POST", answered(), UNTIL_CLOSE),
        (b"HEAD", answered("Content-Length: 7"), 0),
        (b"HEAD", answered("Transfer-Encoding: chunked"), 0),
        (b"GET", answered("Content-Length: 7", first="HTTP/1.1 304 Not Modified"), 0),
        (b"DELETE", answered(first="HTTP/1.1 204 No Content"), 0),
        (b"GET", answered(first="HTTP/1.1 100 Continue"), 0),
    ],
)
def test_where_an_answer_ends_depends_on_what_was_asked(method: bytes, raw: bytes, length: int) -> None:
    assert message.answer_length(message.response(raw), method) == length


@pytest.mark.parametrize(
    "raw",
    [
        answered(first="HTTP/2 200 OK"),
        answered(first="ICY 200 OK"),
        answered("Content-Length: 3", "Transfer-Encoding: chunked"),
        answered("X: 1", " folded"),
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    ],
)
def test_an_answer_that_is_none_is_not_passed_on(raw: bytes) -> None:
    with pytest.raises(Malformed):
        message.response(raw)


def test_an_answer_goes_back_with_its_reason_its_cookies_and_what_the_client_must_know() -> None:
    raw = answered(
        "Set-Cookie: a=1", "Set-Cookie: b=2", "Connection: keep-alive", first="HTTP/1.0 299 Odd, but so"
    )
    head = message.response(raw)
    expected = b"HTTP/1.1 299 Odd, but so\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
    assert message.back(head, chunked=False, lasting=True) == expected + b"\r\n"
    assert message.back(head, chunked=True, lasting=False) == expected + (
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    assert list(head.plain()) == [
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"connection", b"keep-alive"),
    ]


def test_another_protocol_is_asked_for_only_by_both_words() -> None:
    assert message.upgrade_of(message.request(asked("Host: a", "Connection: Upgrade", "Upgrade: websocket")))
    assert not message.upgrade_of(message.request(asked("Host: a", "Upgrade: h2c")))
    lines = [b"Connection: Upgrade", b"Upgrade: websocket", b"", b""]
    assert onward(asked("Host: a", "Connection: Upgrade", "Upgrade: websocket"))[2:] == lines
    granting = message.upgrading(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", b"websocket")
    assert granting.split(b"\r\n")[1:] == lines


def test_trailers_cannot_move_the_end_of_a_message() -> None:
    fields = [(b"x-sum", b"X-Sum", b"1"), (b"content-length", b"Content-Length", b"9")]
    assert message.trailer(fields) == b"0\r\nX-Sum: 1\r\n\r\n"


@pytest.mark.parametrize("line", ["Authorization: Bearer sk-1", "x-api-key: sk-1", "api-key: sk-1"])
def test_the_key_is_where_the_apis_have_it(line: str) -> None:
    assert message.key_of(message.request(asked("Host: a", line))) == b"sk-1"
    assert message.key_of(message.request(asked())) == b""


def test_blanks_around_a_length_mean_nothing() -> None:
    counted = message.response(b"HTTP/1.1 200 OK\r\nContent-Length: 5 \r\n\r\n")
    chunked = message.response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding:  chunked \r\n\r\n")
    assert message.answer_length(counted, b"GET") == 5
    assert message.answer_length(chunked, b"GET") == message.CHUNKED
