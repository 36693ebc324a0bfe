import json
from pathlib import Path

from tests.commands.test_sync import logs, run


def test_memories_lists_the_pool_as_asked(tmp_path: Path) -> None:
    logs(tmp_path)
    run(tmp_path, "sync")
    found = json.loads(run(tmp_path, "memories", "--json", "--type", "raw", "--date", "2026-03-01").stdout)
    assert [memory["content"] for memory in found] == ["text 1 字", "text 2 字"]
    assert len(found[0]["span"]["sha256"]) == 64
    assert found[0]["timestamp"].startswith("2026-03-01T10:00:00")
    assert json.loads(run(tmp_path, "memories", "--json", "--date", "2026-03-02").stdout) == []
    assert json.loads(run(tmp_path, "memories", "--json", "--type", "insight", "--agent", "a").stdout) == []


def test_memories_prints_a_line_each_for_people(tmp_path: Path) -> None:
    logs(tmp_path)
    run(tmp_path, "sync")
    lines = run(tmp_path, "memories").stdout.splitlines()
    assert len(lines) == 2
    assert "no such memories" in run(tmp_path, "memories", "--type", "insight").stdout
    assert lines[0].endswith("a  2026-03-01 10:00 +00:00  user/human  text 1 字")


def test_an_unknown_agent_or_date_is_refused(tmp_path: Path) -> None:
    assert run(tmp_path, "memories", "--agent", "b").exception is not None
    assert run(tmp_path, "memories", "--date", "yesterday").exit_code == 2
