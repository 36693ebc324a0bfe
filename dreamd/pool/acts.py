"""A person's message in; what the person does in it out: prefers, rules, corrects, decides, promises, tells (pure).

Law: a statement is a piece of its quote, and its quote a piece of the message, word for word. Questions, suppositions,
hearsay, pastime, requests to write something, code and logs do nothing here. English and Chinese.
"""

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dreamd.memories import Kind
from dreamd.pool import circumstances, cues, plainly
from dreamd.pool.orders import stands
from dreamd.pool.redaction import redacted
from dreamd.pool.remembering import remembering
from dreamd.pool.similarity import keywords
from dreamd.pool.stated import sentences
from dreamd.pool.told import asks, fragment, talks, tells

Cue = Literal[
    "told to remember", "rule", "preference", "lesson", "correction", "decision", "promise", "budget", "fact", "manner",
    "hurry", "usual", "habit", "statement", "told",
]  # fmt: skip
_KINDS: dict[Cue, Kind] = {
    "told to remember": "fact",
    "rule": "preference",
    "preference": "preference",
    "lesson": "lesson",
    "correction": "decision",
    "decision": "decision",
    "promise": "decision",
    "budget": "fact",
    "fact": "fact",
    "manner": "behaviour",
    "hurry": "behaviour",
    "usual": "preference",
    "habit": "preference",
    "statement": "fact",
    "told": "fact",
}
_PASSING: tuple[Cue, ...] = ("hurry", "correction", "told")
_HABITUAL = re.compile(  # how somebody is, not how he wants it now
    r"\b(?:usually|often|normally|mostly|typically|generally|tend to|always|never|rarely|hardly ever|every)\b|通常|经常|一般|往往|平时|每|总是|常常|老是|从不|从来不",
    re.IGNORECASE,
)
_OF_NOW = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|recently|lately|these days|just now|so far|going to|plan(?:ning)? to|about to|this (?:week|month|morning|evening|weekend))\b"
    r"|今天|今晚|明天|昨天|最近|正在|刚才|刚刚|这几天|这段时间|这周|打算|准备|计划",
    re.IGNORECASE,
)
_DATED: tuple[Cue, ...] = (
    "statement",
    "habit",
    "usual",
    "manner",
    "promise",
    "budget",
    "rule",
)  # may be of now
_APPLICABLE = ("preference", "lesson", "behaviour")  # kinds that hold in a situation
_ONLY_LASTING: tuple[Cue, ...] = (
    "usual",
    "habit",
    "statement",
    "told",
)  # nothing to keep when said of the moment


class Act(Struct, frozen=True, kw_only=True):
    """One sentence of a person that does something.

    `quote` is the sentence as it stands, `statement` the part of it that says it, on one line. `what` is what a
    preference is about. `explicit`: said on purpose for later. `corrects`: it puts something right. `passing`: of the
    moment, as far as one can tell before it is said again.
    """

    cue: Cue
    kind: Kind
    quote: str
    statement: str
    explicit: bool = False
    corrects: bool = False
    passing: bool = False
    applies_when: str = ""
    what: str = ""


@remembering(2048)
def acts(text: str) -> tuple[Act, ...]:
    """What the author of the text does in it, in order: at most one act a sentence."""
    found: list[Act] = []
    last = ""
    for sentence in sentences(text):
        act = _pointing_back(sentence, last) or _act(sentence)
        if act:
            found = [*found[:-1], act] if found and found[-1].quote == act.quote else [*found, act]
        last = sentence
    return tuple(found)


def corrects(text: str) -> bool:
    """The author puts something right: "no, use X", "not X but Y", "actually", 不对, 改成..."""
    return any(cues.CORRECTION.search(plain := normal(one)) and _stated(plain) for one in sentences(text))


# --- a sentence as the tables read it ------------------------------------------------------------------------------

