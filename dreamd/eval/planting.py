"""What is planted into a life, one function a sort: each says it at its moments and notes what must come of it."""

import re
import string
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from dreamd.eval.drawing import Drawing, Moment
from dreamd.eval.phrases import Topic
from dreamd.eval.truth import Plant, Sort, Verdict

_FOR_LATER = re.compile(
    r"remember|in mind|from now on|always|never|every|lesson|as i keep saying"
    r"|记住|记得|以后|一律|从来|从不|总是|一直|每次|注意|教训|规矩|别忘|说过",
    re.IGNORECASE,
)
_KEYS = string.ascii_letters + string.digits


def plant_all(life: Drawing) -> None:
    """In a fixed order, so that a seed draws the same world."""
    topics = life.some(life.words.lasting, len(life.words.lasting))
    figures = life.some(life.words.figures, len(life.words.figures))
    for topic in topics[:5]:
        _lasting(life, topic, "lasting")
    for topic in figures[:3]:
        _lasting(life, topic, "figure")
    for topic in topics[5:7]:
        _single_task(life, _unasked(topic))
    for topic in topics[7:10]:
        _copies(life, _unasked(topic))
    for several in (_explicit, _bursts, _passing, _unmeant, _opposed, _corrected, _near):
        several(life)
    for several in (_scheduled, _smuggled, _secrets):
        several(life)


class Truth(NamedTuple):
    sort: Sort
    verdict: Verdict
    exact: str = ""
    name: str = ""
    other: str = ""


def _note(life: Drawing, truth: Truth, ids: Sequence[str], says: Sequence[str]) -> None:
    name = truth.name or f"{life.agent}/{truth.sort}-{len(life.plants)}"
    plant = Plant(
        name=name, sort=truth.sort, agent=life.agent, verdict=truth.verdict, memory_ids=tuple(ids), says=tuple(says),
        exact=truth.exact, other=truth.other,
    )  # fmt: skip
    life.plants.append(plant)


def _wordings(life: Drawing, topic: Topic, least: int, most: int | None = None) -> tuple[str, list[str]]:
    """A value of the topic and some of its wordings with it."""
    value = life.rng.choice(topic.values)
    return value, [opened(text.format(v=value)) for text in life.some(topic.says, least, most)]


def _unasked(topic: Topic) -> Topic:
    """Without the wordings that ask to be remembered: of those, one would be enough."""
    return replace(topic, says=tuple(text for text in topic.says if not _FOR_LATER.search(text)))


def opened(sentence: str) -> str:
    """With a capital where the sentence opens with a value."""
    return sentence[:1].upper() + sentence[1:]


def _told(life: Drawing, moments: Sequence[Moment], says: Sequence[str]) -> list[str]:
    return [life.tell(moment, text) for moment, text in zip(moments, says, strict=True)]


# --- what must be kept ---


def _lasting(life: Drawing, topic: Topic, sort: Sort) -> None:
    value, says = _wordings(life, topic, 2, 6)
    says = says[: life.days]
    _note(life, Truth(sort, "must", value), _told(life, life.moments(len(says)), says), says)


def _explicit(life: Drawing) -> None:
    for topic in life.some(life.words.explicit, 2):
        value, says = _wordings(life, topic, 1)
        _note(life, Truth("explicit", "must", value), _told(life, life.moments(1), says), says)


# --- what must not ---


def _single_task(life: Drawing, topic: Topic) -> None:
    """A task that goes on for days, or one sitting."""
    _, says = _wordings(life, topic, 2, 4)
    days = life.moments(len(says)) if life.rng.random() < 0.5 else life.moments(1) * len(says)  # noqa: PLR2004
    moments = [Moment(moment.day, days[0].task) for moment in days]
    _note(life, Truth("single_task", "never"), _told(life, moments, says), says)


def _copies(life: Drawing, topic: Topic) -> None:
    """One message, and then only what repeats it: forks and resends, quotations, the assistant's memory."""
    _, (text,) = _wordings(life, topic, 1)
    noise = life.words.noise
    first, *later = life.moments(life.rng.randint(3, 5))
    ids = [life.say(first, text)]
    how = life.rng.choice(("fork", "quoted", "recalled"))
    for moment in later:
        if how == "fork":
            ids.append(life.say(moment, text))
        elif how == "quoted":
            ids.append(life.say(moment, life.rng.choice(noise.quoted).format(s=text)))
        else:
            ids.append(life.say(moment, life.rng.choice(noise.recalled).format(s=text), "assistant"))
    _note(life, Truth("copy", "never"), ids, [text])


