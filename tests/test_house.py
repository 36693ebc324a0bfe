"""The house holds its own rules: every file has its test, the README knows every command and format."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dreamd import _plugins

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "dreamd").rglob("*.py"))
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Source files whose sentences stand in another test file.
TESTED_IN = {
    "__main__.py": "test_cli.py",
    "sections.py": "test_config.py",
    "memories.py": "test_records.py",
    "calls.py": "contracts/test_providers.py",
    "parts.py": "test_daemon.py",
    "eval/truth.py": "eval/test_planting.py",
    "dream/draft.py": "dream/test_verify.py",
    "http/counters.py": "http/test_metrics.py",
    "http/desk.py": "http/test_guard.py",
    "http/exchange.py": "http/test_guard.py",
    "http/shapes.py": "http/test_routes.py",
    "hand/saying.py": "hand/test_remember.py",
    "hand/settling.py": "hand/test_remember.py",
    "mcp/verbs.py": "mcp/test_tools.py",
    "recall/meaning.py": "recall/test_embeddings.py",
    "formats/_codex.py": "formats/test_codex.py",
    "formats/_codex_reader.py": "formats/test_codex.py",
    "formats/_codex_turns.py": "formats/test_codex.py",
    "formats/_cowagent.py": "formats/test_cowagent.py",
    "formats/_openclaw.py": "formats/test_openclaw.py",
    "formats/_openclaw_tree.py": "formats/test_openclaw.py",
}


def test_every_source_file_has_its_test_file() -> None:
    missing = []
    for source in SOURCES:
        relative = source.relative_to(ROOT / "dreamd")
        if source.name in ("__init__.py", "base.py"):
            continue
        expected = TESTED_IN.get(str(relative), str(relative.parent / f"test_{source.stem}.py"))
        if not (ROOT / "tests" / expected).is_file():
            missing.append(f"{relative} -> tests/{expected}")
    assert missing == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_files_and_functions_stay_short(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    assert text.count("\n") <= 450
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert (node.end_lineno or 0) - node.lineno < 50, node.name


def test_the_readme_knows_every_command() -> None:
    named = set(re.findall(r"`([a-z-]+)(?: [^`]*)?`", README))
    assert {name.replace("_", "-") for name in _plugins.names("commands")} <= named


def test_the_readme_knows_every_format_and_provider() -> None:
    for name in _plugins.names("formats"):
        assert f"`{name.removesuffix('_sqlite')}`" in README
    for name in ("openai", "anthropic"):
        assert f'"{name}"' in README


def test_the_map_of_the_house_names_every_room() -> None:
    house = README.partition("## The map of the house")[2].partition("## Formats")[0]
    rooms = {
        path.stem
        for path in (ROOT / "dreamd").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {room for room in rooms - {"__init__", "__main__"} if room not in house} == set()


def test_the_stair_of_imports_holds() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    if not linter.exists():
        pytest.skip("needs import-linter")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def _swallows(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type else "everything"
    last = handler.body[-1]
    return bool({"Exception", "BaseException", "everything"} & set(re.findall(r"\w+", caught))) and not (
        isinstance(last, ast.Raise) and last.exc is None
    )


# Who else outlives a bug that is not his own, and tells of it.
ENDURES = {
    "dreamd/supervisor/kept.py": "the daemon's tasks",
    "dreamd/http/jobs.py": "work that a request began: it fails as a job, and the face stays open",
    "dreamd/trace.py": "an agent's own objects, in the agent's process, where nothing of dreamd's may be raised",
}


def test_nothing_but_the_supervisors_swallows_every_exception() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and _swallows(node)
    ]
    assert [place for place in found if place.partition(":")[0] not in ENDURES] == []
