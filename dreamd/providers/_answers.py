"""What an HTTP answer of an LLM server means: status, headers and body in, a reply or one of our errors out (pure).

Status and error codes decide; the server's prose is looked at only where an API has no code for the case (a prompt too
long, spent credit). No error made here holds prose of the server: it may quote the prompt.
"""

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from dreamd.calls import Reply, Stop, without_thinking
from dreamd.errors import (
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)

T = TypeVar("T")

LONGEST_PAUSE_S = 7 * 86400.0


class Answer(Struct, frozen=True):
    """Header names are in lower case; the body is as sent, decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Complaint(Struct, frozen=True):
    """What an error body says: its machine-readable names in lower case, its prose, an HTTP status within it or 0."""

    names: tuple[str, ...] = ()
    prose: str = ""
    status: int = 0

    @property
    def name(self) -> str:
        """The most telling name that is safe to show, or ""."""
        return next((name for name in self.names if re.fullmatch(r"[a-z0-9_.-]{2,64}", name)), "")


_STATUS_OF = {
    "authentication_error": 401, "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
    "rate_limit_error": 429, "overloaded_error": 529,
}  # fmt: skip


def complaint(body: bytes) -> Complaint | None:
    """The error that a body reports, in the dialects of OpenAI, Anthropic and their look-alikes; None: it does not."""
    try:
        whole = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    error = _error_part(whole)
    if isinstance(error, str) and error:
        return Complaint(prose=error)
    if not isinstance(error, dict) or not error:
        return None
    names = tuple(str(error[key]).lower() for key in ("code", "type") if error.get(key))
    inner = next((int(name) for name in names if re.fullmatch(r"[45]\d\d", name)), 0)
    status = inner or next((_STATUS_OF[name] for name in names if name in _STATUS_OF), 0)
    return Complaint(
        tuple(name for name in names if not name.isdecimal()), str(error.get("message", "")), status
    )


def _error_part(whole: object) -> object:
    if not isinstance(whole, dict):
        return None
    return whole if whole.get("object") == "error" else whole.get("error")


def objection(answer: Answer) -> str:
    """What a server says against the shape of a request, to be searched and never shown; "" when it does not object."""
    objects = answer.status in (400, 404, 422, 501)
    return answer.body[:8192].decode("utf-8", "replace") if objects else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks us to stay away, 0 to a week; None when it does not say or says nonsense.

    `retry-after-ms` is more exact than `retry-after`, which may also be an HTTP date (RFC 9110, 10.2.3): that is
    measured against the server's own `date`, so that our clocks need not agree.
    """
    exact = _number(headers.get("retry-after-ms", ""))
    if exact is not None:
        return _bounded(exact / 1000)
    plain = headers.get("retry-after", "")
    seconds = _number(plain)
    return _bounded(seconds) if seconds is not None else _until(plain, headers.get("date", ""))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _until(then: str, now: str) -> float | None:
    try:
        seconds = (parsedate_to_datetime(then) - parsedate_to_datetime(now)).total_seconds()
    except (ValueError, TypeError, OverflowError):  # no dates, or one without a zone
        return None
    return _bounded(seconds)


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_PAUSE_S)


_SPENT = {
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error",
    "insufficient_credits", "credit_balance_too_low",
}  # fmt: skip
_SPENT_PROSE = re.compile(r"spend(?:ing)? limit|credit balance|usage limits\b", re.IGNORECASE)
_TOO_LONG = {
    "context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length",
}  # fmt: skip
_TOO_LONG_PROSE = re.compile(
    r"context.{0,20}(?:length|size|window)|prompt is too long|input is too long|too many input tokens",
    re.IGNORECASE,
)


def fault(answer: Answer, where: str, hints: Mapping[int, str]) -> ProviderError | None:
    """The error an answer stands for, or None when it is no error. `hints` say what to do, by status.

    An error sent with status 200 (some proxies do) counts as the status it names, else as 500.
    """
    said = complaint(answer.body)
    failed = not 200 <= answer.status < 300  # noqa: PLR2004 - RFC 9110: successful
    if not failed and said is None:
        return None
    said = said or Complaint()
    status = answer.status if failed else said.status or 500
    what = f"{where} answered {status}" + (f" ({said.name})" if said.name else "")
    return _permanent(status, said, what, hints) or _passing(status, answer.headers, what, hints)


def _permanent(status: int, said: Complaint, what: str, hints: Mapping[int, str]) -> ProviderError | None:
    names = set(said.names)
    # 1. the request is too large
    if status == 413 or names & _TOO_LONG or (status in (400, 422) and _TOO_LONG_PROSE.search(said.prose)):  # noqa: PLR2004
        return PromptTooLong(what)
    # 2. the account is empty: the same status as a rate limit, but waiting does not help
    if status == 402 or names & _SPENT or (status == 429 and _SPENT_PROSE.search(said.prose)):  # noqa: PLR2004
        return ProviderRefused(what, hint="the account's credit or spending limit is used up")
    # 3. key, model, address or request
    if 300 <= status < 500 and status not in (408, 409, 425, 429):  # noqa: PLR2004
        return ProviderRefused(what, hint=hints.get(status, ""))
    return None


def _passing(status: int, headers: Mapping[str, str], what: str, hints: Mapping[int, str]) -> ProviderError:
    if headers.get("x-should-retry") == "false":
        return ProviderRefused(what, hint=hints.get(status, ""))
    seconds = retry_after(headers)
    if status in (429, 529) or (status == 503 and seconds is not None):  # noqa: PLR2004
        return ProviderBusy(what, retry_after_s=seconds)
    return ProviderUnreachable(what)


def in_words(schema: object) -> str:
    """Asks for JSON of a schema where the API cannot enforce it."""
    return (
        f"Answer with one JSON value of this schema and nothing else: {msgspec.json.encode(schema).decode()}"
    )


def decoded(body: bytes, kind: type[T], where: str) -> T:
    """A good answer's body as the API's shape. Raises ReplyUnusable; the error never quotes it."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError:
        odd = "JSON of another shape"
    except (msgspec.DecodeError, UnicodeDecodeError):
        odd = "a web page" if body.lstrip()[:1] == b"<" else "something that is no JSON"
    raise ReplyUnusable(f"{where} answered with {odd}", hint="does llm.base_url point to the API?")


class Said(Struct, frozen=True, kw_only=True):
    """What a model said, in its API's own terms; `stop_word` is why it stopped."""

    text: str
    stop_word: str | None
    model: object = ""
    input_tokens: int = 0
    output_tokens: int = 0


def reply(said: Said, stops: Mapping[str, Stop], where: str) -> Reply:
    """Raises ReplyUnusable when nothing is left without the thinking, or nobody knows whether the text is whole."""
    word = (said.stop_word or "").lower()
    text = without_thinking(said.text).strip()
    if not text:
        raise ReplyUnusable(
            f"{where} sent an empty reply (it stopped for {_shown(word)})",
            hint="a model that thinks aloud needs a larger output limit"
            if stops.get(word) == "length"
            else "",
        )
    if word not in stops:
        raise ReplyUnusable(f"{where} sent a reply that stopped for {_shown(word)}")
    return Reply(
        text=text,
        stop=stops[word],
        model=said.model if isinstance(said.model, str) else "",
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
    )


def _shown(word: str) -> str:
    return f"{word!r}" if re.fullmatch(r"[a-z_]{1,40}", word) else "an unknown reason"


def count(usage: object, key: str) -> int:
    """A token count as reported; 0 when missing or nonsense: a paid reply is not thrown away for that."""
    number = usage.get(key) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and number > 0 else 0
