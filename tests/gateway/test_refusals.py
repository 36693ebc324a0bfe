import json

import pytest

from dreamd.gateway.refusals import Refused, refusal

STATUSES = [400, 401, 403, 404, 408, 431, 502, 503, 504]


def split(answer: bytes) -> tuple[str, dict]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode(), json.loads(body)


@pytest.mark.parametrize("status", STATUSES)
def test_an_anthropic_client_reads_an_anthropic_error(status: int) -> None:
    head, body = split(refusal(Refused(status, "why"), "dreamd-1", anthropic=True))
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert "request-id: dreamd-1" in head
    assert (body["type"], body["error"]["message"], body["request_id"]) == ("error", "why", "dreamd-1")
    assert body["error"]["type"].endswith("error")


@pytest.mark.parametrize("status", STATUSES)
def test_an_openai_client_reads_an_openai_error(status: int) -> None:
    head, body = split(refusal(Refused(status, "why"), "dreamd-1", anthropic=False))
    assert "x-request-id: dreamd-1" in head
    assert body["error"]["message"] == "why (request dreamd-1)"
    assert set(body["error"]) == {"message", "type", "param", "code"}


def test_to_head_the_length_is_told_and_the_body_is_not_sent() -> None:
    answer = refusal(Refused(502, "why"), "dreamd-1", anthropic=False, bodiless=True)
    assert answer.endswith(b"\r\n\r\n")
    assert b"content-length: 0" not in answer
