"""Two statements in; whether they say the same, contradict each other, or are two matters out (pure).

Law: likeness is neither sameness nor contradiction. What differs in a number, date, time, name or denial is never the
same; what contradicts speaks of the same thing and gives it another value, or denies it. In doubt they are two matters.
"""

import re
from collections.abc import Iterable
from itertools import chain, filterfalse

from msgspec import Struct

from dreamd.dream.alike import ENOUGH, EXACT, Clauses, alike, handles, nested, readings, slots, weight
from dreamd.dream.bent import opposites, rearranged
from dreamd.dream.in_turn import same_turn
from dreamd.dream.wording import BOUND, CLAUSE, Wording, loose, wording
from dreamd.pool import numerals
from dreamd.pool.remembering import remembering
from dreamd.pool.support import unsupported

SIMILARITY = 0.5  # as in sections.Dream
_DENIES = 0.6  # of a statement's words that its denial must hold


class Same(Struct, frozen=True, tag=True):
    pass


class Different(Struct, frozen=True, tag=True):
    pass


class Adds(Struct, frozen=True, tag=True):
    """They say the same, and one side a detail more, in a clause of its own: whoever says `fuller` says `core` too."""

    core: str
    fuller: str


class Contradicts(Struct, frozen=True, tag=True):
    """`reason` names the number, name or denial."""

    reason: str


SAME, DIFFERENT = Same(), Different()
Verdict = Same | Contradicts | Different | Adds


@remembering(8192)
def compare(left: str, right: str, similarity: float = SIMILARITY) -> Verdict:
    """The same whichever comes first. `similarity` is the overlap from which statements are about the same."""
    a, b = sorted((wording(left), wording(right)), key=lambda one: (one.plain, one.said))
    if a.plain == b.plain or same_turn(a, b):
        return SAME
    if reason := _denies(a, b) or _denies(b, a) or _says_no(a, b):
        return Contradicts(reason)
    found = DIFFERENT if _turned_round(a, b) else _compared(a, b, similarity)
    if found == DIFFERENT:
        return (
            Contradicts("one says the opposite") if _opposed(left, right) else _adds(left, right, similarity)
        )
    return DIFFERENT if found == SAME and rearranged(left, right) else found


def _compared(a: Wording, b: Wording, similarity: float) -> Verdict:
    about_one = alike(a, b, similarity)
    if not about_one and set(a.names) == set(b.names):
        return DIFFERENT  # whatever facts they hold: those are dear to look for
    missing = {*unsupported(a.said, [b.said]), *unsupported(b.said, [a.said])}
    names = {name for name in missing if not _is_value(name) and name in {*a.names, *b.names}}
    if any(map(_is_value, missing)) or _days_differ(a, b):
        return DIFFERENT if names or not about_one else _other_value(a, b)
    if names:
        return _other_name(a, b, names, similarity)
    return _polar(a, b) if about_one else DIFFERENT


def _polar(a: Wording, b: Wording) -> Verdict:
    left, right = _polarity(a, b), _polarity(b, a)
    if left is right is None and _denied_words(a, b) != _denied_words(b, a):
        return DIFFERENT
    if left == right:
        return DIFFERENT if _denies_alone(a, b) or _denies_alone(b, a) else SAME
    opposite = nested(a, b) and {left, right} == {True, False}
    return Contradicts("one denies what the other says") if opposite else DIFFERENT


def _denied_words(one: Wording, other: Wording) -> frozenset[str]:
    """Of what both speak of, what it denies."""
    denied = (loose(words) for words, no in zip(one.clauses, one.denying, strict=True) if no)
    return frozenset(chain.from_iterable(denied)) & loose(other.words)


def _denies_alone(one: Wording, other: Wording) -> bool:
    """It denies something of what the other speaks of, which denies nothing."""
    spoken = (
        loose(clause) & loose(other.words) for clause, no in zip(one.clauses, one.denying, strict=True) if no
    )
    return any(spoken) and not any(other.denying)


def _opposed(left: str, right: str) -> bool:
    """But for a word and its opposite (open, closed) they say the same of the same thing."""
    for one, other in opposites(left, right):
        a, b = wording(one.sub(" ", left)), wording(other.sub(" ", right))
        exact = a.values == b.values and a.names == b.names and any(a.denying) == any(b.denying)
        enough = weight(loose(a.words & b.words)) + EXACT * len(a.values) >= ENOUGH
        if exact and enough and loose(a.words) == loose(b.words):
            return True
    return False


# --- a detail more ---

_LIMITS = re.compile(
    r"\b(?:but|except|unless|only|if|when|while|until|though|although|not|never|no longer|instead|rather)\b|n't\b|但|除|只|仅|如果|要是|除非|虽然|尽管|直到|时候?(?:$|[,，])",
    re.IGNORECASE,
)


