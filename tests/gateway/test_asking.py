from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.address import Address
from dreamd.gate.lanes import key_name
from dreamd.gateway import message
from dreamd.gateway.asking import LONGEST, Ask, Latest, asked
from dreamd.gateway.message import Malformed
from dreamd.gateway.refusals import Refused
from dreamd.gateway.settings import Settings, upstream

UPSTREAMS = {b"up": upstream("up", "http://up:1/api")}
HERE = Settings(listen=Address(host="127.0.0.1", port=8377), upstreams=UPSTREAMS)
ELSEWHERE = Settings(listen=HERE.listen, upstreams=UPSTREAMS, token=b"t")


def raw(*lines: str, first: str = "POST /up/v1/messages HTTP/1.1") -> bytes:
    return "\r\n".join([first, "Host: localhost", *lines, "", ""]).encode()


def read(head: bytes, settings: Settings = HERE) -> Ask:
    return asked(message.request(head), settings)


def after(head: bytes, settings: Settings = HERE) -> Latest:
    latest = Latest()
    latest.keep(head, read(head, settings), settings)
    return latest


def test_a_head_tells_who_is_asked_in_which_words_and_with_whose_key() -> None:
    ask = read(raw("X-Api-Key: sk-1", "content-length: 07", "X: 1"))
    lines = [
        b"POST /api/v1/messages HTTP/1.1",
        b"Host: up:1",
        b"X-Api-Key: sk-1",
        b"X: 1",
        b"Content-Length: 7",
    ]
    assert ask.whole().split(b"\r\n") == [*lines, b"", b""]
    assert (ask.upstream.name, ask.key, ask.waits) == ("up", key_name("sk-1"), False)


@pytest.mark.parametrize(("first", "waits"), [("POST /up/ HTTP/1.1", True), ("POST /up/ HTTP/1.0", False)])
def test_a_client_that_waits_for_a_word_knows_the_word(first: str, *, waits: bool) -> None:
    assert read(raw("Expect: 100-Continue", first=first)).waits is waits


def test_the_same_head_again_is_not_read_again() -> None:
    head = raw("Content-Length: 7")
    latest = after(head)
    assert latest.again(head, HERE) is latest.again(head, HERE) is not None


@pytest.mark.parametrize("line", ["Content-Length: %s", "content-length: %s"])
@pytest.mark.parametrize("length", ["0", "8", "12345", "007", "9" * 15])
def test_only_the_length_may_differ(line: str, length: str) -> None:
    other = raw(line % length, "X: 1")
    assert after(raw(line % "7", "X: 1")).again(other, HERE) == read(other)


@pytest.mark.parametrize(
    "other",
    [
        raw("Content-Length: 7", "X: 2"),
        raw("Content-Length: 7", "X: 1", "X: 1"),
        raw("Content-Length: ", "X: 1"),
        raw("Content-Length: -8", "X: 1"),
        raw("Content-Length: +8", "X: 1"),
        raw("Content-Length: 8, 8", "X: 1"),
        raw("Content-Length: 8\r\nContent-Length: 9", "X: 1"),
        raw("Content-Length: 8\r\nTransfer-Encoding: chunked", "X: 1"),
        raw("Content-Length: \u00b2", "X: 1"),
        raw("Content-Length: " + "9" * 16, "X: 1"),
        raw("Transfer-Encoding: chunked", "X: 1"),
        raw("X: 1"),
        raw("Content-Length:  8", "X: 1"),
        raw("Content-Length: 8 ", "X: 1"),
        raw("Content-Length: 7", "X: 1", first="PUT /up/v1/messages HTTP/1.1"),
    ],
)
def test_all_else_is_read_with_care(other: bytes) -> None:
    assert after(raw("Content-Length: 7", "X: 1")).again(other, HERE) is None


def test_what_other_settings_allowed_is_asked_again() -> None:
    head = raw("X-Dreamd-Token: t")
    latest = after(head, ELSEWHERE)
    assert latest.again(head, ELSEWHERE) is not None
    assert latest.again(head, HERE) is None
    assert Latest().again(head, HERE) is None


def test_long_heads_are_not_kept_nor_what_came_before_them() -> None:
    short, long = raw("X: 1"), raw("X: " + "x" * LONGEST)
    latest = after(short)
    latest.keep(long, read(long), HERE)
    assert latest.again(long, HERE) is None
    assert latest.again(short, HERE) is None


HEADS = st.builds(
    lambda lines, first: raw(*lines, first=first),
    st.lists(
        st.one_of(
            st.integers(0, 10**20).map("Content-Length: {}".format),
            st.sampled_from(["Transfer-Encoding: chunked", "X: content-length: 1", "Expect: 100-continue"]),
            st.text("0123456789 \t\r\n:aX-", max_size=12).map("Content-Length:{}".format),
        ),
        max_size=2,
    ),
    st.sampled_from(["POST /up/ HTTP/1.1", "GET /up/ HTTP/1.0", "GET /no/ HTTP/1.1"]),
)


@given(HEADS, HEADS)
def test_what_is_remembered_never_differs_from_what_is_read(one: bytes, other: bytes) -> None:
    latest = Latest()
    with suppress(Malformed, Refused):
        latest = after(one)
    found = latest.again(other, HERE)
    assert found is None or found == read(other)
