"""A streamed answer put together: server-sent events in, the body the server would have sent in one piece out (pure).

Calls are streamed so that the gate sees when the first word comes, and a server that it stopped. The events of OpenAI
(https://platform.openai.com/docs/api-reference/chat-streaming) and Anthropic
(https://docs.anthropic.com/en/docs/build-with-claude/streaming). An error in mid-stream is the whole answer: what came
before it is not to be trusted. What ends early lacks its reason to stop, which whoever reads the body notices.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

CONTENT_TYPE = "text/event-stream"
_SPEAKING = re.compile(rb'"(?:delta|error)"')
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")

Event = dict[str, Any]


def speaks(chunk: bytes | bytearray) -> bool:
    """Whether a piece of a stream holds more than comments, pings and preparations."""
    return _SPEAKING.search(chunk) is not None


def joined(body: bytes) -> bytes:
    """The body of the answer as if it had not been streamed; `body` itself where no event is in it."""
    events = list(_events(body))
    error = next((event for event in events if event.get("error")), None)
    if error is not None:
        return msgspec.json.encode(error)
    if any(event.get("type") == "message_start" for event in events):
        return msgspec.json.encode(_message(events))
    return msgspec.json.encode(_completion(events)) if events else body


def _events(body: bytes) -> Iterator[Event]:
    """The JSON objects of the events. An event's lines are joined; what is no JSON (`[DONE]`) is passed over."""
    data: list[bytes] = []
    for line in (*_LINE_ENDS.split(body), b""):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield from _decoded(b"\n".join(data))
            data = []


def _decoded(data: bytes) -> Iterator[Event]:
    try:
        event = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    if isinstance(event, dict):
        yield event


def _completion(events: Iterable[Event]) -> Event:
    """Of the first choice."""
    whole: Event = {}
    texts: dict[str, list[str]] = {"content": [], "refusal": []}
    stop = None
    for event in events:
        whole |= {key: event[key] for key in ("model", "usage") if event.get(key)}
        for choice in _dicts(event.get("choices")):
            if not choice.get("index"):
                _add(texts, choice.get("delta"))
                stop = choice.get("finish_reason") or stop
    message = {name: "".join(pieces) for name, pieces in texts.items()}
    return whole | {"choices": [{"message": message, "finish_reason": stop}]}


def _add(texts: dict[str, list[str]], delta: object) -> None:
    for name, pieces in texts.items():
        piece = delta.get(name) if isinstance(delta, dict) else None
        if isinstance(piece, str):
            pieces.append(piece)


def _message(events: Iterable[Event]) -> Event:
    whole: Event = {"content": []}
    blocks: dict[object, Event] = {}
    usage: Event = {}
    for event in events:
        started, delta = _dict(event.get("message")), _dict(event.get("delta"))
        whole |= {key: started[key] for key in ("model",) if started.get(key)}
        usage |= _dict(started.get("usage")) | _dict(event.get("usage"))
        if event.get("type") == "content_block_start":
            blocks[event.get("index")] = _dict(event.get("content_block")) | {"partial": ""}
        elif event.get("type") == "content_block_delta":
            _extend(blocks.setdefault(event.get("index"), {"type": "text", "partial": ""}), delta)
        elif delta.get("stop_reason"):
            whole["stop_reason"] = delta["stop_reason"]
    return whole | {"content": [_block(block) for block in blocks.values()], "usage": usage}


def _extend(block: Event, delta: Event) -> None:
    piece = delta.get("text") or delta.get("partial_json")
    if isinstance(piece, str):
        block["partial"] += piece


def _block(block: Event) -> Event:
    partial = block.pop("partial")
    if block.get("type") == "text":
        return block | {"text": f"{block.get('text') or ''}{partial}"}
    if block.get("type") == "tool_use" and partial:
        # cut off, it is no JSON: shown as it came, for whoever reads it to find that out
        return block | {"input": next(_decoded(partial.encode()), partial)}
    return block


def _dict(value: object) -> Event:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[Event]:
    return [_dict(each) for each in value] if isinstance(value, list) else []
