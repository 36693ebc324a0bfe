import gc
import importlib

import pytest

from dreamd import _plugins, errors
from dreamd.errors import ConfigError


def test_the_plug_ins_are_the_files_of_a_package_but_its_base_and_private_ones() -> None:
    assert "base" not in _plugins.names("formats")
    assert not [name for name in _plugins.names("formats") if name.startswith("_")]


def test_an_unknown_plug_in_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="known: "):
        _plugins.load("providers", "opnai", "OPEN")


def test_no_garbage_is_looked_for_while_a_plug_in_loads_and_then_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[bool] = []

    def importing(_name: str) -> object:
        looked.append(gc.isenabled())
        return errors

    monkeypatch.setattr(importlib, "import_module", importing)
    for before in (True, False):
        (gc.enable if before else gc.disable)()
        try:
            _plugins.load("formats", "trace", "ConfigError")
            assert gc.isenabled() is before
        finally:
            gc.enable()
    assert looked == [False, False]


def test_it_is_looked_for_again_when_a_plug_in_lacks_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> object:
        raise ModuleNotFoundError("no module", name="blocks")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigError, match="pip install blocks"):
        _plugins.load("formats", "trace", "FORMAT")
    assert gc.isenabled()
