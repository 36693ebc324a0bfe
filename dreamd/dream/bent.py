"""A statement and what a record says in, whether the statement bends it out: the same words, another matter (pure).

Law: words that all stand in a record do not make a statement true. Who does it to whom, which number is whose, up or
down, perhaps or surely, all or but one, the user or somebody else: where one of these is another one, the record does
not say so. In doubt it is bent: then nobody is told. English and Chinese.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, pairwise

from dreamd.pool.remembering import remembering
from dreamd.pool.similarity import covered, keywords
from dreamd.pool.support import facts

_LEAST = 2  # words in common from which a sentence speaks of the statement
_ALL = 0.8  # of a statement's words that a sentence has when it only puts them in another order
_NEAR = 0.7  # of the words that the nearest sentence has in common: as near as that
_LONGEST = 1000  # characters of a sentence
_MOST_SENTENCES = 60  # of one record that are looked at
_MOST_WORDS = 60  # of a text whose order is looked at
_SENTENCE = re.compile(r"(?:[.!?;](?=\s|$)|[。！？；\n])")
_PIECE = re.compile(
    r"(?:[,;:!?，。；：！？、\n]|\.(?!\w))+|\b(?:and|but|while|whereas)\b|但是?|而(?!不是|非|且)|和(?=[^，。]*\d)",
    re.IGNORECASE,
)


@remembering(2048)
def bent(statement: str, source: str) -> bool:
    """All sentences of the source that speak of it say something else with these words."""
    said = _normal(statement)[:_LONGEST]
    sentences = _speaking(said, source)
    near = _near(said, sentences)
    return bool(near) and (all(_bends(said, one) for one in near) or _misplaced(said, "\n".join(sentences)))


def rearranged(a: str, b: str) -> bool:
    """Two statements have the same words, all of them, for other things: who to whom, which number or name is whose."""
    one, other = _normal(a)[:_LONGEST], _normal(b)[:_LONGEST]
    if _words_of(one) != _words_of(other):
        return False
    return _reversed(one, other) or _misplaced(one, other) or _misplaced(other, one)


def stronger(statement: str, sources: Sequence[str]) -> bool:
    """It says for always, or as settled, what no source says so."""
    said, told = _normal(statement), "\n".join(map(_normal, sources))
    return any(more.search(said) and not enough.search(told) for more, enough in _STRONGER)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").strip()


def _speaking(statement: str, source: str) -> list[str]:
    """The sentences that share a word or figure with it, of a source of any length; a question keeps its mark."""
    words = re.compile("|".join(map(re.escape, _marks(statement))) or r"(?!)")
    found = (one for one in map(_normal, _sentences(source)) if words.search(one.casefold()))
    return [*islice(found, _MOST_SENTENCES)]


def _marks(statement: str) -> list[str]:
    """Beginnings of its words, which stand in all forms of them; Chinese by characters."""
    tokens = _TOKEN.findall(statement.casefold())
    return sorted(
        {token[:4] for token in tokens if not token[0].isascii() or token.isdigit() or keywords(token)}
    )


def _sentences(source: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE.finditer(source):
        yield from _cut(source, start, end.end())
        start = end.end()
    yield from _cut(source, start, len(source))


def _cut(source: str, start: int, end: int) -> Iterator[str]:
    return (source[at : min(at + _LONGEST, end)] for at in range(start, end, _LONGEST))


def _near(statement: str, sentences: Sequence[str]) -> list[str]:
    """The sentences that share most with it."""
    words = keywords(statement) | facts(statement)
    shared = [len(words & (keywords(one) | facts(one))) for one in sentences]
    most = max(shared, default=0)
    if most < min(_LEAST, (len(words) + 1) // 2):
        return []
    return [one for one, count in zip(sentences, shared, strict=True) if count >= max(most * _NEAR, 1)]


def _bends(statement: str, sentence: str) -> bool:
    return (
        _reversed(statement, sentence)
        or _opposite(statement, sentence)
        or _surer(statement, sentence)
        or _wider(statement, sentence)
        or _of_somebody_else(statement, sentence)
    )


# --- who does it to whom ---

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[a-z][\w'-]*|[\u3400-\u9fff]")
_PASSIVE = re.compile(
    r"(.+?)\s(?:is|are|was|were|be|been|being|gets?)\s(?:\w+ly\s)?(\w+)(?:\s(?:to|at|for|of|on))?\sby\s(.+)|(.+?)被(.+?)(?=[\u3400-\u9fff]{2}(?:了|$))(.+)",
    re.IGNORECASE,
)


def _reversed(statement: str, sentence: str) -> bool:
    """Two words stand on the other sides of a third.

    Chinese puts what it speaks of in front: there all of the words must be the same.
    """
    if _CHINESE.search(statement) and covered(statement, sentence) < _ALL:
        return False
    there, here = (_places(_active(text)) for text in (sentence, statement))
    shared = sorted(there.keys() & here.keys(), key=lambda word: there[word])
    return any(
        here[a] > here[pivot] > here[b] and a[0].isdigit() == b[0].isdigit() and _carries(a) and _carries(b)
        for a, pivot, b in combinations(shared, 3)
    )


def _active(text: str) -> str:
    """Who is paid by somebody is whom somebody pays."""
    found = _PASSIVE.fullmatch(text.rstrip(" .!。！"))
    if not found:
        return text
    return f"{found[3]} {found[2]} {found[1]}" if found[2] else f"{found[5]}{found[6]}{found[4]}"


def _places(text: str) -> dict[str, int]:
    """Where the words stand that occur once. Chinese by characters and pairs, for words are not marked."""
    tokens = _TOKEN.findall(text.casefold())[:_MOST_WORDS]
    words = [_stem(token) for token in tokens]
    pairs = [a + b if a[0] > "\u3400" and b[0] > "\u3400" else "" for a, b in pairwise(words)]
    counts = Counter((*words, *pairs))
    return {
        word: at for listed in (words, pairs) for at, word in enumerate(listed) if word and counts[word] == 1
    }


_STRONG = {
    "paid": "pays", "wrote": "writes", "written": "writes", "sent": "sends", "told": "tells", "gave": "gives", "given": "gives",
    "bought": "buys", "sold": "sells", "made": "makes", "built": "builds", "led": "leads", "taught": "teaches", "beat": "beats",
}  # fmt: skip


def _words_of(text: str) -> frozenset[str]:
    return frozenset(map(_stem, _TOKEN.findall(text.casefold())))


def _stem(token: str) -> str:
    token = _STRONG.get(token, token)
    return min(keywords(token), default=token) if token[0].isascii() else token


def _carries(word: str) -> bool:
    if word[0].isascii():
        return word[0].isdigit() or word == "user" or bool(keywords(word))
    return len(word) > 1 and bool(keywords(word))


# --- which number or name is whose ---


def _misplaced(statement: str, source: str) -> bool:
    names = frozenset(one.casefold() for one in _NAME.findall(f"{source} {statement}") if keywords(one))
    parts = list(_pieces(source, names))
    return any(
        _elsewhere(fact, (words | exact) - {fact}, parts)
        for words, exact in _pieces(statement, names)
        for fact in exact
    )


_NAME = re.compile(r"\b[A-Z][a-z]+\b")


def _pieces(text: str, names: frozenset[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """The words of each clause, and its facts; a name is one where it opens the clause too."""
    for piece in _PIECE.split(text):
        yield keywords(piece), facts(piece) | names.intersection(re.findall(r"[a-z]+", piece.casefold()))


def _elsewhere(
    fact: str, around: frozenset[str], parts: Sequence[tuple[frozenset[str], frozenset[str]]]
) -> bool:
    """Wherever the source has it, it stands with another word instead, and this one with another of its kind."""
    homes = [words | exact for words, exact in parts if fact in exact]
    rivals = [
        words | exact
        for words, exact in parts
        if fact not in exact and any(_kind(one) == _kind(fact) for one in exact)
    ]
    theirs = frozenset().union(*rivals) - frozenset().union(*homes)
    return bool(homes) and bool(around & theirs) and all(_owns(home, fact, around) for home in homes)


def _owns(home: frozenset[str], fact: str, around: frozenset[str]) -> bool:
    return bool(home - around - {fact} - keywords(fact))


def _kind(fact: str) -> str:
    if ":" in fact and fact[0].isdigit():
        return "time"
    if fact.startswith("-") or re.fullmatch(r"\d{4}-\d\d.*", fact):
        return "date"
    return "number" if fact[0].isdigit() else "name"


# --- up or down ---

_OPPOSITES = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"\b(?:ros|rises?|risen|rais|increas|grow|grew|climb|went up|up to)\w*|增加|上升|上涨|涨|提高|升|增长", r"\b(?:fall|fell|drop|decreas|lower|reduc|shr[aiu]nk|cut|went down|down to)\w*|减少|下降|下跌|跌|降|缩减"),
        (r"\b(?:above|over|more than|at least|min(?:imum)?|no less)\b|以上|高于|超过|至少|最少|大于", r"\b(?:below|under|less than|at most|max(?:imum)?|no more|up to)\b|以下|低于|不到|至多|最多|小于"),
        (r"\b(?:before|earlier|until)\b|之前|以前|提前", r"\b(?:after|later|since)\b|之后|以后|推迟"),
        (r"\bopen\w*|打开|开放|开启|开门|开着", r"\bclos\w*|关闭|关上|关门|关着"),
        (r"\b(?:pass|succe|work)\w*|通过|成功", r"\b(?:fail|broke|crash)\w*|失败|没通过|崩溃"),
        (r"\b(?:enabl|activ|turn\w* on|switch\w* on)\w*|启用|开启", r"\b(?:disabl|deactiv|turn\w* off|switch\w* off)\w*|禁用|停用|关闭"),
        (r"\b(?:accept|approv|allow|permit)\w*|接受|批准|允许|同意", r"\b(?:reject|refus|declin|forbid|forbade|den(?:y|ied))\w*|拒绝|驳回|禁止|反对"),
        (r"\b(?:faster|quick(?:er|ly)?|short(?:er)?|brief)\b|更快|简短|短", r"\b(?:slow(?:er|ly)?|long(?:er)?|detailed)\b|更慢|详细|长"),
        (r"\b(?:cheap(?:er|est)?|low(?:er|est)?)\b|便宜|低", r"\b(?:expensive|costl(?:y|ier)|high(?:er|est)?)\b|贵|高"),
        (r"\b(?:start|begin|began|add|includ|with|keep|kept)\w*|开始|加上|包括|保留", r"\b(?:stop|end|remov|exclud|without|delet|drop)\w*|停止|结束|去掉|不包括|删除"),
        (r"\b(?:like|love|enjoy|prefer)\w*|喜欢|偏好|爱", r"\b(?:hate|dislike|detest|can't stand)\w*|讨厌|不喜欢|厌恶"),
        (r"\b(?:won|wins?|gain|profit)\w*|赢|盈利", r"\b(?:lost|los[es]\w*|deficit)|输|亏"),
        (r"\b(?:everyone|everybody|everything|all)\b|所有|全部|都", r"\b(?:nobody|no one|nothing|none)\b|没有人|没人|谁也不"),
        (r"\b(?:first|earliest|oldest)\b|最早|第一", r"\b(?:last|latest|newest)\b|最晚|最新|最后"),
        (r"\btrue\b|正确", r"\bfalse\b|错误"),
    )
)  # fmt: skip


def _opposite(statement: str, sentence: str) -> bool:
    return any(
        _other_way(pair, statement, sentence) or _other_way(pair[::-1], statement, sentence)
        for pair in _OPPOSITES
    )


def opposites(left: str, right: str) -> Iterator[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Words of which `left` has the one and `right` the other alone."""
    for pair in _OPPOSITES:
        yield from (
            (one, other) for one, other in (pair, pair[::-1]) if _other_way((one, other), left, right)
        )


