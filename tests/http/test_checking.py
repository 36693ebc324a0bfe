"""What `dreamd check` says of the face."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.http.checking import of_http
from dreamd.sections import Http
from tests.night.conftest import House, house  # noqa: F401 - a fixture


@pytest.mark.parametrize(
    ("listen", "token", "level", "said"),
    [
        ("", False, "ok", "switched off"),
        ("unix", False, "ok", "answer at unix:"),
        ("127.0.0.1:8378", True, "ok", "answer at 127.0.0.1:8378"),
        ("127.0.0.1:8378", False, "warning", "nothing can be changed"),
        ("0.0.0.0:8378", True, "ok", "answer at"),
        ("0.0.0.0:8378", False, "error", "reached by others"),
        ("here", False, "error", "http.listen is 'here'"),
        (f"unix:/{'d' * 120}", False, "error", "too long"),
    ],
)
def test_a_face_that_cannot_open_or_change_anything_is_found(
    house: Callable[..., House],  # noqa: F811
    tmp_path: Path,
    listen: str,
    token: bool,
    level: str,
    said: str,
) -> None:
    (tmp_path / "token").write_text("secret")
    home = house("anna")
    http = Http(listen=listen, token_file=str(tmp_path / "token") if token else "")
    (finding,) = of_http(replace(home.parts, config=replace(home.parts.config, http=http)))
    assert finding.level == level
    assert said in finding.what
    assert bool(finding.todo) == (level != "ok")


def test_a_token_that_cannot_be_read_is_found(house: Callable[..., House]) -> None:  # noqa: F811
    home = house("anna")
    http = Http(token_file="/no/such/file")
    (finding,) = of_http(replace(home.parts, config=replace(home.parts.config, http=http)))
    assert (finding.level, "/no/such/file" in finding.what) == ("error", True)
