import io
import os
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dreamd.errors import LogUnreadable
from dreamd.tail.logfile import LogFile, cut_off, opened, stamp

DATA = os.urandom(3_000_000)


@pytest.fixture(params=["x.jsonl", "x.jsonl.zst"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    made = tmp_path / request.param
    half = len(DATA) // 2
    packed = zstandard.compress(DATA[:half]) + zstandard.compress(DATA[half:])  # two frames
    made.write_bytes(packed if made.suffix == ".zst" else DATA)
    return str(made)


def test_a_log_reads_the_same_plain_and_compressed(path: str) -> None:
    with opened(path) as file:
        assert file.head(1000) == DATA[:1000]
        assert file.read_at(1_499_000, 2000) == DATA[1_499_000:1_501_000]
        assert file.before(2_000_000, 64) == DATA[1_999_936:2_000_000]
        assert file.before(len(DATA) + 1, 64) is None
        assert b"".join(file.chunks(100)) == DATA[100:]
        assert b"".join(file.chunks(100, 2_000_100)) == DATA[100:2_000_100]
        assert file.tail(500) == DATA[-500:]
        assert file.read_at(len(DATA), 10) == b""


def test_a_compressed_log_that_was_cut_gives_what_is_whole(tmp_path: Path) -> None:
    cut = tmp_path / "x.zst"
    cut.write_bytes(zstandard.compress(DATA)[:-1000])
    with opened(str(cut)) as file:
        got = b"".join(file.chunks(0))
    assert got
    assert DATA.startswith(got)


def streamed(data: bytes, *, checksum: bool) -> bytes:
    """As a program writes it that does not know how much will come."""
    packed = io.BytesIO()
    with zstandard.ZstdCompressor(write_checksum=checksum).stream_writer(packed, closefd=False) as writer:
        for start in range(0, len(data), 90_000):
            writer.write(data[start : start + 90_000])
            writer.flush()
    return packed.getvalue()


SKIPPED = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"12345"
PACKED = [
    zstandard.compress(b"short"),
    zstandard.compress(b"x" * 500_000),
    streamed(DATA[:400_000], checksum=True),
    streamed(b"log " * 100_000, checksum=False),
]


@given(st.lists(st.sampled_from([*PACKED, SKIPPED]), min_size=1, max_size=4), st.data())
def test_a_compressed_log_that_was_cut_anywhere_is_known(
    tmp_path_factory: pytest.TempPathFactory, frames: list[bytes], data: st.DataObject
) -> None:
    log = tmp_path_factory.mktemp("cut") / "x.zst"
    log.write_bytes(b"".join(frames))
    assert not cut_off(str(log))
    last = frames[-1]
    gone = data.draw(st.integers(1, len(last) - (4 if last == SKIPPED else 1)))
    log.write_bytes(b"".join(frames)[:-gone])
    assert cut_off(str(log))


def test_what_is_no_compressed_log_is_not_cut(tmp_path: Path) -> None:
    for name, data in (("x.jsonl", PACKED[0][:-1]), ("y.zst", b"not zstd at all"), ("z.zst", b"")):
        (tmp_path / name).write_bytes(data)
        assert not cut_off(str(tmp_path / name))
    assert not cut_off(str(tmp_path / "none.zst"))


def test_what_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "x.zst"
    broken.write_bytes(b"not zstd at all")
    with opened(str(broken)) as file, pytest.raises(LogUnreadable, match=r"x\.zst: not valid zstd"):
        file.head(10)
    with pytest.raises(LogUnreadable, match="not there"), opened(str(tmp_path / "none")):
        pass
    with pytest.raises(LogUnreadable, match="not a plain file"), opened(str(tmp_path)):
        pass
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LogUnreadable, match="not a plain file"), opened(str(tmp_path / "pipe")):
        pass


def test_a_log_without_permission_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # the tests may run as root, whom nothing is refused
    with pytest.raises(LogUnreadable, match="permission denied; let the user"), opened(str(tmp_path / "x")):
        pass


def test_a_stamp_is_none_where_nothing_is(tmp_path: Path) -> None:
    assert stamp(str(tmp_path / "none")) is None
    (tmp_path / "x").write_bytes(b"12345")
    found = stamp(str(tmp_path / "x"))
    assert found is not None
    assert found.size == 5


def test_a_log_knows_whether_it_is_compressed(path: str) -> None:
    with opened(path) as file:
        assert isinstance(file, LogFile)
        assert file.compressed == path.endswith(".zst")
