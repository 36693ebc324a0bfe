import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.errors import (
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)
from dreamd.providers._answers import (
    Answer,
    Said,
    complaint,
    count,
    decoded,
    fault,
    in_words,
    objection,
    reply,
    retry_after,
)

NOW = "Mon, 02 Mar 2026 12:00:00 GMT"
STOPS = {"stop": "end", "length": "length"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "999999999999"}, 7 * 86400),
        ({"retry-after": "inf"}, 7 * 86400),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "20"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "20"}, 20),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:30 GMT", "date": NOW}, 30),
        ({"retry-after": "Mon, 02 Mar 2026 11:00:00 GMT", "date": NOW}, 0),
        ({"retry-after": "Mon, 02 Mar 2099 11:00:00 GMT", "date": NOW}, 7 * 86400),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:30 GMT"}, None),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:30", "date": NOW}, None),
        ({"retry-after": "Mon, 99 Mar 2026 12:00:30 GMT", "date": NOW}, None),
    ],
)
def test_retry_after_in_every_dress(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_retry_after_is_none_or_within_a_week_whatever_is_sent(exact: str, plain: str, date: str) -> None:
    seconds = retry_after({"retry-after-ms": exact, "retry-after": plain, "date": date})
    assert seconds is None or 0 <= seconds <= 7 * 86400


def error(code: object = None, kind: object = None, message: str = "") -> bytes:
    return json.dumps({"error": {"code": code, "type": kind, "message": message}}).encode()


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        # rate limits and overload
        (429, {}, error("rate_limit_exceeded", "requests"), ProviderBusy),
        (429, {}, b"", ProviderBusy),
        (429, {}, b"<html>slow down</html>", ProviderBusy),
        (
            429,
            {},
            error(message="Rate limit reached. Add a payment method to your billing page"),
            ProviderBusy,
        ),
        (529, {}, error(kind="overloaded_error"), ProviderBusy),
        (503, {"retry-after": "5"}, b"", ProviderBusy),
        # spent: waiting does not help
        (429, {}, error("insufficient_quota", "insufficient_quota"), ProviderRefused),
        (429, {}, error(kind="rate_limit_error", message="You have hit your spend limit"), ProviderRefused),
        (402, {}, error(message="pay"), ProviderRefused),
        (429, {"x-should-retry": "false"}, b"", ProviderRefused),
        # a person must act
        (401, {}, error(kind="authentication_error"), ProviderRefused),
        (403, {}, b"", ProviderRefused),
        (404, {}, error("model_not_found"), ProviderRefused),
        (400, {}, error(kind="invalid_request_error", message="bad"), ProviderRefused),
        (422, {}, b'{"detail": []}', ProviderRefused),
        (302, {"location": "/login"}, b"", ProviderRefused),
        # too long
        (413, {}, b"", PromptTooLong),
        (400, {}, error("context_length_exceeded"), PromptTooLong),
        (400, {}, error(400, "exceed_context_size_error"), PromptTooLong),
        (
            400,
            {},
            error(kind="invalid_request_error", message="prompt is too long: 9 tokens > 8"),
            PromptTooLong,
        ),
        (
            400,
            {},
            b'{"object": "error", "message": "maximum context length is 8", "type": "BadRequestError", "code": 400}',
            PromptTooLong,
        ),
        # it may pass
        (408, {}, b"", ProviderUnreachable),
        (409, {}, b"", ProviderUnreachable),
        (500, {}, b"oops", ProviderUnreachable),
        (502, {}, b"<html>Bad Gateway</html>", ProviderUnreachable),
        (503, {}, error(503, "unavailable_error", "Loading model"), ProviderUnreachable),
        (504, {}, b"", ProviderUnreachable),
        # an error that is sent as a success
        (200, {}, error(429), ProviderBusy),
        (200, {}, error(kind="overloaded_error"), ProviderBusy),
        (200, {}, error(401), ProviderRefused),
        (200, {}, b'{"error": "out of memory"}', ProviderUnreachable),
        (200, {}, b'{"type": "error", "error": {"type": "api_error"}}', ProviderUnreachable),
    ],
)
def test_an_answer_that_is_a_failure_gets_its_class(
    status: int, headers: Mapping[str, str], body: bytes, kind: type[ProviderError]
) -> None:
    assert type(fault(Answer(status, headers, body), "http://llm", {})) is kind


