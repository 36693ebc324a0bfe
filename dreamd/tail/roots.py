"""Where to listen: the folders below which logs may grow."""

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from dreamd.tail.sources import Place, today

Heard = Callable[[frozenset[str]], None]
"""Told the paths at which something changed; a folder stands for all below it."""


class Roots(NamedTuple):
    """Folders that exist now: watched with all below them, and alone."""

    deep: frozenset[str] = frozenset()
    flat: frozenset[str] = frozenset()


def roots(places: Iterable[Place]) -> Roots:
    deep: set[str] = set()
    flat: set[str] = set()
    for place in map(today, places):
        if place.pattern is None:
            flat.add(os.path.dirname(place.base))  # noqa: PTH120
        else:
            (flat if place.depth == 0 else deep).add(place.base)
    return Roots(_existing(deep), _existing(flat - deep))


def _existing(folders: Iterable[str]) -> frozenset[str]:
    return frozenset(folder for folder in folders if os.path.isdir(folder))  # noqa: PTH112
