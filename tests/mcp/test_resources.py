"""MEMORY.md and the newest diary of each agent, and no other file."""

from pathlib import Path

import pytest

from dreamd.config import Config
from dreamd.errors import UsageError, WorkspaceError
from dreamd.mcp.resources import pages, read
from dreamd.sections import Agent


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "memory/dreams").mkdir(parents=True)
    (tmp_path / "MEMORY.md").write_text("- 记得红色\n", encoding="utf-8")
    for name in ("2026-03-01.md", "2026-03-02.md", "notes.md"):
        (tmp_path / "memory/dreams" / name).write_text(name)
    return Config(
        agents={"anna": Agent(workspace=str(tmp_path)), "bob": Agent(), "carl": Agent(workspace="/nowhere")}
    )


def test_only_what_is_there_is_listed(config: Config) -> None:
    assert [page.uri for page in pages(config)] == ["dreamd://anna/MEMORY.md", "dreamd://anna/diary"]


def test_the_newest_diary_is_read(config: Config) -> None:
    assert read(config, "dreamd://anna/diary") == "2026-03-02.md"
    assert read(config, "dreamd://anna/MEMORY.md") == "- 记得红色\n"


@pytest.mark.parametrize(
    "uri",
    [
        "dreamd://anna/../../etc/passwd",
        "dreamd://anna/MEMORY.md/../x",
        "dreamd://../MEMORY.md",
        "dreamd://bob/MEMORY.md",
        "dreamd://carl/MEMORY.md",
        "dreamd://nobody/diary",
        "file:///etc/passwd",
        "dreamd://anna/diary\n",
        "",
    ],
)
def test_nothing_else_is_read(config: Config, uri: str) -> None:
    with pytest.raises(UsageError):
        read(config, uri)


def test_a_file_that_leads_out_of_the_workspace_is_not_read(config: Config, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").unlink()
    (tmp_path / "MEMORY.md").symlink_to("/etc/passwd")
    with pytest.raises((UsageError, WorkspaceError)):
        read(config, "dreamd://anna/MEMORY.md")