def _bursts(life: Drawing) -> None:
    for topic in life.some(life.words.bursts, 3):
        _, says = _wordings(life, topic, 2, 4)
        day = life.rng.randrange(life.days)
        moments = [life.moment(day) for _ in says]
        _note(life, Truth("burst", "never"), _told(life, moments, says), says)


def _passing(life: Drawing) -> None:
    for topic in life.some(life.words.passing, 4):
        _, says = _wordings(life, topic, 1)
        _note(life, Truth("passing", "never"), _told(life, life.moments(1), says), says)


def _unmeant(life: Drawing) -> None:
    for topic in life.some(life.words.unmeant, 3):
        _, says = _wordings(life, topic, 2, 3)
        ids = [life.say(moment, text) for moment, text in zip(life.moments(len(says)), says, strict=True)]
        _note(life, Truth("unmeant", "never"), ids, says)


# --- two that belong together ---


def _opposed(life: Drawing) -> None:
    """The first side is said twice or more, the other later, once or more: neither may be lost."""
    for sides in life.some(life.words.opposed, 1):
        left, right = life.some(sides.left, 2, 3), life.some(sides.right, 1, 3)
        half = life.days // 2
        name = f"{life.agent}/opposed-{len(life.plants)}"
        for side, other, says, moments in (
            ("left", "right", left, life.moments(len(left), 0, half)),
            ("right", "left", right, life.moments(len(right), half)),
        ):
            asked = any(map(_FOR_LATER.search, says))
            verdict: Verdict = "may" if asked or len(says) > 1 else "never"
            truth = Truth("opposed", verdict, name=f"{name}-{side}", other=f"{name}-{other}")
            _note(life, truth, _told(life, moments, says), says)


def _corrected(life: Drawing) -> None:
    for topic in life.some(life.words.corrected, 1):
        old, new = life.rng.choice(topic.pairs)
        before = [text.format(old=old) for text in life.some(topic.before, 2, 3)]
        after = [life.rng.choice(topic.correction).format(old=old, new=new)]
        after += [text.format(new=new) for text in life.some(topic.after, 1, 2)]
        half = life.days // 2
        name = f"{life.agent}/corrected-{len(life.plants)}"
        told = _told(life, life.moments(len(before), 0, half), before)
        _note(life, Truth("corrected", "may", old, f"{name}-old", f"{name}-new"), told, before)
        told = _told(life, life.moments(len(after), half), after)
        _note(life, Truth("correction", "must", new, f"{name}-new", f"{name}-old"), told, after)


def _near(life: Drawing) -> None:
    for sides in life.some(life.words.near, 2):
        name = f"{life.agent}/near-{len(life.plants)}"
        for side, other, says in (("left", "right", sides.left), ("right", "left", sides.right)):
            told = _told(life, life.moments(len(says)), life.some(says, len(says)))
            _note(life, Truth("near", "must", name=f"{name}-{side}", other=f"{name}-{other}"), told, says)


# --- what nobody said to be kept ---


def _scheduled(life: Drawing) -> None:
    """The same on many days, by timers, harnesses and other agents."""
    noise = life.words.noise
    for texts, speak in (
        (noise.scheduled, partial(life.say, origin="scheduled")),
        (noise.injected, partial(life.say, origin="injected")),
        (noise.subagent, partial(life.say, origin="subagent")),
    ):
        text = life.rng.choice(texts)
        ids = [speak(moment, text) for moment in life.moments(life.rng.randint(3, 6))]
        _note(life, Truth("scheduled", "never"), ids, [text])


def _smuggled(life: Drawing) -> None:
    for text in life.some(life.words.noise.smuggled, 2):
        ids = list(
            chain.from_iterable(_read(life, moment, text) for moment in life.moments(life.rng.randint(3, 5)))
        )
        _note(life, Truth("smuggled", "never"), ids, [text])


def _read(life: Drawing, moment: Moment, text: str) -> list[str]:
    """A tool returns it, the assistant tells of it, or the human pastes it and asks."""
    noise, tools = life.words.noise, life.words.filler.tools
    how = life.rng.randrange(3)
    if how == 0:
        return [life.say(moment, life.rng.choice(noise.pasted).format(s=text))]
    read = [
        life.call(moment, life.rng.choice(tools), ok=True, result=text),
        life.say(moment, text, "tool", "tool"),
    ]
    return (
        read
        if how == 1
        else [*read, life.say(moment, life.rng.choice(noise.echoed).format(s=text), "assistant")]
    )


def _secrets(life: Drawing) -> None:
    """A key that the human gives on several days."""
    secret = "sk-" + "".join(life.rng.choices(_KEYS, k=40))
    says = [text.format(s=secret) for text in life.words.noise.secrets]
    life.secrets.append(secret)
    _note(life, Truth("secret", "never"), _told(life, life.moments(len(says)), says), says)
