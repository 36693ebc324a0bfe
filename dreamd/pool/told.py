"""Whether a person's sentence tells how things are or are to be, beyond the moment, whatever its words (pure, both languages).

The last net, for what no table names: it lets through by shape, and takes back what is an order of the moment, a passing
state, an event, a guess. What it lets through is only a candidate: that somebody says it again, on another day in another
task, is what makes it worth keeping.
"""

import re

from dreamd.pool.cues import DO, FIGURE, ONCE, PAST
from dreamd.pool.remembering import remembering

_I = re.IGNORECASE
_FEWEST_WORDS, _MOST_WORDS = 3, 30
_FEWEST_CHARACTERS, _MOST_CHARACTERS = 4, 40
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_NAME = re.compile(
    r"(?<=[a-z,] )[A-Z][\w-]+|\b[A-Z]{2,}\b|\b\w+[-_]\w*\d\w*|(?<![A-Za-z])[A-Za-z]{3,}(?=[\u3400-\u9fff]|$)"
)

# --- English ---

_MOMENT = re.compile(
    r"\b(?:now|just|still|already|yet|again|today|tonight|yesterday|tomorrow|since|ago|soon|later|currently|right away|back|this (?:morning|week|time|one)|next one|here)\b"
    r"|\b(?:think|guess|seems?|looks? (?:like|good|fine)|feels?|hope|suppose|wonder|sure|sorry|thanks?|try|let me|let's|going to|gonna|will|won't|i'll|we'll|i'd|could you|can you|wait|forgot)\b"
    r"|\b(?:am|is|are|i'm|we're|it's)(?: not)? \w+ing\b|\b(?:have|has|i've|we've) (?:\w+ly )?(?:\w+ed|been|got|gone|done|seen|found|made|written)\b"
    r"|(?<!are )(?<!is )(?<!be )(?<!not )(?<!n't )(?<!get )(?<!gets )(?<!stays )(?<!stay )(?<!remains )(?<!remain )\b(?:\w{3,}(?<!e)ed|said|told|came|broke|found|sent|wrote|saw|forgot|lost|did|didn't)\b"
    r"|\b(?:broken|failing|fails?|crash\w*|errors?|bugs?|typos?|stuck|slow|wrong|missing|late|ready|done|gone)\b",
    _I,
)
_SUBJECT = re.compile(
    r"^(?:(?:if|when|whenever|before|after|for|on|in|at|with|as) [^,]{2,40}, ?)?"
    r"(?:i|we|my|our|the|all|every|each|most|no|any|an? \w+ (?=needs?\b|must\b|has to\b|should\b|costs?\b)|everything (?=we|i)|(?:it|that)(?:'s| is) (?=[$€£]?\d)|you can|[a-z]\w*(?:ing|s)\b|(?-i:[A-Z][\w-]+(?: [A-Z][\w-]+)*)|\w+ \d+)\b",
    _I,
)
_NO_SUBJECT = re.compile(
    rf"^(?:please |you (?:should|must|have to) )?(?:{DO}|rename|find|list|move|look|compare|draft|go|see|take|turn|try|have|get|resize|make|search|prepare|clean|help|pick|bring|watch|reset|update|extend|"
    r"leave|stick|drop|fill|fix|this|that(?!(?:'s| is) [$€£]?\d)|these|those|it(?!(?:'s| is) [$€£]?\d)|he|she|they|there|here|what|who|how|why|which|yes|no,|ok|okay|one|nothing|everything(?! (?:we|i)\b)|something|perfect|fine|great)\b",
    _I,
)
_VERB = re.compile(
    r"(?<=i)'m on\b|(?<=it)'s\b|(?<=that)'s\b|\b(?:is|are|isn't|aren't|has|have|must|should|can|cannot|can't|may|need|needs|do|don't|does|doesn't|never|always|get|gets|take|takes|take place|takes place|use|uses|go|goes|come|comes|"
    r"keep|keeps|live|lives|work|works|pay|pays|cost|costs|want|wants|like|likes|love|loves|prefer|eat|eats|drink|drinks|wear|wears|host|hosts|run|runs|start|starts|end|ends|open|opens|close|closes|"
    r"meet|meets|play|plays|speak|speaks|own|owns|[a-z]{3,}s(?= (?:\d|at|on|in|from|for|to|with|the|every)))\b",
    _I,
)
_OWN = re.compile(r"^(?:[a-z]+ ){0,8}?(?:i|we|my|our|me|us)\b", _I)
_LASTING = re.compile(
    r"\b(?:always|never|every|each|all|only|must|should|as usual|no|without|whenever|by default|best|favou?rite)\b",
    _I,
)
_REQUEST = re.compile(
    r"\b(?:i|we) (?:want|need|would like) (?:an?|the|some|you|to|more|another|it|this|that|one)\b|\bplease$",
    _I,
)

