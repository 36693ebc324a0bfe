import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from dreamd.errors import ConfigError, LogUnreadable
from dreamd.memories import Memory
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail.reading import read_path
from tests.tail.house import line

SESSION = "b16b00b5-0000-4000-8000-00000000b16f"


def read(path: Path, label: str | None = None) -> list[Memory]:
    return read_path(path, format=label, store=InMemoryStore(), zone=ZoneInfo("UTC"))


def test_sessions_come_by_their_earliest_time_and_logs_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(
        line(1, session="late", at="2026-03-02T00:00:00.000Z")
        + line(2, session="late", at="2026-03-01T05:00:00.000Z")
    )
    (tmp_path / "b.jsonl").write_bytes(line(3, session="early", at="2026-03-01T00:00:00.000Z"))
    found = read(tmp_path)
    assert [memory.content for memory in found] == ["text 3 字", "text 1 字", "text 2 字"]
    assert {memory.agent for memory in found} == {"claude_code"}


def test_one_bad_file_does_not_hide_the_rest_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(line(1))
    (tmp_path / "b.jsonl.zst").write_bytes(b"no zstd")
    told: list[tuple[str, str]] = []
    found = read_path(
        tmp_path, store=InMemoryStore(), zone=ZoneInfo("UTC"), passed_over=lambda *bad: told.append(bad)
    )
    assert [memory.content for memory in found] == ["text 1 字"]
    assert told == [(str(tmp_path / "b.jsonl.zst"), "not valid zstd data")]
    with pytest.raises(LogUnreadable, match="not valid zstd data"):
        read(tmp_path)
    with pytest.raises(LogUnreadable, match="not valid zstd data"):
        read_path(tmp_path / "b.jsonl.zst", store=InMemoryStore(), zone=ZoneInfo("UTC"), passed_over=print)


def test_what_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    with pytest.raises(LogUnreadable, match="not there"):
        read(tmp_path / "none")
    with pytest.raises(
        LogUnreadable, match=r"no session log that dreamd knows; name one with --format: .*codex"
    ):
        read(other)
    with pytest.raises(ConfigError, match="unknown format 'kodex'"):
        read(other, "kodex")
    with pytest.raises(LogUnreadable, match="nothing in it was understood as codex"):
        read(other, "codex")


def test_a_log_of_any_name_is_read_as_the_format_named(tmp_path: Path) -> None:
    log = tmp_path / "saved.txt"
    log.write_bytes(line(1))
    assert [memory.content for memory in read(log, "claude_code")] == ["text 1 字"]


def big(filler: str, result: str) -> bytes:
    """The long lines of the samples' README: an image and a tool result that few readers survive."""

    def record(uuid: str, parent: str | None, kind: str, second: int, content: list[object]) -> bytes:
        message = {"id": f"m{second}", "role": kind, "content": content}
        whole = {
            "parentUuid": parent, "isSidechain": False, "sessionId": SESSION, "cwd": "/x", "version": "2.1.226",
            "type": kind, "message": message, "uuid": uuid, "timestamp": f"2026-03-08T00:00:0{second}.000Z",
        }  # fmt: skip
        return json.dumps(whole, ensure_ascii=False).encode() + b"\n"

    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": filler}}
    return (
        record("u1", None, "user", 0, [image, {"type": "text", "text": "What is this?"}])
        + record("a1", "u1", "assistant", 1, [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}])
        + record("r1", "a1", "user", 2, [{"type": "tool_result", "tool_use_id": "t1", "content": result}])
        + record("a2", "r1", "assistant", 3, [{"type": "text", "text": "A kettle."}])
    )


@pytest.mark.parametrize(
    "made", [lambda: big("A" * 2_000_000, "字" * 700_000), lambda: big("A" * 20_000_000, "字\n" * 4_000_000)]
)
def test_very_long_lines_keep_their_meaning_in_bounded_memory(
    tmp_path: Path, made: Callable[[], bytes]
) -> None:
    log = tmp_path / "big.jsonl"
    log.write_bytes(made())
    read(tmp_path / "big.jsonl")  # imports and caches
    tracemalloc.start()
    found = read(log)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    said = [(memory.role, memory.content or memory.tool, memory.ok) for memory in found]
    assert said == [
        ("user", "[image]\nWhat is this?", None),
        ("tool", "Bash", True),
        ("assistant", "A kettle.", None),
    ]
    assert peak < 48 << 20
