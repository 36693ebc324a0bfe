"""A function of texts goes in, the same out that remembers its latest answers, in memory bounded whatever the texts."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

from dreamd.memories import Memory

P = ParamSpec("P")
T = TypeVar("T")
SHORT = 600  # characters of all that is given
LONG_KEPT = 16  # answers about longer texts: a single one may be as large as a hundred others


def remembering(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Remember `most` answers about short texts or memories, and `LONG_KEPT` about long ones."""

    def remembered(function: Callable[P, T]) -> Callable[P, T]:
        short, long = lru_cache(most)(function), lru_cache(LONG_KEPT)(function)

        @wraps(function)
        def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            kept = short if sum(map(_length, args)) <= SHORT else long
            return kept(*cast("tuple[Hashable, ...]", args), **cast("dict[str, Hashable]", kwargs))

        return answer

    return remembered


def remembering_verdicts(most: int) -> Callable[[Callable[P, bool]], Callable[P, bool]]:
    """Remember yes or no to so many questions, by the hashes of two things or more: nothing that was asked is held.

    When there are too many it begins anew.
    """

    def remembered(function: Callable[P, bool]) -> Callable[P, bool]:
        known: dict[tuple[int, ...], bool] = {}

        @wraps(function)
        def answer(*args: P.args, **kwargs: P.kwargs) -> bool:
            key = tuple(map(hash, (*args, *kwargs.items())))
            verdict = known.get(key)
            if verdict is None:
                if len(known) >= most:
                    known.clear()
                verdict = known[key] = function(*args, **kwargs)
            return verdict

        return answer

    return remembered


def _length(given: object) -> int:
    text = given.content if isinstance(given, Memory) else given
    return len(text) if isinstance(text, str) else 0
