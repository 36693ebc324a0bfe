import json
from pathlib import Path

from click.testing import CliRunner, Result

from dreamd.cli import cli
from tests.tail.house import line


def run(folder: Path, *words: str) -> Result:
    config = folder / "config.toml"
    config.write_text(
        f'[state]\ndir = "{folder / "state"}"\n'
        f'[agents.a]\nformat = "claude_code"\nlogs = ["{folder / "logs"}", "{folder / "none.jsonl"}"]\nzone = "UTC"\n'
    )
    return CliRunner().invoke(cli, ["--config", str(config), *words])


def logs(folder: Path) -> None:
    (folder / "logs").mkdir()
    (folder / "logs" / "x.jsonl").write_bytes(line(1) + line(2) + b"?\n")
    (folder / "logs" / "y.jsonl").write_bytes(
        b'{"type":"unheard-of","uuid":"u","sessionId":"s","parentUuid":null}\n'
    )


def test_sync_reads_all_and_says_what_it_could_not(tmp_path: Path) -> None:
    logs(tmp_path)
    told = run(tmp_path, "sync").stdout
    assert "a: 2 new records from 2 logs" in told
    assert f"not read: {tmp_path / 'none.jsonl'}: not there" in told
    assert f"not understood: {tmp_path / 'logs' / 'y.jsonl'}" in told
    assert "a: 0 new records" in run(tmp_path, "sync").stdout


def test_sync_prints_its_counts_as_json(tmp_path: Path) -> None:
    logs(tmp_path)
    tally = json.loads(run(tmp_path, "sync", "--agent", "a", "--json").stdout)["a"]
    assert (tally["records"], tally["lines"], tally["files"]) == (2, 4, 2)
    assert run(tmp_path, "sync", "--agent", "b").exception is not None
