from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.places import Kind, free, own

KINDS: tuple[Kind, ...] = ("config", "data", "state")


@pytest.mark.parametrize(
    ("kind", "folder"),
    [("config", ".config/dreamd"), ("data", ".local/share/dreamd"), ("state", ".local/state/dreamd")],
)
def test_folders_are_where_the_specification_says(kind: Kind, folder: str) -> None:
    assert own(kind, "linux", {}) == Path.home() / folder


@pytest.mark.parametrize("kind", KINDS)
def test_apple_has_one_place_for_all(kind: Kind) -> None:
    assert own(kind, "darwin", {}) == Path.home() / "Library/Application Support/dreamd"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_what_the_user_says_comes_first(kind: Kind, platform: str) -> None:
    environ = {f"XDG_{kind.upper()}_HOME": "/srv/own"}
    assert own(kind, platform, environ) == Path("/srv/own/dreamd")


@given(st.sampled_from(KINDS), st.sampled_from(["", " ", "own", "./own", "~/own"]))
def test_what_is_no_absolute_path_is_ignored(kind: Kind, told: str) -> None:
    assert own(kind, "linux", {f"XDG_{kind.upper()}_HOME": told}) == own(kind, "linux", {})


def test_room_is_in_bytes(tmp_path: Path) -> None:
    assert 0 <= free(tmp_path) < 1 << 80
