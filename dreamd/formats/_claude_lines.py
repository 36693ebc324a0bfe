"""The shape of a Claude Code log line, as far as dreamd reads it: JSON in, typed plain data out.

Nothing is required and unknown fields are passed over: new ones arrive monthly.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct

from dreamd.formats import _json
from dreamd.formats._values import NOTHING, TRACE_BYTES, joined

IMAGE = "[image]"
SPOKEN = frozenset({"text", "image"})
"""The blocks that make a message's text."""
_RAW_HEAD = 4 * TRACE_BYTES
_INTERRUPTED = re.compile(rb'"interrupted"\s*:\s*true')
_SERVER_ERROR = re.compile(rb'\A\{[^{}]*"type"\s*:\s*"\w+_error"')
_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
)


class Block(Struct, frozen=True):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    tool_use_id: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None


class Message(Struct, frozen=True):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None


class From(Struct, frozen=True):
    """Who put a prompt into the session; no `origin` at all is the keyboard, or an older version."""

    kind: str | None = None
    subkind: str | None = None


class Copy(Struct, frozen=True, rename="camel"):
    message_uuid: str | None = None


class Attachment(Struct, frozen=True, rename="camel"):
    type: str = ""
    prompt: str | list[Block] | None = None
    command_mode: str | None = None
    origin: From | None = None
    is_meta: bool | None = None


class Line(Struct, frozen=True, rename="camel"):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    prompt_source: str | None = None
    entrypoint: str | None = None
    origin: From | None = None
    forked_from: Copy | None = None
    message: Message | None = None
    content: Raw = NOTHING
    attachment: Attachment | None = None
    tool_use_result: Raw = NOTHING

    @property
    def blocks(self) -> str | list[Block]:
        return (self.message and self.message.content) or ""

    @property
    def own_id(self) -> str:
        """What names this record in every copy of it (J11); "" where the line has no id at all."""
        return (self.forked_from and self.forked_from.message_uuid) or self.uuid or ""


LINES = _json.Lines(Line)
_text_of = msgspec.json.Decoder(str)
_blocks_of = msgspec.json.Decoder(list[Block])


def texts(blocks: str | Sequence[Block] | None) -> list[str]:
    """The texts of a message in order, an image as its mark (J9); tool traffic and the unknown are passed over."""
    if blocks is None:
        return []
    if isinstance(blocks, str):
        return [blocks]
    return [IMAGE if block.type == "image" else block.text or "" for block in blocks if block.type in SPOKEN]


def text_of(raw: Raw) -> str:
    """The string a raw JSON value holds; "" when it holds something else."""
    return _json.decoded(_text_of, raw) or "" if _opens(raw, b'"') else ""


def arguments_of(block: Block) -> str:
    """A call's arguments as they stand in the log, cut."""
    return bytes(memoryview(block.input)[:TRACE_BYTES]).decode("utf-8", "ignore")


def result_of(block: Block) -> str:
    """What a call gave back, cut: the head of its text, or of its text blocks."""
    raw = memoryview(block.content)
    if _opens(block.content, b'"'):
        return _json.cut(
            _head_of(bytes(raw[:_RAW_HEAD])) if len(raw) > _RAW_HEAD else text_of(block.content), TRACE_BYTES
        )
    return _json.cut(joined(texts(_json.decoded(_blocks_of, block.content))), TRACE_BYTES)


def _head_of(raw: bytes) -> str:
    """The text of a JSON string that was cut anywhere: up to where it is still whole."""
    for end in range(len(raw), len(raw) - 16, -1):
        text = _json.decoded(_text_of, raw[:end] + b'"')
        if text is not None:
            return text
    return ""


def went_well(block: Block, line: Line, result: str) -> bool:
    """False for a result that is flagged, refused or cancelled (J7).

    The mark of a refused or cancelled call is looked for in the raw JSON: inside a string its quotes would be escaped.
    """
    if block.is_error or result.startswith(_REFUSED) or _SERVER_ERROR.match(memoryview(block.content)):
        return False
    raw = bytes(line.tool_use_result)
    if raw.startswith(b'"User rejected tool use'):
        return False
    # `in` is far quicker over a long output
    return b'"interrupted"' not in raw or not _INTERRUPTED.search(raw)


def _opens(raw: Raw, sign: bytes) -> bool:
    return bytes(memoryview(raw)[:1]) == sign
