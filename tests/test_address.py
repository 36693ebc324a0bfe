import os
import socket
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from dreamd.address import Address, address, bound, inode, removed
from dreamd.errors import ConfigError


@pytest.mark.parametrize("listen", ["unix:/run/d.sock", "unix:///run/d.sock"])
def test_a_socket_is_named_by_its_whole_path(listen: str) -> None:
    assert address(listen, "http.listen") == Address(Path("/run/d.sock"))
    assert address("unix:~/d.sock", "http.listen") == Address(Path.home() / "d.sock")


@pytest.mark.parametrize(
    ("listen", "host", "port", "local"),
    [
        ("127.0.0.1:8378", "127.0.0.1", 8378, True),
        ("localhost:0", "localhost", 0, True),
        ("[::1]:80", "::1", 80, True),
        ("0.0.0.0:8378", "0.0.0.0", 8378, False),
        ("dreamd.lan:8378", "dreamd.lan", 8378, False),
    ],
)
def test_a_host_and_a_port_are_told_apart(listen: str, host: str, port: int, local: bool) -> None:
    where = address(listen, "http.listen")
    assert where == Address(host=host, port=port)
    assert where.local is local


@pytest.mark.parametrize(
    "listen", ["tcp", "127.0.0.1", ":80", "host:port", "host:65536", "host:-1", "host:٣", "unix:d.sock"]
)
def test_what_is_no_address_is_refused(listen: str) -> None:
    with pytest.raises(ConfigError, match=r"http\.listen"):
        address(listen, "http.listen")


def test_the_socket_is_its_owners_alone_and_nobody_can_connect_before_it_is(tmp_path: Path) -> None:
    where = Address(tmp_path / "d.sock")
    with bound(where), socket.socket(socket.AF_UNIX) as visitor:
        assert stat.S_IMODE((tmp_path / "d.sock").stat().st_mode) == 0o600
        with pytest.raises(ConnectionRefusedError):
            visitor.connect(str(tmp_path / "d.sock"))


def test_what_a_killed_daemon_left_behind_is_replaced(tmp_path: Path) -> None:
    where = Address(tmp_path / "d.sock")
    bound(where).close()
    with bound(where) as one:
        assert one.getsockname() == str(tmp_path / "d.sock")


def test_a_socket_that_somebody_listens_on_is_left_alone(tmp_path: Path) -> None:
    where = Address(tmp_path / "d.sock")
    with bound(where) as one:
        one.listen()
        with pytest.raises(FileExistsError, match="listens there already"):
            bound(where)


def test_a_socket_whose_owner_is_too_busy_to_answer_is_left_alone(tmp_path: Path) -> None:
    where = Address(tmp_path / "d.sock")
    with ExitStack() as sockets:
        sockets.enter_context(bound(where)).listen(0)
        refused = 0
        while not refused:
            visitor = sockets.enter_context(socket.socket(socket.AF_UNIX))
            visitor.setblocking(False)
            refused = visitor.connect_ex(str(where.path))
        with pytest.raises(FileExistsError, match="listens there already"):
            bound(where)


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "d.sock").write_text("mine")
    with pytest.raises(FileExistsError, match="something else"):
        bound(Address(tmp_path / "d.sock"))
    assert (tmp_path / "d.sock").read_text() == "mine"


def test_a_path_that_the_kernel_does_not_take_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="longer than 107 bytes"):
        bound(Address(tmp_path / ("d" * 100) / "d.sock"))


def test_a_taken_port_is_told() -> None:
    with bound(Address(host="127.0.0.1")) as one:
        one.listen()
        with pytest.raises(OSError, match="in use"):
            bound(Address(host="127.0.0.1", port=one.getsockname()[1]))


def test_the_file_goes_with_the_socket_but_not_another_daemons(tmp_path: Path) -> None:
    where = Address(tmp_path / "d.sock")
    with bound(where):
        removed(where, inode(where) + 1)
        assert os.path.lexists(tmp_path / "d.sock")
        removed(where, inode(where))
        assert not os.path.lexists(tmp_path / "d.sock")


def test_an_address_reads_as_it_is_written() -> None:
    assert str(Address(Path("/run/d.sock"))) == "unix:/run/d.sock"
    assert str(Address(host="::1", port=80)) == "[::1]:80"
