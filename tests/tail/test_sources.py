import os
import re
from pathlib import Path

import pytest

from dreamd.errors import ConfigError
from dreamd.sections import Agent
from dreamd.tail import sources
from dreamd.tail.roots import roots
from dreamd.tail.sources import Found, Own, Part, glob_regex, guess, own_files, places, scan
from tests.tail.house import NumbersFormat

NUMBERS = (NumbersFormat(),)
NOTHING_OWN = Own()


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def found(folder: Path, *logs: str, part: Part | None = None, own: Own = NOTHING_OWN) -> list[str]:
    where = places(Agent(logs=tuple(str(folder / log) for log in logs)), NUMBERS, folder)
    return sorted(str(Path(one.path).relative_to(folder)) for one in scan(where, own, no_failure, part))


def no_failure(path: str, reason: str) -> None:
    pytest.fail(f"{path}: {reason}")


@pytest.mark.parametrize(
    ("glob", "fits", "not_"),
    [
        ("*.jsonl", ["a.jsonl", ".jsonl"], ["a/b.jsonl", "a.jsonl.zst"]),
        ("**/*.jsonl", ["a.jsonl", "a/b.jsonl", "a/b/c.jsonl"], ["a.json"]),
        ("*/sessions/*.jsonl*", ["m/sessions/x.jsonl.reset.1"], ["sessions/x.jsonl", "a/b/sessions/x.jsonl"]),
        ("a?[0-9].log", ["ab1.log"], ["a/1.log", "abc.log"]),
        ("[!a]x", ["bx"], ["ax"]),
        ("**", ["a", "a/b"], []),
        ("a+(b).log", ["a+(b).log"], ["aab.log"]),
    ],
)
def test_a_glob_means_what_a_shell_means(glob: str, fits: list[str], not_: list[str]) -> None:
    pattern = re.compile(glob_regex(glob))
    assert all(pattern.fullmatch(path) for path in fits)
    assert not any(pattern.fullmatch(path) for path in not_)


def test_files_folders_and_globs_are_found_once(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "d/b.log", "d/e/c.log", "d/x.txt", "f [1].log")
    assert found(tmp_path, "a.log") == ["a.log"]
    assert found(tmp_path, "d") == ["d/b.log", "d/e/c.log", "d/x.txt"]
    assert found(tmp_path, "d/*.log") == ["d/b.log"]
    assert found(tmp_path, "**/*.log", "d", "a.log") == [
        "a.log",
        "d/b.log",
        "d/e/c.log",
        "d/x.txt",
        "f [1].log",
    ]
    assert found(tmp_path, "f [1].log") == ["f [1].log"]


def test_a_name_that_is_not_utf_8_is_told_and_hides_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "字.log")
    (tmp_path / os.fsdecode(b"b\xe9.log")).touch()
    told: dict[str, str] = {}
    where = places(Agent(logs=(str(tmp_path),)), (NumbersFormat(),), Path())
    assert {Path(one.path).name for one in scan(where, Own(), told.__setitem__)} == {"a.log", "字.log"}
    assert told == {f"{tmp_path}/b\ufffd.log": "its name is not UTF-8: rename it"}


def test_without_configured_logs_the_usual_places_below_home_are_looked_at(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b.txt", "d/c.log")
    where = places(Agent(), NUMBERS, tmp_path)
    assert [one.path for one in scan(where, NOTHING_OWN, no_failure)] == [str(tmp_path / "a.log")]


def test_only_a_part_can_be_looked_at(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "d/b.log", "d/e/c.log", "f/g.log")
    assert found(tmp_path, "**/*.log", part=Part(str(tmp_path / "d"), deep=True)) == ["d/b.log", "d/e/c.log"]
    assert found(tmp_path, "**/*.log", part=Part(str(tmp_path / "d"), deep=False)) == ["d/b.log"]
    assert found(tmp_path, "**/*.log", part=Part("/elsewhere", deep=True)) == []
    assert found(tmp_path, "a.log", part=Part(str(tmp_path), deep=False)) == ["a.log"]
    assert found(tmp_path, "d", part=Part(str(tmp_path), deep=True)) == ["d/b.log", "d/e/c.log"]


def test_links_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    make(tmp_path, "d/a.log")
    (tmp_path / "d" / "again").symlink_to(tmp_path / "d")
    assert found(tmp_path, "d") == ["d/a.log"]


def test_a_link_that_leads_to_itself_is_told_and_hides_nothing(tmp_path: Path) -> None:
    told: dict[str, str] = {}
    (tmp_path / "a.log").write_text("x")
    (tmp_path / "b.log").symlink_to(tmp_path / "b.log")
    where = places(Agent(logs=(str(tmp_path),)), NUMBERS, Path())
    assert [Path(one.path).name for one in scan(where, NOTHING_OWN, told.__setitem__)] == ["a.log"]
    assert list(told) == [str(tmp_path / "b.log")]


def test_what_dreamd_writes_is_never_a_log_but_what_lies_beside_it_is(tmp_path: Path) -> None:
    make(
        tmp_path, "state/pool.db", "w/MEMORY.md", "w/memory/2026-03-01.md", "w/memory/dreams/2026-03-01.md",
        "w/memory/long-term/index.db", "w/notes.md",
    )  # fmt: skip
    own = own_files(tmp_path / "state", Agent(workspace=str(tmp_path / "w")))
    assert found(tmp_path, "state", "w", own=own) == ["w/memory/long-term/index.db", "w/notes.md"]


def test_a_configured_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    told: dict[str, str] = {}
    where = places(
        Agent(logs=(str(tmp_path / "none.log"), str(tmp_path / "no" / "*.log"))), NUMBERS, tmp_path
    )
    assert list(scan(where, NOTHING_OWN, told.__setitem__)) == []
    assert told == {str(tmp_path / "none.log"): "not there", str(tmp_path / "no"): "not there"}


def test_a_folder_that_comes_later_is_looked_into(tmp_path: Path) -> None:
    where = places(Agent(format="trace", logs=(str(tmp_path / "traces"),)), NUMBERS, tmp_path)
    make(tmp_path, "traces/a.log")
    (one,) = scan(where, NOTHING_OWN, no_failure)
    assert (one.path, one.forced) == (str(tmp_path / "traces/a.log"), False)
    assert list(scan(where, NOTHING_OWN, no_failure, Part(str(tmp_path / "traces"), deep=True))) == [one]
    assert roots(where).deep == {str(tmp_path / "traces")}


def candidate(path: str, *, forced: bool = False) -> Found:
    return Found(path, "/", stamp_of_nothing, NUMBERS, forced)


stamp_of_nothing = sources.Stamp(0, 0, 0, 0, 0)


def test_a_format_is_guessed_by_who_is_surest() -> None:
    assert guess(candidate("/a.log"), b'{"n": 1}') is NUMBERS[0]
    assert guess(candidate("/a.log"), b"else") is None


def test_a_file_named_with_its_format_is_read_as_that() -> None:
    assert guess(candidate("/a.txt", forced=True), b"else") is NUMBERS[0]
    assert guess(candidate("/a.db", forced=True), b"SQLite format 3\0") is None


def test_an_unknown_format_is_an_error_that_names_the_known() -> None:
    with pytest.raises(ConfigError, match=r"unknown format 'kodex'.*codex"):
        sources.formats("kodex")
    assert {one.label for one in sources.formats("openclaw")} == {"openclaw"}
