"""What the content column of a CowAgent message says, and whose words a user row holds (FORMATS 6, J32)."""

import re

import msgspec
from msgspec import Raw, Struct

from dreamd.formats._json import decoded, loosely
from dreamd.formats._values import NOTHING, joined
from dreamd.records import Origin

_LOOP_GUARD = "工具已成功执行并返回结果。请基于这些信息向用户做出回复，不要重复调用相同的工具。"
_STEERING = re.compile(
    r"\s*\[Steering update for the active task\]\n(?:Use this new instruction[^\n]*\n)?\s*"
)
_SCHEDULED = re.compile(r"\s*(?:\[SCHEDULED\]|Scheduled task)\s*[:：]?\s*")
_EVOLUTION = re.compile(r"\s*\[EVOLUTION\]\s*")
_BACKUP = re.compile(r"\n*\(backup_id:[^)]*\)\s*\Z")
_UNDONE = ("Cancelled by user before this tool finished", "Skipped because the user redirected")


class Block(Struct):
    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    tool_use_id: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None


class Words(Struct, frozen=True):
    """A text of a user row: whose it is, whether a turn starts with it, and whether the run had begun already."""

    origin: Origin
    text: str
    starts: bool = True
    steering: bool = False


_BLOCKS = msgspec.json.Decoder(list[Block])
_RAWS = msgspec.json.Decoder(list[Raw])
_STRING = msgspec.json.Decoder(str)


def blocks_of(content: str) -> list[Block]:
    """The blocks of a message: a JSON list, or text as a JSON string or, from old imports, bare."""
    data = content.encode("utf-8", "replace")
    head = content.lstrip()[:1]
    if head == '"':
        whole = decoded(_STRING, data)
        return [Block("text", content if whole is None else whole)]
    if head == "{":
        block = loosely(data, Block)
        return [block if block is not None and block.type is not None else Block("text", content)]
    raws = decoded(_RAWS, data) if head == "[" else None
    if raws is None:
        return [Block("text", content)]
    return decoded(_BLOCKS, data) or [block for raw in raws if (block := loosely(raw, Block))]


def shown(block: Block) -> str:
    if block.type == "image":
        return "[image]"
    return (block.text or "") if block.type == "text" else ""


def result_text(block: Block) -> str:
    data = bytes(block.content)
    inner = blocks_of(data.decode("utf-8", "replace")) if data[:1] in {b'"', b"["} else []
    return joined(map(shown, inner))


def result_ok(block: Block, text: str) -> bool:
    return block.is_error is not True and not text.startswith(_UNDONE)


def words_of(session: str, blocks: list[Block]) -> list[Words]:
    """The texts of a user row. Beside tool results only steering is the person's; the agent wrote the rest."""
    if any(block.type == "tool_result" for block in blocks):
        steering = joined(
            _STEERING.sub("", text, count=1) for text in map(shown, blocks) if _STEERING.match(text)
        )
        rest = joined(text for text in map(shown, blocks) if not _STEERING.match(text))
        found = [Words("human", steering, steering=True), Words("injected", rest, starts=False)]
        return [words for words in found if words.text]
    text = joined(map(shown, blocks))
    return [_plain(session, text)] if text else []


def _plain(session: str, text: str) -> Words:
    if _STEERING.match(text):
        return Words("human", _STEERING.sub("", text, count=1), steering=True)
    if text == _LOOP_GUARD:
        return Words("injected", text, starts=False)
    marker = _SCHEDULED.match(text)
    if marker:
        return Words("scheduled", text[marker.end() :])
    return Words("scheduled" if session.startswith("scheduler_") else "human", text)


def is_cancel_note(text: str) -> bool:
    return text.startswith("_(Cancelled by user)_")


def is_evolution(text: str) -> bool:
    return _EVOLUTION.match(text) is not None


def cleaned(text: str) -> str:
    """An assistant's text as CowAgent's own page shows it: a note on its evolution without the marks for undoing it."""
    return _BACKUP.sub("", _EVOLUTION.sub("", text, count=1)) if is_evolution(text) else text