def _adds(left: str, right: str, similarity: float) -> Verdict:
    """One has a clause with an exact value or name that the other has not, and without it they are the same.

    What limits the rest ("but not on Mondays", "only if") is more than a detail.
    """
    for core, fuller in ((left, right), (right, left)):
        rest = _without_details(core, fuller)
        if rest and _says_all(rest, core) and compare(core, rest, similarity) == SAME:
            return Adds(core, fuller)
    return DIFFERENT


def _says_all(rest: str, core: str) -> bool:
    words = loose(wording(core).words)
    return bool(words) and words <= loose(wording(rest).words) and not unsupported(core, [rest])


def _without_details(core: str, fuller: str) -> str:
    """The fuller statement without its last clauses, those that hold all it states exactly beyond the core; or ""."""
    if not _CLAUSE_ENDS.search(fuller) or not unsupported(fuller, [core]):
        return ""
    for comma in _CLAUSE_ENDS.finditer(fuller):
        rest, details = fuller[: comma.start()].strip(), fuller[comma.end() :]
        if unsupported(rest, [core]):
            return ""
        if unsupported(details, [core]) and not _LIMITS.search(details):
            return rest
    return ""


_CLAUSE_ENDS = re.compile(r",(?!\d)|[;，；]")


# --- what they state exactly ---

_VALUE = re.compile(r"-{0,3}\d")
_IDENTIFIER = re.compile(
    r"(?:#|\b(?:issue|pr|pull request|ticket|bug|step|chapter|page|line|room|version|section|build|port|number|no\.|nr\.?|item|option|key|"
    r"server|host|node|worker|shard|table|seat|gate|floor|level|phase|sprint|question|task|lesson|figure|slide|test|case|flight|"
    r"train|bus|track|team|group|batch|sample|run|attempt|round|episode|season|volume|part|file|row|column|order|invoice|widget)\s?#?|v)\d"
    r"|\d\s(?:floor|storey|level|terminal|platform)\b|第\s?\d|(?<![月\d])\d+\s?(?:号|房间|路|栋|单元|楼)|(?:编号|序号|订单|工单|航班)\s?\d",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:yesterday|ago|failed|fixed|happened|bought|spent|paid|met|saw|went|finished|merged|closed|was|were|causes?|caused|culprit)\b|原因|昨天|前天|刚才|失败了|修复了|[买花付见去完]了",
    re.IGNORECASE,
)
_IS = re.compile(
    r"\b(?:is|are|'s|remains?|called|named|belongs?|leads?|at|with)\b|是|为|叫|在|由|用", re.IGNORECASE
)


def _is_value(fact: str) -> bool:
    return _VALUE.match(fact) is not None


def _days_differ(a: Wording, b: Wording) -> bool:
    left, right = ({value for value in one.values if value.endswith("day")} for one in (a, b))
    return left != right and bool(left) and bool(right)


def _other_value(a: Wording, b: Wording) -> Verdict:
    """The same thing with another number, date or time; numbers that are names, and events, are two matters."""
    left, right = a.values - b.values, b.values - a.values
    named = any(_numbered(one) or _EVENT.search(one.said) for one in (a, b))
    if not left or not right or named or not nested(a, b):
        return DIFFERENT
    return Contradicts(_or(left, right))


_LOCATED = re.compile(
    r"\b(?:the|our|my|your|his|her|their)\s+\w+(?:\s\w+)?\s+(?:is|are|sits?|stands?)\s+(?:now\s+)?(?:on|in|at)\s+(?:the\s+)?(?:(?:floor|level|room|building|desk)\s)?[#\w]+(?:\s(?:floor|storey|level))?\W*$"
    r"|\bfind\s+(?:the|our|my|your)\s+\w+(?:\s\w+)?\s+(?:on|in|at)\s+(?:the\s+)?(?:(?:floor|level|room|building|desk)\s)?[#\w]+(?:\s(?:floor|storey|level))?\W*$"
    r"|[\u3400-\u9fff]在\s*第?\d+\s*(?:号楼|楼|层|室|教室|房间|号房间?)\W*$",
    re.IGNORECASE,
)


def _numbered(one: Wording) -> bool:
    """Its number is a name of one of many; not where it says where something is, which is in one place."""
    located = len(one.values) == 1 and _LOCATED.search(numerals.plain(one.said))
    return not located and any(map(_IDENTIFIER.search, (one.said, numerals.plain(one.said))))


def _other_name(a: Wording, b: Wording, names: set[str], similarity: float) -> Verdict:
    """What can have one name only has another one; who likes or uses one thing may like another too."""
    left, right = ([name for name in one.names if name in names] for one in (a, b))
    lasts = all(_IS.search(one.said) and not _EVENT.search(one.said) for one in (a, b))
    if len(left) != 1 or len(right) != 1 or not lasts:
        return DIFFERENT
    leaving = wording(left[0]).words | wording(right[0]).words
    if not (a.words - leaving and alike(a, b, similarity, leaving)) or _polarity(a, b) != _polarity(b, a):
        return DIFFERENT
    return Contradicts(_or(left, right))


