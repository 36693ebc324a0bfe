"""What people of a language say, from its file in `phrases/`: a language in, wordings by what they are to show out."""

import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from dreamd.errors import ConfigError
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


SHIPPED = Path(__file__).parent / "phrases"


@lru_cache(maxsize=8)
def phrases(language: Tongue, over: Path | None = None) -> Phrases:
    """The shipped ones; what the file of that language in the folder `over` has stands in their place.

    Raises ConfigError when that file cannot be read or says something else.
    """
    shipped = tomllib.loads((SHIPPED / f"{language}.toml").read_text(encoding="utf-8"))
    try:
        own = tomllib.loads((over / f"{language}.toml").read_text(encoding="utf-8")) if over else {}
        return msgspec.convert(shipped | own, Phrases)
    except OSError as error:
        raise ConfigError(f"cannot read {over}/{language}.toml: {error.strerror}", hint=_HINT) from error
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigError(f"{over}/{language}.toml: {error}", hint=_HINT) from error


_HINT = f"see {SHIPPED}"
