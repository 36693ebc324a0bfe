"""What a client can read of an agent: its MEMORY.md and its newest dream diary. Blocking."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from dreamd import files
from dreamd.config import Config
from dreamd.deep_dream.sources import place_of
from dreamd.errors import UsageError, WorkspaceError

_URI = re.compile(r"dreamd://(?P<agent>[A-Za-z0-9._-]+)/(?P<what>MEMORY\.md|diary)")
_DIARY = re.compile(r"\d{4}-\d\d-\d\d\.md")
_TITLES = {"MEMORY.md": "Memory of {agent}", "diary": "Newest dream diary of {agent}"}


class Page(Struct, frozen=True):
    uri: str
    title: str
    path: Path


def pages(config: Config) -> list[Page]:
    """Those that are there."""
    return [
        page
        for agent in config.enabled
        for what in ("MEMORY.md", "diary")
        for page in _page(config, agent, what)
    ]


def read(config: Config, uri: str) -> str:
    """Raises UsageError for what is not there, WorkspaceError for what cannot be read."""
    named = _URI.fullmatch(uri)
    if named and named["agent"] in config.enabled:
        for page in _page(config, named["agent"], "diary" if named["what"] == "diary" else "MEMORY.md"):
            return files.read(page.path).text
    raise UsageError("no such resource", hint="list them first")


def _page(config: Config, agent: str, what: Literal["MEMORY.md", "diary"]) -> Iterator[Page]:
    try:
        place = place_of(config.agents[agent], agent)
    except WorkspaceError:
        return
    path = place.memory if what == "MEMORY.md" else _newest(place.diaries)
    if path and path.is_file():
        yield Page(f"dreamd://{agent}/{what}", _TITLES[what].format(agent=agent), path)


def _newest(folder: Path) -> Path | None:
    days = [path for path in folder.glob("*.md") if _DIARY.fullmatch(path.name)]
    return max(days, default=None, key=lambda path: path.name)
