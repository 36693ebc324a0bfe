"""What single lines of a Codex rollout say: shapes, texts, forks, and whether a call failed (FORMATS 4)."""

import re
from collections.abc import Iterator
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from dreamd.formats._json import decoded, loosely
from dreamd.formats._values import NOTHING, joined, text_of

T = TypeVar("T")

UNWANTED_ITEMS = frozenset({"reasoning", "compaction", "ghost_snapshot", "agent_message"})
UNWANTED_EVENTS = frozenset(
    {
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "context_compacted",
        "entered_review_mode",
        "exited_review_mode",
        "sub_agent_activity",
        "thread_goal_updated",
        "thread_settings_applied",
        "token_count",
    }
)
UNWANTED_LINES = frozenset(
    {
        "inter_agent_communication",
        "security_risk_score",
        "token_usage_record",
        "world_state",
    }
)

_WRAPPERS = (
    "# AGENTS.md instructions for",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "<goal_context>",
    "<codex_internal_context",
    "<recommended_plugins>",
    "<user_action>",
    "<user_shell_command>",
)
_WAKERS = ("<subagent_notification>", "<goal_context>", "<codex_internal_context")
_PLUGINS = re.compile(r"\s*<recommended_plugins>.*?</recommended_plugins>", re.DOTALL)
_EDITOR = re.compile(r"# Context from my IDE setup:.*?^## My request for Codex:", re.DOTALL | re.MULTILINE)
_IMAGE_TAG = re.compile(r"\s*</?image\b[^>]*>\s*")
_TEXT_BLOCKS = frozenset({"input_text", "output_text", "text"})
_IMAGE_BLOCKS = frozenset({"input_image", "image", "local_image"})

_FAILED = (
    "aborted",
    "unsupported call",
    "failed to parse function arguments",
    "apply_patch verification failed",
    "exec command rejected",
    "tool call error",
    "execution error",
    "failed in sandbox",
)
_EXIT = re.compile(r"^[ \t]*(?:Exit code:|Process exited with code)[ \t]*(-?\d+)[ \t\r]*$", re.MULTILINE)


class Line(Struct):
    """A line's envelope; bare lines of 2025 have no payload but are one."""

    timestamp: str | None = None
    type: str | None = None
    payload: Raw = NOTHING
    ordinal: int | None = None
    record_type: object = None
    id: str | None = None
    instructions: Raw = NOTHING


class Base(Struct):
    """The log that a thread in pages goes on from: a part of its file name, and the first line not taken over."""

    thread_id: str = ""
    end_ordinal_exclusive: int = 0


class Shown(Struct):
    """What a thread in pages (since 0.146) shows: a message, or a call that is over."""

    type: str | None = None
    id: str | None = None
    content: Raw = NOTHING
    status: str | None = None
    exit_code: int | None = None
    aggregated_output: str | None = None
    result: Raw = NOTHING

    @property
    def failed(self) -> bool:
        return self.status in {"failed", "declined"} or self.exit_code not in {None, 0}

    @property
    def output(self) -> str:
        return self.aggregated_output or bytes(self.result).decode("utf-8", "replace")


class Payload(Struct):
    """Every field of every payload that we look at."""

    type: str | None = None
    role: str | None = None
    content: Raw = NOTHING
    name: str | None = None
    call_id: str | None = None
    id: str | None = None
    arguments: object = None
    input: object = None
    output: object = None
    action: Raw = NOTHING
    status: str | None = None
    turn_id: str | None = None
    cwd: str | None = None
    message: str | None = None
    kind: str | None = None
    images: Raw = NOTHING
    local_images: Raw = NOTHING
    success: bool | None = None
    exit_code: int | None = None
    result: Raw = NOTHING
    stdout: str | None = None
    stderr: str | None = None
    num_turns: int | None = None
    session_id: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    thread_source: str | None = None
    thread_id: str | None = None
    history_base: Base | None = None
    item: Shown | None = None
    source: object = None


class _Block(Struct):
    type: str | None = None
    text: str | None = None


class _Exit(Struct):
    exit_code: int | None = None


class _Output(Struct):
    metadata: _Exit


class _Fault(Struct):
    isError: bool | None = None  # noqa: N815 - the field's name in the log
    is_error: bool | None = None


class _Result(Struct):
    Err: object = None
    Ok: _Fault | None = None


LINE = msgspec.json.Decoder(Line)
PAYLOAD = msgspec.json.Decoder(Payload)
_BLOCKS = msgspec.json.Decoder(list[_Block])
_STRING = msgspec.json.Decoder(str)
_LIST = msgspec.json.Decoder(list[Raw])
_OUTPUT = msgspec.json.Decoder(_Output)
_RESULT = msgspec.json.Decoder(_Result)


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def content_texts(content: Raw) -> tuple[str, str]:
    """The message's text as an item shows it, and without its images, as events repeat it."""
    data = bytes(content)
    if data[:1] == b'"':
        whole = (decoded(_STRING, data) or "").strip()
        return whole, whole
    blocks = decoded(_BLOCKS, data) or [block for raw in _raws(content) if (block := loosely(raw, _Block))]
    images = any(block.type in _IMAGE_BLOCKS for block in blocks)
    shown = list(_shown(blocks, images))
    return joined(shown), joined(text for text in shown if text != "[image]")


