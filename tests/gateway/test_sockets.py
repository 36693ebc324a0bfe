import resource
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from dreamd.gateway.serve import opened
from dreamd.gateway.settings import settled
from dreamd.gateway.sockets import RESERVED, room_for, unix_listener
from dreamd.sections import Gateway


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "g.sock"


def test_only_its_owner_may_use_the_socket(path: Path) -> None:
    with unix_listener(str(path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_socket_that_a_dead_process_left_is_replaced(path: Path) -> None:
    unix_listener(str(path)).close()
    with unix_listener(str(path)) as again, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        assert again.fileno() > 0


def test_one_that_is_in_use_is_not_taken_over(path: Path) -> None:
    with unix_listener(str(path)), pytest.raises(OSError, match="in use"):
        unix_listener(str(path))


@pytest.fixture
def files() -> Iterator[int]:
    """The hard limit; the soft one is put back."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield hard if hard != resource.RLIM_INFINITY else 1 << 20
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_limit_of_open_files_is_raised_as_far_as_is_needed_and_goes(files: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    assert room_for(10) == 10
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 20 + RESERVED
    assert room_for(files) <= (files - RESERVED) // 2


def test_a_file_in_the_way_is_left_alone(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(OSError, match="in use"):
        unix_listener(str(path))
    assert path.read_text() == "mine"


async def test_the_gateway_answers_on_a_socket_and_takes_it_away_when_it_goes(path: Path) -> None:
    async with (
        opened(settled(Gateway(listen=f"unix:{path}")), None),
        await anyio.connect_unix(path) as client,
    ):
        await client.send(b"GET /x/y HTTP/1.1\r\nHost: any\r\n\r\n")
        assert (await client.receive()).startswith(b"HTTP/1.1 404 ")
    assert not await anyio.Path(path).exists()
