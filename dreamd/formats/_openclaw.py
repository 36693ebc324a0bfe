"""What single OpenClaw entries say: their shapes, and whose words a user message holds (FORMATS 5, J30, J31)."""

import re
from collections.abc import Iterator

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dreamd.formats._json import decoded, loosely
from dreamd.formats._values import NOTHING, joined
from dreamd.records import Origin

LABEL = "openclaw"

_MARKER = "⟦openclaw:ctx⟧"
_STAMP = re.compile(r"\s*\[[A-Za-z]{3} \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]*\][ \t]*")
_HEADER = re.compile(
    rf"[^\n]*(?:\((?:untrusted metadata|untrusted, for context)\):|\S[^\n]*{_MARKER})[ \t]*\r?"
)
_TRAILER = re.compile(
    rf"^[ \t]*(?:Context: {_MARKER}|Untrusted context \(metadata, do not treat[^\n]*\):)[ \t]*\r?$.*",
    re.MULTILINE | re.DOTALL,
)
_ACTIVE_MEMORY = re.compile(
    r"(?:^[^\n]*[Cc]ontext[^\n]*:[ \t]*\r?\n)?^[ \t]*<active_memory_plugin>.*?</active_memory_plugin>\s*",
    re.MULTILINE | re.DOTALL,
)
_INTERNAL = re.compile(
    r"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?(?:<<<END_OPENCLAW_INTERNAL_CONTEXT>>>|\Z)\s*", re.DOTALL
)
_INTER_SESSION = re.compile(
    r"\[Inter-session message\](?P<about>[^\n]*)\n?"
    r"(?:This content was routed by OpenClaw from another session or internal tool\.[^\n]*\n?)?"
)
_CRON = re.compile(r"\[cron:[^\]]*\]\s*")
_FLUSH = re.compile(r"Pre-compaction memory flush|Store durable memories", re.IGNORECASE)
_NEW_SESSION = re.compile(r"A new session was started via /new or /reset")
_SILENT = re.compile(
    r"(?:<[^>]*>|[\s*`~_])*(?P<token>HEARTBEAT_OK|NO_REPLY)(?:<[^>]*>|[\s*`~_])*[^\w]{0,4}\s*"
)


class Provenance(Struct):
    kind: str | None = None
    sourceSessionKey: str | None = None  # noqa: N815 - fields are named as in the log
    sourceTool: str | None = None  # noqa: N815
    sourceRole: str | None = None  # noqa: N815


class Message(Struct):
    role: str | None = None
    content: Raw = NOTHING
    timestamp: float | None = None
    provenance: Provenance | None = None
    stopReason: str | None = None  # noqa: N815
    toolCallId: str | None = None  # noqa: N815
    isError: bool | None = None  # noqa: N815
    isMeta: bool | None = None  # noqa: N815 - of turns imported from Claude Code


class Entry(Struct):
    """A line of a session: the header, or an entry of its tree."""

    type: str | None = None
    id: str | None = None
    parentId: str | UnsetType | None = UNSET  # noqa: N815
    timestamp: str | None = None
    cwd: str | None = None
    message: Message | None = None
    summary: str | None = None
    content: Raw = NOTHING


class Block(Struct):
    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Raw = NOTHING


class Prompt(Struct, frozen=True):
    """A user message: whose words, which words, whether they set the agent to work, and whether that is proven."""

    origin: Origin
    text: str
    starts: bool = True
    proven: bool = True


_BLOCKS = msgspec.json.Decoder(list[Block])
_RAWS = msgspec.json.Decoder(list[Raw])
_STRING = msgspec.json.Decoder(str)


def blocks_of(content: Raw) -> list[Block]:
    """A message's blocks; a plain string is one of text."""
    data = bytes(content)
    if data[:1] == b'"':
        whole = decoded(_STRING, data)
        return [Block("text", whole)]
    if data[:1] != b"[":
        return []
    blocks = decoded(_BLOCKS, data)
    if blocks is not None:
        return blocks
    return [block for raw in decoded(_RAWS, data) or [] if (block := loosely(raw, Block))]


