"""What people of a language say, from its file in `phrases/`: a language in, wordings by what they are to show out."""

from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from dreamd.memories import Kind
from dreamd.pool.language import Tongue

Wordings = tuple[str, ...]


class Topic(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to say in several wordings; `{v}` in them is one of the values."""

    says: Wordings
    kind: Kind = "fact"
    values: Wordings = ("",)


class Sides(Struct, frozen=True, forbid_unknown_fields=True):
    left: Wordings
    right: Wordings


class Corrected(Struct, frozen=True, forbid_unknown_fields=True):
    """`{old}` and `{new}` are one of the pairs."""

    pairs: tuple[tuple[str, str], ...]
    before: Wordings
    correction: Wordings
    after: Wordings


class Noise(Struct, frozen=True, forbid_unknown_fields=True):
    """Texts of others than the human, and frames (`{s}`) in which somebody repeats what was said before."""

    scheduled: Wordings
    injected: Wordings
    subagent: Wordings
    smuggled: Wordings
    pasted: Wordings
    echoed: Wordings
    secrets: Wordings
    quoted: Wordings
    recalled: Wordings


class Filler(Struct, frozen=True, forbid_unknown_fields=True):
    """The day's work and talk: `{a}` to `{f}` in it are drawn from the lists of those names."""

    asks: Wordings
    small: Wordings
    answers: Wordings
    tools: Wordings
    a: Wordings
    b: Wordings
    c: Wordings
    d: Wordings
    e: Wordings
    f: Wordings


class Phrases(Struct, frozen=True, forbid_unknown_fields=True):
    lasting: tuple[Topic, ...]
    figures: tuple[Topic, ...]
    explicit: tuple[Topic, ...]
    bursts: tuple[Topic, ...]
    passing: tuple[Topic, ...]
    unmeant: tuple[Topic, ...]
    opposed: tuple[Sides, ...]
    corrected: tuple[Corrected, ...]
    near: tuple[Sides, ...]
    noise: Noise
    filler: Filler


@lru_cache(maxsize=4)
def phrases(language: Tongue) -> Phrases:
    path = Path(__file__).parent / "phrases" / f"{language}.toml"
    return msgspec.toml.decode(path.read_bytes(), type=Phrases)
