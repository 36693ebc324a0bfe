import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreamd.cli import cli, main
from tests.tail.house import line


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["read", *words])


def test_read_prints_one_json_list_in_the_samples_shape(tmp_path: Path) -> None:
    log = tmp_path / "x.jsonl"
    log.write_bytes(line(1))
    result = run(str(log), "--json")
    assert json.loads(result.stdout) == [
        {
            "session_id": "s", "agent": "claude_code", "role": "user", "origin": "human", "text": "text 1 字",
            "timestamp": "2026-03-01T10:00:00.000Z",
        }
    ]  # fmt: skip


def test_read_prints_a_listing_for_people(tmp_path: Path) -> None:
    log = tmp_path / "x.jsonl"
    log.write_bytes(line(1, "first\nline " + "x" * 500))
    result = run(str(log), "--format", "claude_code")
    assert "claude_code  s" in result.stdout
    assert "2026-03-01T10:00:00.000Z  user/human  first line" in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 220


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/none"], "dreamd: /none: not there"),
        (["{other}"], "no session log that dreamd knows; name one with --format: claude_code, codex"),
        (["{other}", "--format", "codex"], "nothing in it was understood as codex"),
        (["{other}", "--format", "kodex"], "unknown format 'kodex'; known: claude_code, codex"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    with pytest.raises(SystemExit) as left:
        main(["read", *(word.format(other=other) for word in words)])
    assert left.value.code in (1, 2)
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
