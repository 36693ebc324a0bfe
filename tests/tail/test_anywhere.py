from pathlib import Path

import anyio
import pytest

from dreamd.tail import anywhere
from dreamd.tail.anywhere import AnywhereWatcher
from dreamd.tail.roots import Roots


async def test_what_is_written_below_or_in_a_folder_is_heard(tmp_path: Path) -> None:
    watcher = AnywhereWatcher(Roots(frozenset({str(tmp_path)})))
    (tmp_path / "x").write_bytes(b"1")
    heard: set[str] = set()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watcher.run, heard.update)
            while str(tmp_path / "x") not in heard:  # noqa: ASYNC110 - it is heard in a callback
                await anyio.sleep(0.01)
            watcher.close()
    assert heard >= {str(tmp_path / "x")}


def test_a_folder_that_is_gone_meanwhile_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No path was found"):
        AnywhereWatcher(Roots(deep=frozenset({str(tmp_path / "none")})))


def test_a_reached_limit_is_never_taken_for_a_forbidden_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []

    def refuse(
        _paths: object, _debug: object, _poll: object, _delay: object, _deep: object, forgive: bool
    ) -> None:
        tried.append(forgive)
        raise OSError("OS file watch limit reached") if len(tried) == 1 else PermissionError

    monkeypatch.setattr(anywhere, "RustNotify", refuse)
    with pytest.raises(OSError, match="limit reached"):
        AnywhereWatcher(Roots(deep=frozenset({"/x"})))
    assert tried == [False]
    with pytest.raises(PermissionError):
        AnywhereWatcher(Roots(deep=frozenset({"/x"})))
    assert tried == [False, False, True]