def _shown(blocks: list[_Block], images: bool) -> Iterator[str]:
    for block in blocks:
        if block.type in _IMAGE_BLOCKS:
            yield "[image]"
        elif block.type in _TEXT_BLOCKS and not (images and _IMAGE_TAG.fullmatch(block.text or "")):
            yield block.text or ""


def event_texts(event: Payload) -> tuple[str, str]:
    """The same two texts of a user_message or agent_message event."""
    plain = typed((event.message or "").strip())
    images = _length(event.images) + _length(event.local_images)
    return joined(["[image]"] * images + [plain]), plain


def _length(values: Raw) -> int:
    return len(_raws(values))


def _raws(values: Raw) -> list[Raw]:
    return decoded(_LIST, bytes(values)) or []


def typed(text: str) -> str:
    """What a person typed after a block of recommended plugins or an editor's context; else the whole text."""
    for glued in (_PLUGINS, _EDITOR):
        found = glued.match(text)
        text = (text[found.end() :].strip() if found else "") or text
    return text


def is_wrapper(text: str) -> bool:
    return text.startswith(_WRAPPERS)


def wakes(text: str) -> bool:
    """Whether an injected text sets an idle agent to work (J6)."""
    return text.startswith(_WAKERS)


def parent_of(meta: Payload) -> str:
    """The thread this one was forked or spawned from, or "" (J27)."""
    return meta.forked_from_id or meta.parent_thread_id or _spawner(meta.source)


def _spawner(source: object) -> str:
    for step in ("subagent", "thread_spawn", "parent_thread_id"):
        source = source.get(step) if isinstance(source, dict) else None
    return string(source)


def is_subagent(meta: Payload) -> bool:
    return meta.thread_source == "subagent" or (isinstance(meta.source, dict) and "subagent" in meta.source)


def tool_name(call: Payload) -> str:
    """Functions and custom tools by their name without namespace, built-in calls by their type (J28)."""
    return call.name or (call.type or "").removesuffix("_call")


def tool_arguments(call: Payload) -> str:
    for value in (call.arguments, call.input):
        if value is not None:
            return text_of(value)
    return bytes(call.action).decode("utf-8", "replace")


def own_outcome(call: Payload) -> bool | None:
    """Whether a call whose result never comes apart went well: web searches and images carry their status."""
    if call.type not in {"web_search_call", "image_generation_call"}:
        return None
    return {"completed": True, "failed": False, "incomplete": False}.get(call.status or "")


def output_text(output: object) -> str:
    if isinstance(output, dict) and "content" in output:
        return output_text(output["content"])
    if isinstance(output, list):
        return joined(string(part.get("text")) for part in output if isinstance(part, dict))
    return text_of(output)


def output_failed(output: object) -> bool:
    """J26, for the output a model was shown."""
    if isinstance(output, dict) and output.get("success") is False:
        return True
    text = output_text(output)
    if text.lstrip().startswith(_FAILED):
        return True
    if text.lstrip().startswith("{"):
        told = decoded(_OUTPUT, text.encode())
        if told is not None and told.metadata.exit_code is not None:
            return told.metadata.exit_code != 0
    first = _EXIT.search(text)
    return first is not None and int(first[1]) != 0


def event_failed(event: Payload) -> bool | None:
    """J26, for an event that ends a call; None when the event is of another kind."""
    if event.type == "patch_apply_end":
        return event.success is False
    if event.type == "exec_command_end":
        return event.exit_code is not None and event.exit_code != 0
    if event.type == "mcp_tool_call_end":
        return _mcp_failed(event.result)
    return False if event.type == "web_search_end" else None


def event_output(event: Payload) -> str:
    """What such an event shows of the call's output."""
    return event.stderr or event.stdout or bytes(event.result).decode("utf-8", "replace")


def _mcp_failed(result: Raw) -> bool:
    told = decoded(_RESULT, bytes(result))
    if told is None:
        return False
    return told.Err is not None or (told.Ok is not None and True in (told.Ok.isError, told.Ok.is_error))


def beyond(lines: Iterator[bytes], thread: str, ordinal: int) -> Iterator[bytes]:
    """The lines of a log from an ordinal on, if the log is this thread's own."""
    first = decoded(LINE, next(lines, b""))
    meta = decoded(PAYLOAD, bytes(first.payload)) if first else None
    if meta is None or meta.id != thread:
        return
    for line in lines:
        envelope = decoded(LINE, line)
        if envelope is not None and envelope.ordinal is not None and envelope.ordinal >= ordinal:
            yield line


def turn_ids(lines: Iterator[bytes]) -> set[str]:
    """The turn ids that a rollout holds: what a fork of it may have copied."""
    found: set[str] = set()
    for line in lines:
        head = line[:400]
        if b"turn_context" in head or b"_started" in head:
            envelope = decoded(LINE, line)
            payload = decoded(PAYLOAD, bytes(envelope.payload)) if envelope else None
            found.add((payload.turn_id or "") if payload else "")
    found.discard("")
    return found