# --- Chinese ---

_ORDERED = re.compile(
    r"^(?:[^,]{2,8}(?:的话|时候),)?(?:请|麻烦|帮|把|给(?!我们?的)|替|让|叫你|查|看|再|找(?!我)|读|加|改|跑|写|发(?!布|版)|打开|打印|列|做|换|删|比较|总结|翻译|试|继续|等|算|先|去(?!\w{2,4}的)|来|走|回|说|讲|别急|这|那|它|他|她|你|今|明|昨|刚|又|好|嗯|行|可以|谢|对|没错)"
)
_PASSING_ZH = re.compile(
    r"今[天晚早]|昨[天晚]|明[天早]|现在|刚[才刚]|正在|已经|马上|一会|待会|稍后|一下|还没|又|突然|觉得|感觉|好像|希望你|我们?(?:想|需)?要(?:一|几|两|这|那|个|份|张|点|看|你)|坏|失败|报错|错误|卡住|不行|不错|很好|真好|了[。!]?$|了,|过了|吧[。!]?$|辛苦|谢谢|再见|问题"
)
_TELLS_ZH = re.compile(
    r"是|有|在|叫|为|用|要|不|都|每|需|能|可以|必须|只|至少|最[多少爱喜好]|喜欢|讨厌|宁愿|爱|习惯|从|到|保[留存持]|开|关|到期|过敏"
)
_WANTED_ZH = re.compile(
    r"^(?:我们?|咱们?|大家)?(?:(?:今天|明天|周末|这次|现在|最近)[^,]{0,4})?(?:想|要|打算|准备|需要)(?![不是法要])"
)


# --- talk about the talk ---

_TALK = re.compile(
    r"\b(?:questions?|topics?|chat\w*|talk(?:ing|ed|s)?|conversation|suggest\w*|advice|advise|recommend\w*|companion|listening to me|meet you|glad to|happy to|interesting|"
    r"feel(?:ing|s)? (?:like|that|so|very|really|a bit|good|bad|better|much)|i (?:know|understand|believe|hope|agree|see|wish|guess)\b|looking forward)\b"
    r"|聊|话题|问题|建议|推荐|分享|谢|有趣|看来|希望(?!你用|你写)|感觉|感到|觉得|认为|相信|知道|明白|理解|遇到|最近|试试|尝试|伴侣|好主意|没错|你说",
    _I,
)
_TO_YOU = re.compile(r"\byou(?:r|rs|'re|'ve|'ll|'d)?\b|[你您]", _I)


_FRAGMENT = re.compile(r"^(?:the |all )?[a-z]+ (?:where|which|whose|who) [^,]+$", _I)


def fragment(text: str) -> bool:
    """Only a name of something: `locations where the modules should go`."""
    return _FRAGMENT.match(text) is not None


def talks(plain: str) -> bool:
    """It speaks of this very conversation, or of how the speaker feels in it."""
    return _TALK.search(plain) is not None


@remembering(2048)
def tells(plain: str) -> bool:
    """`plain` is a sentence as `acts.normal` gives it, no question."""
    text = plain.strip(" .。!;,…")
    if ONCE.search(text) or PAST.search(text) or _TO_YOU.search(text):
        return False
    return _tells_zh(text) if _CHINESE.search(text) else _tells_en(text)


def asks(clause: str) -> bool:
    """A clause that orders or wants something of the moment: `make me a list`, 帮我列清单."""
    if _CHINESE.search(clause):
        return bool(_ORDERED.match(clause) or _WANTED_ZH.match(clause))
    return bool(_NO_SUBJECT.match(clause) or _REQUEST.search(clause))


def _tells_en(text: str) -> bool:
    if not _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS:
        return False
    if _NO_SUBJECT.match(text) or _MOMENT.search(text) or _REQUEST.search(text):
        return False
    shaped = _SUBJECT.match(text) and _VERB.search(text)
    return bool(shaped) and bool(_exact(text) or _OWN.match(text) or _LASTING.search(text))


def _tells_zh(text: str) -> bool:
    if not _FEWEST_CHARACTERS <= len(text) <= _MOST_CHARACTERS:
        return False
    if _ORDERED.match(text) or _PASSING_ZH.search(text):
        return False
    return _exact(text) or _TELLS_ZH.search(text) is not None


def _exact(text: str) -> bool:
    """A figure, a day, a name."""
    return FIGURE.search(text) is not None or _NAME.search(text) is not None