def _or(left: Iterable[str], right: Iterable[str]) -> str:
    return f"{', '.join(sorted(left))} or {', '.join(sorted(right))}"


# --- denial and direction ---


def _denies(one: Wording, other: Wording) -> str:
    """`not X but Y` against a statement of X: what it denies is the other's, and both speak of one thing."""
    if not one.denied:
        return ""
    denied = wording(one.denied)
    words = (other.words & denied.words) - one.words
    values = (other.values & denied.values) - one.values
    mine = one.words | denied.words
    spoken = max(
        _spoken(mine, other.words, len(values)), _spoken(loose(mine), loose(other.words), len(values))
    )
    if not (words or values) or not other.words or spoken < _DENIES:
        return ""
    return "" if _another(one, other, denied.words) else f"one says it is not {one.denied.strip()}"


_OWN = re.compile(r"\s*(?:i|we|我们?|咱们?)(?![a-z'])", re.IGNORECASE)


def _says_no(a: Wording, b: Wording) -> str:
    """What somebody says of himself in a clause ("I eat fish"), he denies in a clause of the same words.

    Of the rest one side at most speaks of something else, and none says when, for what, or of what.
    """
    left, right = _own_words(a), _own_words(b)
    shared = [words for words in left.keys() & right.keys() if left[words] != right[words]]
    if not shared or any(map(_limited, (a, b))) or a.values != b.values:
        return ""
    besides = [frozenset(filterfalse(handles, loose(one.words) - shared[0])) for one in (a, b)]
    return "" if all(besides) else "one denies what the other says"


def _own_words(one: Wording) -> dict[frozenset[str], bool]:
    """Of clauses in which people speak of themselves: the words, and whether they deny."""
    said = zip(CLAUSE.split(one.said), one.clauses, one.denying, strict=True)
    return {loose(words): no for clause, words, no in said if words and _OWN.match(clause)}


def _limited(one: Wording) -> bool:
    clauses = zip(one.clauses, one.opening, one.pointing, strict=True)
    return any(words and (opens or points) for words, opens, points in clauses) or bool(
        _LIMITS.search(_NO.sub(" ", one.said))
    )


_NO = re.compile(r"\b(?:not|never|no longer)\b|n't\b", re.IGNORECASE)


def _spoken(mine: frozenset[str], others: frozenset[str], values: int) -> float:
    """The share of the others' words, and of values, that are spoken of."""
    return (len(mine & others) + values) / max(len(others) + values, 1)


def _another(one: Wording, other: Wording, denied: frozenset[str]) -> bool:
    """The alpha server is not the beta server: before a word of both stands a word of each."""
    return all(
        _another_read(mine, others, denied | loose(denied))
        for mine, others, _ in readings(one, other, frozenset())
    )


def _another_read(mine: Clauses, others: Clauses, denied: frozenset[str]) -> bool:
    shared = frozenset(chain.from_iterable(mine)) & frozenset(chain.from_iterable(others))
    ours, theirs = (slots(each, shared) for each in (mine, others))
    return any(
        before == BOUND and theirs[before, after] - denied for before, after in ours.keys() & theirs.keys()
    )


def _polarity(one: Wording, other: Wording) -> bool | None:
    """Whether the clauses that speak of what both speak of deny it; None when they are at odds."""
    spoken = [len(other.words & set(clause)) for clause in one.clauses]
    most = max(spoken, default=0)
    found = {denies for count, denies in zip(spoken, one.denying, strict=True) if 2 * count >= most > 0}
    return found.pop() if len(found) == 1 else None


_DIRECTED = re.compile(r"\b(from|to)\s+([a-z]\w+)|([从去到往回])([\u3400-\u9fff]{2})")


def _turned_round(a: Wording, b: Wording) -> bool:
    """From there or to there; one name before the other."""
    ways = [
        {(found[1] or found[3]): (found[0] or found[2]) for found in _DIRECTED.findall(one.said.casefold())}
        for one in (a, b)
    ]
    if any(ways[0][place] != ways[1][place] for place in ways[0].keys() & ways[1].keys()):
        return True
    left, right = (_in_order({*a.names, *b.names}, one.said.casefold()) for one in (a, b))
    listed = any(re.search(r"\band\b|[和与、]", one.said) for one in (a, b))
    return set(left) == set(right) and left != right and not listed


def _in_order(names: Iterable[str], text: str) -> list[str]:
    return sorted((name for name in names if name in text), key=lambda name: (text.find(name), name))