_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    0x3000: 0x20,
    0x0A: 0x20,
    0x0D: 0x20,
    0x09: 0x20,
}
_SIMPLE = dict(zip(
    "討紅歡厭記預對過請後從現總習慣別決應錯們說這個時發買會為嗎麼還實際換採選確訓敗結壞點聽話讓給觀喜無論據嚴戶專類題變愛傾們許準幾樣並當書寫譯潤飾錢經費緊張節約開資",
    "讨红欢厌记预对过请后从现总习惯别决应错们说这个时发买会为吗么还实际换采选确训败结坏点听话让给观喜无论据严户专类题变爱倾们许准几样并当书写译润饰钱经费紧张节约开资",
    strict=True,
))  # fmt: skip
_AS_READ = str.maketrans(
    _WIDTH
    | {ord(one): other for one, other in _SIMPLE.items()}
    | {ord("’"): "'", ord("‘"): "'", ord("、"): ","}
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|《[^》]*》|`[^`]*`|(?<!\w)'[^']{2,}'(?!\w)")


def normal(sentence: str) -> str:
    """As long as `sentence`: plain punctuation, simplified characters; what stands in quotes is blanked."""
    plain = sentence.translate(_AS_READ)
    return _QUOTED.sub(lambda match: "_" * len(match[0]), plain)


def _stated(plain: str) -> bool:
    return not cues.NOT_STATED.search(plain)


# --- remember this ---------------------------------------------------------------------------------------------------

_CHINESE = re.compile(r"[\u3400-\u9fff]{4}")


def _pointing_back(sentence: str, last: str) -> Act | None:
    """`I moved to Berlin. Remember this.`: the sentence before is what is to be kept."""
    plain = normal(sentence)
    call = cues.MEMORY_CALL.match(plain)
    if not call or keywords(plain[call.end() :]) or not _pointed_at(last):
        return None
    act = _act(last) or _made("told to remember", last, normal(last), 0)
    if act and cues.ONCE.search(normal(last)):
        return None
    return replace(act, explicit=True, passing=False) if act and keywords(last) else None


def _pointed_at(sentence: str) -> bool:
    plain = normal(sentence)
    names = len(keywords(plain)) >= _NAMED and not asks(plain)
    return bool(cues.STATED.search(plain) or _CHINESE.search(plain) or names) and _stated(plain)


def _told(sentence: str, plain: str) -> Act | None:
    """`Remember: I am allergic to peanuts.` What follows is an act of its own kind, and explicit."""
    call = cues.MEMORY_CALL.match(plain)
    if not call:
        return None
    rest = plain[call.end() :]
    mark = (call["mark"] or "").strip()
    marked = (mark and mark != ",") or call["that"] or call["zhmark"] is not None
    if (
        not keywords(rest)
        or not (marked or cues.STATED.search(rest))
        or rest.startswith(("to ", "when ", "how ", "the time"))
    ):
        return None
    act = _sorted(sentence, plain, call.end()) or _made("told to remember", sentence, plain, call.end())
    kept = not cues.ONCE.search(rest)
    return replace(act, explicit=kept, passing=act.passing and not kept) if act else None


# --- one sentence ----------------------------------------------------------------------------------------------------


def _act(sentence: str) -> Act | None:
    plain = normal(sentence)
    act = _told(sentence, plain) or _sorted(sentence, plain, _filler(plain))
    return None if act is None or redacted(sentence) or not _stated(plain) else act


def _sorted(sentence: str, plain: str, start: int) -> Act | None:
    """The first cue of the sentence, in the order of what a reader must not miss."""
    rest = plain[start:]
    cue = _cue(rest) or (_cue(plain) if start else None)
    corrects = cues.CORRECTION.search(plain) is not None
    if cue in (None, "told") and corrects and cues.REPLACED.search(rest):
        cue = "correction"
    made = _made(cue, sentence, plain, start) if cue else None
    return replace(made, corrects=corrects) if made else None


def _cue(text: str) -> Cue | None:
    return next((cue for cue, shows in _SHOWS if shows(text)), None)


def _rule(rest: str) -> bool:
    return bool(cues.FOR_LATER.search(rest) or cues.RULE.search(rest))


def _promise(rest: str) -> bool:
    return bool(cues.PROMISE.search(rest) and cues.FIGURE.search(rest) and not cues.DONE.search(rest))


def _preference(rest: str) -> bool:
    """What is preferred must be named: not "I love to"."""
    found = cues.PREFERENCE.search(rest)
    return found is not None and bool(keywords(found[found.lastgroup or 0]))


def _fact(rest: str) -> bool:
    return bool(
        circumstances.FACT.search(rest)
        or (circumstances.FIGURED_FACT.search(rest) and cues.FIGURE.search(rest))
    )


def _found(pattern: cues.Pattern) -> Callable[[str], bool]:
    return lambda rest: pattern.search(rest) is not None


def _lasting(pattern: cues.Pattern) -> Callable[[str], bool]:
    return lambda rest: pattern.search(rest) is not None and not cues.PAST.search(rest)


# what it is about is pointed at, or wanted once: "I love it", 我要一份摘要
_POINTED = re.compile(
    r"\b(?:to|it|this|that|these|those|them|one)[.! ]*$|\bforget\b|(?:这[个些样里]|那[个些样里]|它们?|忘)[。!,]|(?:这[个些样里]|那[个些样里]|它们?)$|要一?[份个张杯下些点条]",
    re.IGNORECASE,
)


def _named_and_told(rest: str) -> bool:
    return (tells(rest) or stands(rest)) and not _points_away(rest)


def _points_away(rest: str) -> bool:
    """What is pointed at stands in no clause before it."""
    clause = re.split(r"[,;]", rest)[0]
    return _POINTED.search(rest) is not None and (clause == rest or len(keywords(clause)) < _NAMED)


_NAMED = 2  # words of a clause that names something


_SHOWS: tuple[tuple[Cue, Callable[[str], bool]], ...] = (
    ("lesson", _found(cues.LESSON)),
    ("budget", _found(circumstances.BUDGET)),
    ("preference", _preference),
    ("decision", _found(cues.DECISION)),
    ("rule", _rule),
    ("promise", _promise),
    ("fact", _fact),
    ("hurry", _found(circumstances.HURRY)),
    ("manner", _found(circumstances.MANNER)),
    ("usual", _found(plainly.USUAL)),
    ("habit", _lasting(plainly.HABIT)),
    ("statement", _lasting(plainly.STATEMENT)),
    ("told", _named_and_told),
)


# --- from the sentence to the statement ------------------------------------------------------------------------------

_FILLER = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|well|btw|by the way|also|so|and|but|oh|yes|yeah|no|nope|right|thanks|thank you|fyi|ps|note|please note|note that|as i said|like i said|"
    r"again|lesson learned|the lesson|as i keep saying|one more thing|for the record|just so you know|to be clear|honestly|actually|wait|sorry|hmm|remember|important|reminder|correction|great|good|cool|sure|fine|"
    r"that's wrong|that is wrong|not right|there|all|everyone)(?:[,:;.!—–-]+\s*(?:not [^,:;]{1,30}[:;,]\s*)?|(?<!\ball)\s+(?=i\b|we\b|my\b|our\b|the budget|let's|always|never|from now)))+"
    r"|^(?:(?:你好|您好|好的?|嗯+|对了|顺便说一下|顺便说一句|顺便|另外|还有|而且|再说一遍|我说过|提醒一下|哦|啊|那个|不过|但是?|谢谢|注意|对|是的|不对|不是|不|等等|等一下|[我你]?(?:说|弄|搞|记|写)?错了|不对不对|说实话|坦白说|其实|实际上|备注|补充一下|(?:更正|纠正)(?:一下)?|说过了|还是那句话|按老规矩)[,:;。!\s]+)+",
    re.IGNORECASE,
)  # fmt: skip
# what is said about the saying, or follows from it: the statement ends before it
_TRAILS = re.compile(
    r"[,;。!\s]*(?:很?高兴认识你|谢谢你?|多谢|再见|拜托了?|辛苦了|好吗|可以吗|\b(?:thanks|thank you|thx|please|ok|okay|bye|cheers))[\s.。!！~]*$"
    r"|[,;] (?:so|plan (?:around|for) (?:that|it)|nothing (?:moves|changes) that|as (?:always|usual|before|ever)|like every time|we learned that the hard way|that has not changed"
    r"|i (?:prefer|dislike|hate|like|want|need) (?:it|that))\b[^,;]*$"
    r"|[,;] (?:remember (?:it|that|this)|don't forget(?: it)?)[\s.!]*$"
    r"|,(?:这是(?:规矩|习惯)|我?习惯了|别忘了?|记得|上次[^,]{1,10}|准时开始|老样子|不然[^,]*|否则[^,]*|所以[^,]*|按这个安排|先看[^,]*|已经定了)[。!\s]*$",
    re.IGNORECASE,
)
_LONGEST = 240  # characters of a statement
_MOMENT_LONGEST = 80  # characters of a sentence that is a passing word


def _filler(plain: str) -> int:
    filler = _FILLER.match(plain)
    return filler.end() if filler and keywords(plain[filler.end() :]) else 0


def _made(cue: Cue, sentence: str, plain: str, start: int) -> Act | None:
    end = _end(plain, start)
    start = _behind_requests(cue, plain, start, end)
    body = plain[start:end]
    statement = " ".join(sentence[start:end].split()).strip(" ,，、:：;；。.!！~?？*_")
    once = cues.ONCE.search(body) is not None
    if not _sayable(cue, statement):
        return None
    if cue in _ONLY_LASTING and (once or talks(body) or fragment(statement)):
        return None
    kind = "behaviour" if once and _KINDS[cue] == "preference" else _KINDS[cue]
    explicit = cues.FOR_LATER.search(plain[start:]) is not None and not once and kind != "behaviour"
    of_now = cue in _DATED and not cues.EXACT.search(body) and _OF_NOW.search(body)
    moment = (
        cue in _PASSING or of_now or (cue == "usual" and _POINTED.search(body))
        or (kind == "behaviour" and (once or not _HABITUAL.search(body)))
    )  # fmt: skip
    return Act(
        cue=cue,
        kind=kind,
        quote=sentence,
        statement=statement,
        explicit=explicit,
        passing=bool(moment) and not explicit,
        applies_when=_situation(sentence[start:end], body) if kind in _APPLICABLE else "",
        what=_object(sentence[start:end], body) if cue == "preference" else "",
    )


_POINTING_BACK: tuple[Cue, ...] = (
    "usual",
    "correction",
)  # "as always", "instead": of what was said before it
_NEXT = re.compile(r"[,;] ?(?:and |but |so |because )?(?=\S)")


def _behind_requests(cue: Cue, plain: str, start: int, end: int) -> int:
    """Where the statement begins: what is wanted of the moment before it is none of it, nor a call not to forget."""
    for comma in _NEXT.finditer(plain, start, end):
        if cue in _POINTING_BACK or not asks(plain[start : comma.start()]):
            break
        call = cues.MEMORY_CALL.match(plain[comma.end() : end])
        behind = comma.end() + (call.end() if call else 0)
        rest = plain[behind:end]
        if _cue(rest) != cue or _POINTED.search(rest) or not keywords(rest):
            break
        start = behind
    return start


def _end(plain: str, start: int) -> int:
    """Where the statement ends: before thanks, before what follows from it. What it is not stays: that may be the point."""
    end = len(plain.rstrip(" .。!"))
    found = _TRAILS.search(plain, start, end)
    return found.start() if found and keywords(plain[start : found.start()]) else end


def _sayable(cue: Cue, statement: str) -> bool:
    passing = _KINDS[cue] == "behaviour"
    of_a_length = 0 < len(statement) <= (_MOMENT_LONGEST if passing else _LONGEST)
    return of_a_length and (passing or bool(keywords(statement)))


def _situation(said: str, plain: str) -> str:
    for match in circumstances.SITUATION.finditer(plain):
        name = match.lastgroup or ""
        return " ".join(said[match.start(name) : match.end(name)].split())
    return ""


_OBJECT_ENDS = re.compile(
    r"[,;:.!?。(（—–]| (?:because|since|when|but|and i|so|for|if|as|than|over|to be|in the|on the|instead|whenever|while)\b|因为|所以|但|比"
)
_LONGEST_OBJECT = 40


def _object(said: str, plain: str) -> str:
    match = cues.PREFERENCE.search(plain)
    group = match.lastgroup if match else None
    if not match or not group:
        return ""
    start, end = match.span(group)
    stop = _OBJECT_ENDS.search(plain, start, end)
    what = said[start : stop.start() if stop else end].strip(" .,!。，！")
    return what if len(what) <= _LONGEST_OBJECT else ""
