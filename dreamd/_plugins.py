"""Finds and loads one-file plug-ins by name: the single dynamic import of the program."""

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dreamd.errors import ConfigError


def names(package: str) -> list[str]:
    """The plug-ins of a package such as `formats`: its files, but for `base` and those with a leading underscore."""
    found = (file.stem for file in (Path(__file__).parent / package).glob("*.py"))
    return sorted(name for name in found if name != "base" and not name.startswith("_"))


def opening(package: str, name: str) -> str:
    """The first sentence of a plug-in's file, without loading it."""
    with (Path(__file__).parent / package / f"{name}.py").open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')


def load(package: str, name: str, attribute: str) -> object:
    """The object a plug-in offers, e.g. `load("formats", "codex", "FORMAT")`.

    Raises ConfigError when there is no such plug-in or a library it needs is not installed.
    """
    if name not in names(package):
        known = ", ".join(names(package))
        raise ConfigError(f"no {name!r} among dreamd's {package}", hint=f"known: {known}")
    try:
        with _uncollected():
            module = importlib.import_module(f"dreamd.{package}.{name}")
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{package}/{name} needs the package {error.name}", hint=f"pip install {error.name}"
        ) from error
    return getattr(module, attribute)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for garbage inside: what is being loaded stays, and looking through it again and again is slow."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
