"""Texts in, their vectors from a `/v1/embeddings` server out (the OpenAI shape, which all such servers speak).

What goes out is redacted: records are, and of a goal it is done here.
"""

import logging
import ssl
from collections.abc import Sequence
from functools import cache

import httpx
import msgspec
from anyio import to_thread
from msgspec import Struct

from dreamd.config import secret
from dreamd.errors import ConfigError, ProviderRefused, ProviderUnreachable, ReplyUnusable
from dreamd.pool.redaction import redact
from dreamd.sections import Recall

CONNECT_S, READ_S, MORE_S = 2.0, 10.0, 2.0  # MORE_S for each text: a small machine takes its time
LONGEST = 2000  # characters of one text: such models read no further
_HTTP_OK = 200

for _name in ("httpx", "httpcore"):  # they would log addresses and headers
    logging.getLogger(_name).setLevel(logging.WARNING)


class _Vector(Struct):
    embedding: list[float]
    index: int = 0


class _Answer(Struct):
    data: list[_Vector]


_decode = msgspec.json.Decoder(_Answer).decode


async def ask(recall: Recall, texts: Sequence[str]) -> list[Sequence[float]]:
    """In the order of the texts. Raises ProviderRefused, ProviderUnreachable, ReplyUnusable."""
    headers = await to_thread.run_sync(_headers, recall)
    asked = {"input": [redact(text)[:LONGEST] for text in texts]}
    body = msgspec.json.encode(
        asked | ({"model": recall.embeddings_model} if recall.embeddings_model else {})
    )
    timeout = httpx.Timeout(READ_S + MORE_S * len(texts), connect=CONNECT_S)
    try:
        trusted = await to_thread.run_sync(_certificates)
        async with httpx.AsyncClient(timeout=timeout, headers=headers, verify=trusted) as client:
            answer = await client.post(_address(recall.embeddings_url), content=body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ProviderUnreachable(
            "the server of embeddings does not answer", hint="check recall.embeddings_url"
        ) from error
    if answer.status_code != _HTTP_OK:
        raise ProviderRefused(
            f"the server of embeddings answered {answer.status_code}",
            hint="check recall.embeddings_model and the key",
        )
    return _vectors(answer.content, len(texts))


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes longer than all the rest of a call."""
    return httpx.create_ssl_context()


def _headers(recall: Recall) -> dict[str, str]:
    """In a thread: the key may be a file."""
    headers = {"Content-Type": "application/json"}
    if not (recall.embeddings_key_env or recall.embeddings_key_file):
        return headers
    try:
        key = secret(recall.embeddings_key_env, recall.embeddings_key_file, "key of the embeddings server")
    except ConfigError as error:
        raise ProviderRefused(error.what, hint=error.hint) from error
    return headers | {"Authorization": f"Bearer {key}"}


def _address(base: str) -> str:
    base = base.rstrip("/")
    if base.endswith("/embeddings"):
        return base
    return f"{base}/embeddings" if base.endswith("/v1") else f"{base}/v1/embeddings"


def _vectors(body: bytes, count: int) -> list[Sequence[float]]:
    try:
        found = sorted(_decode(body).data, key=lambda each: each.index)
    except msgspec.MsgspecError as error:
        raise ReplyUnusable("the server of embeddings gave no vectors") from error
    sizes = {len(each.embedding) for each in found}
    if len(found) != count or len(sizes) != 1 or sizes == {0}:
        raise ReplyUnusable("the server of embeddings gave other vectors than were asked for")
    return [each.embedding for each in found]
