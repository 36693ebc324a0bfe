from pathlib import Path

from dreamd.formats.base import Format
from dreamd.stores.base import Cursor
from dreamd.tail.catalogue import Catalogue
from dreamd.tail.fingerprint import fingerprint, tail_of
from dreamd.tail.logfile import stamp
from dreamd.tail.opening import FileLook, claim
from dreamd.tail.sources import Found
from tests.tail.house import NumbersFormat


def found_at(path: Path, *formats: Format) -> Found:
    seen = stamp(str(path))
    assert seen
    return Found(str(path), str(path.parent), seen, formats)


def test_a_claim_sorts_by_format_then_order_then_path(tmp_path: Path) -> None:
    class Last(NumbersFormat):
        def order(self, path: Path, head: bytes, tail: bytes) -> tuple[object, ...]:
            return (tail[-2:],)

    (tmp_path / "a.log").write_bytes(b'{"n":1}\nz\n')
    (tmp_path / "b.log").write_bytes(b'{"n":1}\ny\n')
    (tmp_path / "c.log").write_bytes(b'{"n":1}\ny\n')
    claims = [claim(found_at(path, Last())) for path in sorted(tmp_path.iterdir())]
    assert [Path(one.path).name for one in sorted(one for one in claims if one)] == [
        "b.log",
        "c.log",
        "a.log",
    ]


def test_what_no_format_claims_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"hello")
    assert claim(found_at(tmp_path / "a.txt", NumbersFormat())) is None


def test_a_look_compares_what_was_read_with_what_stands_there(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"one\ntwo\n")
    length, digest = tail_of(b"one\n")
    cursor = Cursor(
        source_id="s", agent="a", path=str(log), format="f", fingerprint=fingerprint(1, 2, b"one\n", 4),
        offset=4, tail_length=length, tail_sha256=digest,
    )  # fmt: skip
    rotated = tmp_path / "a.log.1"
    rotated.write_bytes(b"one\n")
    look = FileLook(found_at(log), {(1, 2): str(rotated)}, Catalogue([cursor]))
    assert look.head() == b"one\ntwo\n"
    assert look.same_content(cursor)
    assert look.elsewhere(cursor)
    rotated.write_bytes(b"another's\n")  # the inode was given to it
    assert not look.elsewhere(cursor)
    rotated.unlink()
    assert look.elsewhere(cursor)
    log.write_bytes(b"two\n")
    assert not look.same_content(cursor)