def texts(blocks: list[Block]) -> Iterator[str]:
    for block in blocks:
        if block.type == "image":
            yield "[image]"
        elif block.type == "text":
            yield block.text or ""


def silent(text: str) -> str:
    """`HEARTBEAT_OK` or `NO_REPLY` when a reply is nothing but that, else ""."""
    found = _SILENT.fullmatch(text)
    return found["token"] if found else ""


def origin_of_key(key: str) -> Origin | None:
    """What a session's key says about user text that nothing else explains."""
    if ":cron:" in key or key.startswith("cron:"):
        return "scheduled"
    if ":subagent:" in key or key.startswith("subagent:"):
        return "subagent"
    return "injected" if key.startswith("hook:") or ":hook:" in key else None


def prompt_of(message: Message, key: str) -> Prompt:
    """Whose words a user message holds: by its provenance, else its wrapper, else the session's key."""
    raw = list(texts(blocks_of(message.content)))
    whole = joined(raw)
    text = joined(without_metadata(part) for part in raw)
    if message.isMeta:
        return Prompt("injected", whole, starts=False)
    said = message.provenance or Provenance()
    if said.kind == "internal_system":
        return _scheduled(text) or Prompt("injected", whole)
    between = _INTER_SESSION.search(text)
    if said.kind == "inter_session" or (between and between.start() == 0):
        about = f"{(said.sourceSessionKey or '')} {(said.sourceTool or '')} {(said.sourceRole or '')}"
        origin = _sender(about + (between["about"] if between else ""))
        return Prompt(origin, (text[: between.start()] + text[between.end() :]).strip() if between else text)
    if said.kind == "external_user":
        return Prompt("human", text)
    return _unexplained(text, whole, key)


def _sender(about: str) -> Origin:
    """Another session's message: a subagent's, or else what the harness passes on."""
    return "subagent" if "subagent" in about else "injected"


def _unexplained(text: str, whole: str, key: str) -> Prompt:
    if not text and _INTERNAL.search(whole):
        return Prompt("injected", whole)
    scheduled = _scheduled(text)
    if scheduled is not None:
        return scheduled
    if _FLUSH.match(text) or _NEW_SESSION.match(text):
        return Prompt("injected", text)
    if _has_metadata(whole):
        return Prompt("human", text)
    by_key = origin_of_key(key)
    return Prompt(by_key or "human", text, proven=by_key is not None)


def _scheduled(text: str) -> Prompt | None:
    """The prompt of a heartbeat, or of a cron job without its prefix (J31)."""
    if text.startswith("Read HEARTBEAT.md if it exists") or (
        "HEARTBEAT.md" in text and "HEARTBEAT_OK" in text
    ):
        return Prompt("scheduled", text)
    cron = _CRON.match(text)
    return Prompt("scheduled", text[cron.end() :].strip()) if cron else None


def _has_metadata(text: str) -> bool:
    """Whether a channel delivered this: only a person's message bears a channel's metadata."""
    return any(_HEADER.fullmatch(line) for line in text.split("\n"))


def without_metadata(text: str) -> str:
    """What was typed: without the harness's time stamp, metadata blocks and context, of old and new versions."""
    text = _INTERNAL.sub("", _STAMP.sub("", text, count=1) if _STAMP.match(text) else text)
    text = _TRAILER.sub("", _ACTIVE_MEMORY.sub("", text))
    text = "\n".join(_without_blocks(text.split("\n"))).strip()
    stamp = _STAMP.match(text)
    return text[stamp.end() :] if stamp else text


def _without_blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if _HEADER.fullmatch(lines[at]):
            at = _block_end(lines, at + 1)
        else:
            yield lines[at]
            at += 1


def _block_end(lines: list[str], start: int) -> int:
    """Behind a metadata block: its fence, or the blank line that ends its prose. A fence left open is none."""
    fenced = start < len(lines) and lines[start].strip().startswith("```")
    end = "```" if fenced else ""
    closed = (at for at in range(start + fenced, len(lines)) if lines[at].strip() == end)
    return next(closed, start - 1 if fenced else len(lines)) + 1
