"""What a statement is about, apart from how it is put: its words in order, its exact values, its names, what it denies (pure).

Politeness, liking and habit are left out of the words ("I prefer", "please", "always", 我喜欢, 请): they say how much, not
what. Exact values are left out too: they are compared exactly, not by likeness. English and Chinese.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from msgspec import Struct

from dreamd.pool import numerals
from dreamd.pool.cues import CHANGES, CHANGES_ZH
from dreamd.pool.remembering import remembering
from dreamd.pool.similarity import keywords, negated
from dreamd.pool.support import facts

BOUND = ""  # stands where a clause begins or ends


class Wording(Struct, frozen=True):
    """`said` is the text without what it denies ("not X but", "instead of X", 不是X); `denied` is that.

    `clauses` are the words of each clause of `said`, in order; `plain` is the whole text without case and punctuation.
    """

    plain: str
    said: str
    denied: str
    clauses: tuple[tuple[str, ...], ...]
    denying: tuple[bool, ...]  # of each clause: it denies, forbids or rejects
    opening: tuple[bool, ...]  # of each clause: it only says when, where or for what
    pointing: tuple[bool, ...]  # of each clause: "that", "it", 这个 stand for something said in another
    values: frozenset[str]
    names: tuple[str, ...]  # in order of appearance

    @property
    def words(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(self.clauses))


@remembering(2048)
def wording(text: str) -> Wording:
    normal = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    kept, denied = _parted(unicodedata.normalize("NFKC", text).replace("’", "'"))
    exact = facts(kept)
    values = frozenset(fact for fact in exact if _VALUE.match(fact)) | _days(kept)
    names = (fact for fact in exact if not _VALUE.match(fact) and not _NO_NAME.fullmatch(fact))
    clauses = CLAUSE.split(kept)
    return Wording(
        plain=" ".join(re.findall(r"\w+", normal)),
        said=kept,
        denied=denied,
        clauses=tuple(map(_words, clauses)),
        opening=tuple(_OPENING.match(clause) is not None for clause in clauses),
        pointing=tuple(_POINTING.search(clause) is not None for clause in clauses),
        denying=tuple(negated(_NO_DENIAL.sub(" ", clause)) for clause in clauses),
        values=values,
        names=tuple(sorted(names, key=lambda name: (kept.casefold().find(name), name))),
    )


CLAUSE = re.compile(r"(?:[,;:!?，。；：！？、\n]|\.(?!\w))+|->|→|\bbut\b|但是?")
_VALUE = re.compile(r"-{0,3}\d")

# --- what it denies ---

_DENIED = re.compile(
    r"(?:^|[,;:.!?—–-]\s*|\band\s+|\bno,?\s+)not\s+(?P<en>[^,.;:!?]+?(?:\.\d+|:\d+)?)(?=,?\s+but\b|[,;:!?]|\.(?!\d)|$)"
    r"|\bnot\s+(?P<but>[^,.;:!?]+?),?\s+but\b"
    r"|\b(?:instead of|rather than|no longer|i was wrong (?:about|with))\s+(?P<instead>[^,.;:!?]+)"
    r"|\brather\s+(?P<rather>[^,.;:!?]+?)\s+than\s+(?P<than>[^,.;:!?]+)"
    r"|(?:宁愿|宁可)(?P<zhkept>[^,。;]+?)[,，]?也不(?:愿意?|要|肯)?(?P<zhover>[^,。;，]+)"
    r"|(?<=prefer )(?P<kept>[^,.;:!?]+?)\s+(?:over|to)\s+(?P<over>[^,.;:!?]+?)(?=\s+(?:for|in|on|when|if|as|at)\b|[,.;:!?]|$)"
    rf"|\b(?:{CHANGES})\b[^,.;:!?]*?\bfrom\s+(?P<was>[^,;!?]+?)(?=\s+to\b)"
    r"|(?:而不是|并不是|(?<!是)不是|并非|而非|不再是)(?P<zh>[^,，。；;：:!！?？]+?)(?=而是|[,，。；;：:!！?？]|$)"
    rf"|[从由](?P<since>[^,，。；;]+?)(?=(?:{CHANGES_ZH})(?:成|为|到|至))",
    re.IGNORECASE,
)  # fmt: skip


def _parted(text: str) -> tuple[str, str]:
    """The text without what it denies, and what it denies."""
    denied: list[str] = []

    def take(match: re.Match[str]) -> str:
        parts = match.groupdict()
        kept = next(filter(None, (parts.pop(name) for name in ("kept", "rather", "zhkept"))), "")
        denied.extend(part for part in parts.values() if part)
        return kept or " , "

    kept = _DENIED.sub(take, text)
    return (kept, " ; ".join(denied)) if re.search(r"\w\w", kept) else (text, "")


_NO_DENIAL = re.compile(
    r"\b(?:not|no)\s+(?:\w+\s+){0,2}?(?:more|less|over|later|earlier|longer)\s+than\b|没[^,，。]{1,12}?[就前]?不[要能准许可]?",
    re.IGNORECASE,
)  # a limit; a condition said by two denials

_OPENING = re.compile(
    r"\s*(?:in|on|at|for|with|when|whenever|if|while|during|before|after|as|since|because|every)\b|.*(?:时候?|[之以]?[前后]|里|上|中)\s*$|\s*(?:如果|当|要是|每次|因为)",
    re.IGNORECASE,
)

_POINTING = re.compile(
    r"\b(?:that|this|it|them|these|those)(?:\s+(?:is|was|are)\b|'s\b|\W*$)|[这那][个些]\W*$|它", re.IGNORECASE
)

# --- its words ---

_LIGHT = re.compile(
    r"\b(?:prefer(?:s|red|ence)?|likes?|liked|loves?|enjoys?|wants?|wanted|hates?|dislikes?|can(?:'t|not) stand|please|always|usually|often|frequently|regularly|generally|"
    r"normally|really|ever|never|remember|keep in mind|note that|from now on|in (?:the )?future|going forward|make sure|again|still|actually|"
    r"correction|as (?:usual|always|before|i keep saying|i said)|best|better|instead|rather|easier|easy|where possible|if possible|whenever possible|like the others?|favou?rite|name(?:d| is)?|called|could|(?:at any )?time|day(?= of| is|$)|date(?= of| is|$)|takes? place|stays?|remains?|should|must|now|do(?:es)?n't|don't|not|no longer|avoid|"
    r"that's wrong|sorry|exactly|sharp|in all|too|need to|have to|want to|at all|want it|need it|let's|ones?|us(?:es?|ed|ing)|choos(?:es?|ing)|chosen|picks?|takes?|taken)\b"
    r"|最?(?:喜欢|偏好|偏爱|讨厌)|记住|记得|以后|今后|从现在起|一直|一般|总是|经常|常常|时常|平时|通常|往往|从来|从不|每次|习惯|尽量|还是|比较|更加?|不要|别再?|不|没有?|一律|必须|务必|一定|"
    r"其实|更正|说过了|注意|请|应该|我们|咱们|可以|能(?!力|量)|最好|随时|宁愿|宁可|天天|每天|照常|尽可能|跟别的一样|名字|只|着|坚持|整个|一点|一下|因为|由于|所以|这次|的话|一共|总共|安排|先|[吧啊呢要很太再用选]",
    re.IGNORECASE,
)  # fmt: skip
_DAYS_AND_MONTHS = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    r"aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DAY_NAME = re.compile(_DAYS_AND_MONTHS)
_NO_NAME = re.compile(rf"{_DAYS_AND_MONTHS}|[\u3400-\u9fff]|时候")  # 寄 in 寄快递, 时候 in 的时候快递
_WEEKDAY = re.compile(
    r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)([一二三四五六日天])", re.IGNORECASE
)
_TIMES = re.compile(
    r"(?:周|星期|礼拜)[一二三四五六日天]|\d+(?:[:.,]\d+)*\s*(?:[ap]\.?m\b|[年月日号點点分半]+)?|上午|下午|早上(?=\d)|晚上(?=\d)|[以之]?前"
)
_TOKEN = re.compile(r"[a-z0-9][a-z0-9'_-]*|[\u3400-\u9fff]+|[\u30a1-\u30fa\u30fc]{2,}")
_SHORT = 5  # letters: longer ones lose an -ic, so that allergic is allergy
_EMPTY = re.compile(r"[的了是在和与及或也都就被把让给对从到我你他她它们这那个吗么]")


def _words(clause: str) -> tuple[str, ...]:
    plain = numerals.plain(numerals.plain_dates(_LIGHT.sub(" ", clause.casefold())))
    return tuple(chain.from_iterable(map(_word, _TOKEN.findall(_TIMES.sub(" ", plain)))))


def _word(token: str) -> Iterator[str]:
    """English ones cut to their stem, Chinese as pairs of neighbouring characters."""
    if is_chinese(token):
        for run in _EMPTY.split(token):
            yield from map("".join, pairwise(run)) if run[1:] else run
    elif not _DAY_NAME.fullmatch(token):
        yield from sorted(word.removesuffix("ic") if len(word) > _SHORT else word for word in keywords(token))


def loose(words: Iterable[str]) -> frozenset[str]:
    """The words, Chinese ones by single characters."""
    return frozenset(chain.from_iterable(word if is_chinese(word) else (word,) for word in words))


def is_chinese(word: str) -> bool:
    return "\u3400" <= word[0] <= "\u9fff"


def _days(text: str) -> frozenset[str]:
    found = _WEEKDAY.findall(text)
    return frozenset(f"{english.lower()}day" if english else _DAYS[chinese] for english, chinese in found)


_DAYS = dict(zip("一二三四五六日天", ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "sunday"), strict=True))  # fmt: skip