def _other_way(pair: Sequence[re.Pattern[str]], statement: str, sentence: str) -> bool:
    one, other = pair
    return (
        bool(one.search(statement) and other.search(sentence))
        and not other.search(statement)
        and not one.search(sentence)
    )


# --- perhaps or surely ---

_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|might|possibly|probably|some ?day|used to|consider(?:ing|ed)?|thinking (?:about|of)|not sure|unsure|wonder(?:ing)?|"
    r"if|unless|almost|nearly|suppos(?:e|ing)|imagine|would have|joking|kidding)\b"
    r"|也许|或许|可能|大概|如果|要是|假如|倘若|除非|考虑|不确定|曾经|差点|几乎|开玩笑|假设",
    re.IGNORECASE,
)
_KEEPS = re.compile(
    rf"{_HEDGE.pattern}|\b(?:when|whenever|once|in case|could|may)\b|[当若]|的?时候?|一旦", re.IGNORECASE
)
_REQUEST = re.compile(
    r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\bwhy (?:not|don't)\b|[能可]以?|请|麻烦|行吗|好吗|可以吗",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\s*[\"')\]]*$")


def _surer(statement: str, sentence: str) -> bool:
    asked = (
        bool(_QUESTION.search(sentence)) and not _QUESTION.search(statement) and not _REQUEST.search(sentence)
    )
    return (asked or bool(_HEDGE.search(sentence))) and not _KEEPS.search(statement)


