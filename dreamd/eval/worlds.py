"""A seed in, a world out: what agents and their people said over many days, and what a good memory makes of it.

Law: a world is drawn without regard to how dreamd decides; of five records one is planted, four are the day's work and
talk. The same arguments give the same world.
"""

import random
from pathlib import Path
from typing import Literal

from dreamd.eval.drawing import BEGINNING, Drawing, Moment
from dreamd.eval.phrases import Phrases, phrases
from dreamd.eval.planting import plant_all
from dreamd.eval.truth import World
from dreamd.pool.language import Tongue

Language = Literal["en", "zh", "both"]
FEWEST_DAYS = 12  # six before and six after the change of what changes
_FILLERS = 4  # records of work and talk for each planted one
_TURN_TOOLS = 0.3
_SMALL_TALK = 0.3
_FAILS = 0.15


def world(
    seed: int, days: int = 30, agents: int = 2, language: Language = "both", words: Path | None = None
) -> World:
    """`both` gives every other agent Chinese; `words` is a folder of other wordings. Blocks.

    Raises ValueError below 12 days or one agent, ConfigError for wordings that cannot be used.
    """
    if days < FEWEST_DAYS or agents < 1:
        raise ValueError(f"a world has at least {FEWEST_DAYS} days and one agent")
    tongues: tuple[Tongue, ...] = ("en", "zh") if language == "both" else (language,)
    languages = {f"agent{number + 1}": tongues[number % len(tongues)] for number in range(agents)}
    lives = [_life(seed, days, agent, phrases(tongue, words), tongue) for agent, tongue in languages.items()]
    return World(
        seed=seed,
        first=BEGINNING,
        days=days,
        languages=languages,
        lines=tuple(sorted((line for life in lives for line in life.lines), key=lambda line: line.at)),
        plants=tuple(plant for life in lives for plant in life.plants),
        secrets=tuple(secret for life in lives for secret in life.secrets),
    )


def _life(seed: int, days: int, agent: str, said: Phrases, tongue: Tongue) -> Drawing:
    rng = random.Random(f"{seed}/{agent}/{tongue}")  # noqa: S311 - a world, no key
    life = Drawing(rng, days, agent, said, "" if tongue == "zh" else " ")
    plant_all(life)
    _fill(life)
    return life


def _fill(life: Drawing) -> None:
    """Work and talk on every day, in every task."""
    wanted = _FILLERS * len(life.lines) + len(life.lines)
    moments = [moment for day in range(life.days) for moment in life.tasks(day)]
    while len(life.lines) < wanted:
        for moment in life.some(moments, len(moments)):
            _turn(life, moment)


def _turn(life: Drawing, moment: Moment) -> None:
    filler, rng = life.words.filler, life.rng
    asked = rng.choice(filler.small) if rng.random() < _SMALL_TALK else life.filled(rng.choice(filler.asks))
    begins = life.now(moment)
    life.say(begins, asked)
    if rng.random() < _TURN_TOOLS:
        life.call(begins.after(5), rng.choice(filler.tools), ok=rng.random() > _FAILS)
    life.say(begins.after(20), life.filled(rng.choice(filler.answers)), "assistant")
