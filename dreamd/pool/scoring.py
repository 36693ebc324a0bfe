"""A raw memory in; how much it is worth dreaming of out, with the reasons, by rules alone (pure).

What counts for it: figures and promises, preferences, corrections, decisions, failures and outcomes, novelty. What
counts against it: repetition and the noise of interfaces. Whose words they are decides first: what no person and no
agent said in a person's turn scores 0.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from dreamd.memories import Memory
from dreamd.pool import cues
from dreamd.pool.acts import Act, acts, normal

_LOOKED_AT = 4_000  # characters of an agent's words
_LEAST = 12  # characters with something to say, of which a Chinese one counts for three
_LOOKED_AT_FOR_WEIGHT = 60  # characters
_CERTAIN_OVER = 0.5  # a score from which no second opinion is needed

# what each reason is worth; the sum is clamped to 0..1
_WORTH = {
    "the human's words": 0.2,
    "an agent's words": 0.1,
    "told to remember": 0.8,
    "preference": 0.5,
    "rule": 0.5,
    "correction": 0.45,
    "decision": 0.45,
    "promise": 0.45,
    "lesson": 0.45,
    "fact": 0.4,
    "budget": 0.4,
    "manner": 0.2,
    "hurry": 0.2,
    "usual": 0.4,
    "habit": 0.3,
    "statement": 0.25,
    "told": 0.25,
    "failure": 0.3,
    "outcome": 0.15,
    "figures": 0.15,
    "new": 0.05,
    "repeated": -0.15,
    "interface noise": -0.6,
    "says little": -0.2,
}
_NOISE = re.compile(
    r"\s*(?:(?:the )?user (?:clicked|pressed|opened|closed|scrolled|typed|selected|hovered|navigated|tapped)\b.*|(?:clicked|pressed|scrolled|tapped|hovered)\b.*"
    r"|(?:用户|使用者)?(?:点击|按下|打开|关闭|滚动|选择|切换|输入|悬停)了?.{0,12}(?:按钮|页面|窗口|标签|菜单|选项|输入框|链接|图标).*"
    r"|(?:loading|please wait|page loaded|connected|disconnected|typing|thinking)[.… ]*|正在加载.*|加载中.*|页面已?加载.*"
    r"|\[(?:image|request interrupted|no response|file|attachment|tool)[^\]]*\]"
    r"|(?:ok(?:ay)?|yes|no|yep|sure|thanks|thank you|thx|great|good|nice|cool|continue|go on|go ahead|next|done|hi|hello|hey|bye|lgtm|test|ping)[.!?~ ]*"
    r"|(?:好的?|可以|行|嗯+|对|是的|谢谢|多谢|继续|下一个|你好|您好|再见|收到|明白|知道了|哈+|测试)[。！!~. ]*|[\W\d_]*)",
    re.IGNORECASE,
)


class Score(Struct, frozen=True):
    """`value` is 0..1. Not `decided`: the rules found nothing that speaks for it, and nothing against it either."""

    value: float
    reasons: tuple[str, ...]
    decided: bool


class Novelty:
    """What was said before. `score` only asks it; whoever scores a sequence notes each memory after its score."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = {_folded(text) for text in known}

    def note(self, text: str) -> None:
        self._known.add(_folded(text))

    def has(self, text: str) -> bool:
        return _folded(text) in self._known


def scores(memories: Iterable[Memory], known: Iterable[str] = ()) -> list[Score]:
    """The score of each, in order; a memory that says what an earlier one said is a repetition."""
    seen = Novelty(known)
    found: list[Score] = []
    for memory in memories:
        found.append(score(memory, seen))
        seen.note(memory.content)
    return found


def score(memory: Memory, seen: Novelty) -> Score:
    """Depends on nothing but the memory and what was seen; the reasons are from a closed list, the weightiest first."""
    if memory.role == "tool":
        return _of_tool(memory)
    if memory.origin != "human" or memory.role not in ("user", "assistant"):
        return Score(0.0, ("not said in a human's turn",), decided=True)
    if not memory.content.strip():
        return Score(0.0, ("empty",), decided=True)
    by_human = memory.role == "user"
    reasons = [
        "the human's words" if by_human else "an agent's words",
        *(_acted(acts(memory.content)) if by_human else ()),
        *_worded(memory.content[:_LOOKED_AT]),
        "repeated" if seen.has(memory.content) else "new",
    ]
    return _summed(reasons)


def _of_tool(memory: Memory) -> Score:
    """A tool's output is no statement; that it failed is worth a look, and how it went is decided by no words."""
    if memory.ok is False:
        return Score(_WORTH["failure"], ("failure",), decided=True)
    return Score(0.05, ("a tool's record",), decided=True)


def _acted(found: Iterable[Act]) -> Iterable[str]:
    for act in found:
        yield act.cue
        if act.explicit:
            yield "told to remember"
        if act.corrects:
            yield "correction"


def _worded(text: str) -> Iterable[str]:
    plain = normal(text)
    if _NOISE.fullmatch(plain):
        yield "interface noise"
    elif _weight(plain) < _LEAST:
        yield "says little"
    if outcome := cues.OUTCOME.search(plain):
        yield "failure" if cues.FAILURE.match(outcome[0]) else "outcome"
    if cues.EXACT.search(plain):
        yield "figures"


def _weight(text: str) -> int:
    return sum(3 if char >= "\u3400" else 1 for char in text[:_LOOKED_AT_FOR_WEIGHT] if char.isalnum())


def _summed(reasons: Iterable[str]) -> Score:
    once = sorted(dict.fromkeys(reasons), key=lambda reason: -abs(_WORTH[reason]))
    value = min(1.0, max(0.0, sum(_WORTH[reason] for reason in once)))
    noise = "interface noise" in once
    little = "says little" in once
    return Score(round(value, 3), tuple(once), decided=noise or little or value >= _CERTAIN_OVER)


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