def test_a_busy_answer_carries_what_the_server_asked_for() -> None:
    busy = fault(Answer(429, {"retry-after": "12"}, b""), "http://llm", {})
    assert isinstance(busy, ProviderBusy)
    assert busy.retry_after_s == 12


@pytest.mark.parametrize(
    "body", [b"{}", b'{"error": null}', b'{"error": {}}', b"[1]", b"<html>", b'{"choices": []}']
)
def test_a_success_that_reports_no_error_is_none(body: bytes) -> None:
    assert fault(Answer(200, {}, body), "http://llm", {}) is None


def test_an_error_says_where_what_and_what_to_do() -> None:
    refused = fault(Answer(404, {}, error("model_not_found")), "http://llm/v1", {404: "check llm.model"})
    assert str(refused) == "http://llm/v1 answered 404 (model_not_found); check llm.model"


@given(st.integers(100, 599), st.text(min_size=5).map(lambda said: f"#{said}#"))
def test_no_error_quotes_the_servers_prose(status: int, said: str) -> None:
    for code in (said, "some_code"):
        found = fault(Answer(status, {}, error(code, said, said)), "http://llm", {})
        assert found is None or said not in str(found)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_body_is_taken_without_a_fault(body: bytes) -> None:
    complaint(body)
    objection(Answer(400, {}, body))
    assert isinstance(fault(Answer(500, {}, body), "http://llm", {}), ProviderError)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!doctype html><p>Log in</p>", "a web page"),
        (b"event: ping\n\n", "no JSON"),
        (b"", "no JSON"),
        (b'{"a": \xff}', "no JSON"),
        (b'{"a": "b"', "no JSON"),
        (b'[{"role": "assistant"}]', "another shape"),
        (b'"hello"', "another shape"),
    ],
)
def test_a_success_that_is_not_the_apis_shape_is_unusable_and_not_quoted(body: bytes, words: str) -> None:
    with pytest.raises(ReplyUnusable, match=words) as caught:
        decoded(body, Said, "http://llm")
    assert "llm.base_url" in caught.value.hint


def test_a_reply_that_nobody_says_is_whole_is_unusable() -> None:
    for word in (None, "", "tool_calls", "pause_turn", "<script>"):
        with pytest.raises(ReplyUnusable, match="stopped for"):
            reply(Said(text="hello", stop_word=word), STOPS, "http://llm")


def test_a_model_that_thought_its_output_away_is_named_as_such() -> None:
    with pytest.raises(ReplyUnusable, match="thinks aloud"):
        reply(Said(text="<think>hm", stop_word="length"), STOPS, "http://llm")


def test_the_stop_word_may_be_shouted() -> None:
    assert reply(Said(text="hello", stop_word="STOP"), STOPS, "http://llm").stop == "end"


@pytest.mark.parametrize("usage", [None, [], "many", {"n": None}, {"n": "7"}, {"n": -1}, {"n": 1.5}, {}])
def test_a_token_count_that_is_nonsense_counts_nothing(usage: object) -> None:
    assert count(usage, "n") == 0
    assert count({"n": 7}, "n") == 7


def test_a_schema_in_words_holds_the_schema() -> None:
    assert '{"type":"object"}' in in_words({"type": "object"})


def test_only_an_answer_that_objects_is_searched_for_an_objection() -> None:
    assert objection(Answer(400, {}, b"no max_tokens")) == "no max_tokens"
    assert objection(Answer(200, {}, b"no max_tokens")) == ""
    assert objection(Answer(500, {}, b"no max_tokens")) == ""
