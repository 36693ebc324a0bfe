"""What the gateway itself answers when it must (pure): an error in the shape of the API that was spoken."""

from http import HTTPStatus

import msgspec

_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
}
_OPENAI = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
}


class Refused(Exception):
    """The gateway answers this call itself. `message` is for people and holds nothing of the request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def refusal(refused: Refused, request_id: str, *, anthropic: bool, bodiless: bool = False) -> bytes:
    """The whole answer, after which the connection ends. `bodiless` is for HEAD."""
    shape = _as_anthropic if anthropic else _as_openai
    body = msgspec.json.encode(shape(refused, request_id))
    named = "request-id" if anthropic else "x-request-id"
    head = (
        f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"{named}: {request_id}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + (b"" if bodiless else body)


def _as_anthropic(refused: Refused, request_id: str) -> dict[str, object]:
    error = {"type": _ANTHROPIC.get(refused.status, "api_error"), "message": refused.message}
    return {"type": "error", "error": error, "request_id": request_id}


def _as_openai(refused: Refused, request_id: str) -> dict[str, object]:
    kind = _OPENAI.get(refused.status, "server_error")
    return {
        "error": {
            "message": f"{refused.message} (request {request_id})",
            "type": kind,
            "param": None,
            "code": "dreamd_gateway",
        }
    }