_STRONGER = tuple(
    (re.compile(more, re.IGNORECASE), re.compile(enough, re.IGNORECASE))
    for more, enough in (
        (
            r"\b(?:always|every ?time|invariably|without exception)\b|总是|每次都|一贯|从来都",
            (r"\b(?:always|every|each|all|usually|generally|whenever|any|never|only|must|remember|from now on|rule|prefer\w*|default|keep|again|in (?:the )?future|habit\w*)\b"
            r"|总|每|一直|一律|都|从不|永远|以后|今后|记住|必须|务必|习惯|规矩|老是|又|只"),
        ),
        (
            r"\b(?:decided|decision|agreed|settled on|chose|committed to)\b|决定|商定|选定|定了",
            (r"\b(?:decid\w*|decision|agree\w*|settl\w*|ch[o]+s\w*|go(?:ing)? (?:with|for)|let's|let us|we(?:'ll| will| are going to)|use|switch\w*|commit\w*|pick\w*|final\w*|plan\w*)\b"
            r"|决定|商定|选|定|就用|就这|改用|采用|同意|用|换"),
        ),
    )
)  # fmt: skip

# --- all, or but one; the user, or somebody else ---

_DROPPED = re.compile(
    r"\b(?:except|excluding|apart from|other than|all but|anything but|unless)\b|除了?|以外|之外",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r"\b(?:only|except|everyone|everybody|everything|nobody|including|exclusively|solely)\b|只有|仅|除了?|所有人|包括",
    re.IGNORECASE,
)


