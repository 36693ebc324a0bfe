import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreamd.cli import cli, main


def test_help_lists_the_commands_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom dreamd.cli import cli\n"
        "try: cli.main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'traceback', 'pkgutil', 'httpx', 'structlog', 'apscheduler', 'watchfiles', 'rich', 'sqlite3', 'anyio'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout


def test_an_error_is_one_line_and_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--config", str(tmp_path / "none.toml"), "status"])
    assert left.value.code == 2
    told = capsys.readouterr()
    assert told.err.startswith("dreamd: no configuration at ")
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_an_unknown_command_is_a_usage_error() -> None:
    assert CliRunner().invoke(cli, ["slumber"]).exit_code == 2


def test_a_reader_that_has_enough_is_told_nothing(tmp_path: Path) -> None:
    log = tmp_path / "chat.jsonl"
    log.write_text("".join(f'{{"role": "user", "content": "line {n} {"x" * 200}"}}\n' for n in range(3000)))
    shell = f"{sys.executable} -m dreamd read {log} --format openai_chat | head -n 2"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["slumber"], "slumber"),
        (["read"], "dreamd read --help"),
        (["status", "--jsn"], "dreamd status --help"),
        (["night", "--date", "tomorrow"], "dreamd night --help"),
    ],
)
def test_a_usage_error_is_one_line_too(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("dreamd: ")
    assert told.count("\n") == 1
    assert says in told


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_on_a_full_disk_is_one_line_too() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dreamd", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
