import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreamd.cli import cli, main
from dreamd.commands.sync import told
from dreamd.tail.sync import SyncResult
from dreamd.tail.tailer import Tally
from tests.tail.house import line


def run(folder: Path, *words: str) -> Result:
    configure(folder)
    return CliRunner().invoke(cli, ["--config", str(folder / "config.toml"), *words])


def configure(folder: Path) -> None:
    config = folder / "config.toml"
    config.write_text(
        f'[state]\ndir = "{folder / "state"}"\n'
        f'[agents.a]\nformat = "claude_code"\nlogs = ["{folder / "logs"}", "{folder / "none.jsonl"}"]\nzone = "UTC"\n'
    )


def logs(folder: Path) -> None:
    (folder / "logs").mkdir()
    (folder / "logs" / "x.jsonl").write_bytes(line(1) + line(2) + b"?\n")
    (folder / "logs" / "y.jsonl").write_bytes(
        b'{"type":"unheard-of","uuid":"u","sessionId":"s","parentUuid":null}\n'
    )


def test_sync_reads_all_and_says_what_it_could_not(tmp_path: Path) -> None:
    logs(tmp_path)
    said = run(tmp_path, "sync").stdout
    assert "a: 2 new records from 2 logs (" in said
    assert "; passed over: 1 not recognised, 1 damaged\n" in said
    assert f"not read: {tmp_path / 'none.jsonl'}: not there" in said
    assert f"not understood: {tmp_path / 'logs' / 'y.jsonl'}" in said
    assert "a: 0 new records" in run(tmp_path, "sync").stdout


def test_sync_prints_its_counts_as_json(tmp_path: Path) -> None:
    logs(tmp_path)
    tally = json.loads(run(tmp_path, "sync", "--agent", "a", "--json").stdout)["a"]
    assert (tally["records"], tally["lines"], tally["files"]) == (2, 4, 2)
    assert run(tmp_path, "sync", "--agent", "b").exception is not None


def test_sync_fails_when_a_log_cannot_be_read_and_only_then(tmp_path: Path) -> None:
    logs(tmp_path)
    configure(tmp_path)
    for words in (["sync"], ["sync", "--json"]):
        with pytest.raises(SystemExit) as left:
            main(["--config", str(tmp_path / "config.toml"), *words])
        assert left.value.code == 1
    (tmp_path / "none.jsonl").touch()
    with pytest.raises(SystemExit) as left:
        main(["--config", str(tmp_path / "config.toml"), "sync"])
    assert left.value.code == 0


def test_what_sync_counted_is_said_in_words_of_a_person() -> None:
    tally = Tally(
        files=1, read=9, lines=1, records=1, duplicates=2, amended=5, truncated=1,
        skipped={"unwanted": 24, "metadata": 1, "copied": 3, "unknown type": 2, "role": 1},
    )  # fmt: skip
    assert list(told(SyncResult({"a": tally}))) == [
        (
            "a: 1 new record from 1 log (9 bytes, 1 line); 5 records completed by later lines; 1 over-long line cut; "
            "passed over: 5 seen before, 25 without anything said, 3 not recognised"
        )
    ]