def _wider(statement: str, sentence: str) -> bool:
    added = {word.casefold() for word in _ADDED.findall(statement)} - {
        word.casefold() for word in _words(sentence, _ADDED)
    }
    return bool(added) or bool(_DROPPED.search(sentence) and not _DROPPED.search(statement))


def _words(text: str, pattern: re.Pattern[str]) -> Iterable[str]:
    return pattern.findall(text)


_USER = re.compile(r"^\W*(?:the user|users?|i|we)\b(?!')|^\W*(?:该?用户|我)(?!的)", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?!(?:user|who|which|that|it|this)\b)(?:he|she|my \w+|our \w+|(?:the|a|his|her|their) \w+|[a-z]+)\s(?:really |always |never |still )?(?:likes|prefers|hates|loves|wants|dislikes|insists|enjoys)\b"
    r"|\bthey\s(?:really |always )?(?:like|prefer|hate|love|want|dislike)\b"
    r"|(?:[他她]们?|客户|老板|同事|领导|经理|我(?:的)?(?:[哥姐弟妹妈爸爷奶儿女]\S?|老婆|老公|朋友|同事|老板|客户))\S{0,3}?(?:喜欢|讨厌|偏好|想要|希望|习惯)",
    re.IGNORECASE,
)  # fmt: skip
_MINE = re.compile(
    r"\b(?:i|i'm|i'd|me|we|us|user)\b|(?:^|[，。,])\s*我(?!的?(?:[哥姐弟妹妈爸爷奶儿女]|老婆|老公|朋友|同事|老板|客户))|用户",
    re.IGNORECASE,
)


def _of_somebody_else(statement: str, sentence: str) -> bool:
    """The liking is somebody else's."""
    return bool(_USER.search(statement) and _OTHER.search(sentence)) and not _MINE.search(sentence)
