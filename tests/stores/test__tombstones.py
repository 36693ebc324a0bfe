from pathlib import Path

from dreamd.stores._tombstones import Register


def test_what_is_added_is_read_back(tmp_path: Path) -> None:
    register = Register(tmp_path)
    assert (register.size, register.read()) == (0, [])
    register.add([("a", 1), ("words:b", 2)])
    register.add([("c", 3)])
    assert Register(tmp_path).read() == [("a", 1), ("words:b", 2), ("c", 3)]
    assert register.size == (tmp_path / "forgotten").stat().st_size > 0
    assert (tmp_path / "forgotten").stat().st_mode & 0o077 == 0


def test_a_line_that_a_crash_cut_off_is_none_and_spoils_no_other(tmp_path: Path) -> None:
    register = Register(tmp_path)
    register.add([("a", 1)])
    with (tmp_path / "forgotten").open("ab") as file:
        file.write(b"b 2")
    assert register.read() == [("a", 1)]
    register.add([("c", 3)])
    assert [one for one in register.read() if one[0] != "b"] == [("a", 1), ("c", 3)]
