import pytest

from dreamd import _plugins
from dreamd.errors import ConfigError


def test_the_plug_ins_are_the_files_of_a_package_but_its_base_and_private_ones() -> None:
    assert "base" not in _plugins.names("formats")
    assert not [name for name in _plugins.names("formats") if name.startswith("_")]


def test_an_unknown_plug_in_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="known: "):
        _plugins.load("providers", "opnai", "OPEN")
