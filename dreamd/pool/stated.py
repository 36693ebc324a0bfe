"""A message in; the sentences that its author states in it out, word for word (pure, both languages).

Law: what somebody else said, wrote or computed is no statement of the author: code, logs, terminal output, quoted and
pasted text, transcripts, tutorials, templates. Nor is a question. When in doubt a sentence is left out.
"""

import re
from collections.abc import Iterator

_LOOKED_AT = 20_000  # characters: longer messages are pasted, not spoken
_LONGEST = 400  # characters of one sentence
_SHORTEST = 2

# --- whole blocks that the author did not say --------------------------------------------------------------------

_BLOCKS = re.compile(
    r"(?:```|~~~).*?(?:```|~~~|\Z)"
    r"|<(?P<tag>[a-zA-Z][\w-]*)(?:\s[^<>]*)?>.*?</(?P=tag)\s*>"
    r"|<!--.*?(?:-->|\Z)"
    r"|-----BEGIN.*?(?:-----END[^\n]*|\Z)"
    r"|^(?:Traceback \(most recent|diff --git |@@ -\d).*\Z",
    re.DOTALL | re.MULTILINE,
)
_PASTE = re.compile(
    r"^[^\n]{0,160}\b(?:logs?|output|e-?mails?|articles?|pages?|messages?|transcripts?|documents?|docs?|readme|reviews?|comments?|"
    r"files?|text|snippets?|errors?|paragraphs?|tutorials?|examples?|letters?|chats?|tickets?|issues?|threads?|stories|story|results?|"
    r"posts?|conversations?|prompts?|pasted|below|following|says?|said|wrote|writes|replied|reads)\b[^\n:]{0,40}:[ \t]*\r?$"
    r"|^[^\n]{0,80}(?:日志|输出|邮件|文章|网页|页面|消息|记录|文档|评论|文件|文本|报错|错误|段落|教程|例子|示例|信|聊天|结果|帖子|对话|如下|以下|下面|内容|原文|说|写道|回复)[^\n：:]{0,10}[：:][ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_TUTORIAL = re.compile(
    r"^[ \t]*(?:#+[ \t]+|\**)?(?:how to\b|tutorial\b|guide\b|getting started|step \d|lesson \d|chapter \d|faq\b|教程|步骤|第[一二三四1-9][步章课节]|指南|如何|怎样|入门)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_HEADINGS = 2  # of a document that was pasted whole

# --- lines that the author did not say ---------------------------------------------------------------------------

_NOT_SAID = re.compile(
    r"\s*(?:>|\||\$ |#|//|/\*|\* @|@\w+\(|[-+]{3} |%|\.\.\.|;;|--\s)"
    r"|\s*(?:\[?\d{4}-\d\d-\d\d[T ]|\[?\d{1,2}:\d\d:\d\d)|\s*\[[^\]\n]{1,40}\]\s|\s*(?:at \S+\(|File \")"
    r"|.*\b(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL|SEVERE)\b[\s:\]|]"
    r"|(?: {4,}|\t)(?![-*•\d])"
    r"|.*(?:[{};]\s*$|=>|==|\(\)\s*[;{=:]|\(\)\.\w|:=|</|/>|\w+\s*=\s*[\w\"'\[{(]|\w\(\w+, ?\w|\w\(\w*\)\s*[{:;]|\$\{|\{\{|<\w+>)"
    r"|\s*[\w.]+\(\)\s*$"
    r"|\s*(?:def|class|import|from \w+ import|return|const|let \w+ =|var|function|public|private|SELECT|INSERT|UPDATE \w+ SET)\b(?!.*\s(?:i|my|we)\b)"
    r"|(?i:\s*(?:example|e\.g\.|for example|sample|template|quote|example|例如|比如|示例|例子|引用|模板|譬如)\s*[:：,，])",
)
_SPEAKER = re.compile(
    r"\s*(?P<who>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}|[\u3400-\u9fff]{1,5})\s*(?:\([^)]*\)\s*)?[:：]\s*(?=\S)"
)
_OWN_LABEL = re.compile(
    r"(?:please |请|帮我|麻烦)?(?:remember|mind|note|notes|important|rule|rules|decision|deadline|update|correction|fyi|ps|budget|preference|preferences|"
    r"reminder|also|lesson|lesson learned|plan|release|schedule|fact|goal|constraint|constraints|requirement|requirements|ok|no|yes|"
    r"actually|btw|by the way|one more thing|for the record|memo|keep in mind|conclusion|root cause|记住|请记住|注意|备注|重要|规则|决定|截止|截止日期|更正|预算|偏好|提醒|另外|教训|计划|"
    r"发布|要求|结论|原因|对了|还有|不对|记一下|记下来|记录|我的偏好|限制|约束|目标|日期|补充|以后|今后|说错)",
    re.IGNORECASE,
)  # fmt: skip
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)、])\s+")

# --- sentences ---------------------------------------------------------------------------------------------------

_END = re.compile(r"(?:[.!?…]+[\"')\]”’]*(?=\s|$)|[。！？；!?]+[”’」』）)\"]*)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|mr|mrs|ms|dr|prof|st|no|fig|inc|ltd|a\.m|p\.m|[A-Z]))\.$", re.IGNORECASE
)
_REQUEST = re.compile(
    r"[,;，；]\s*(?=(?:(?:so|and|then|but|now|ok)\s+)?(?:please|can you|could you|would you|will you|can i|could i|should i|help me|give me|find me|"
    r"show me|pick|suggest|recommend|what|which|how|where|do you|is there|are there|tell me|let me know)\b"
    r"|(?:所以|那么?|现在)?(?:请|帮我|帮忙|给我|你能|你可以|你帮|麻烦|能不能|可以帮|可不可以|怎么|有没有|替我|该|哪|什么))",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\s*(?:from now on|in (?:the )?future|going forward|when|if|whenever|before|after|every|each|always|never|remember|note|no|actually|next time|"
    r"for|while|during|ok|okay|hi|hello|hey|thanks|please|so|also|and|以后|今后|从现在|从今|每次|每当|如果|当|要是|假如|记住|请记住|下次|不对|你好|另外|对了|好的?$|嗯|其实|在|.{0,12}(?:时|时候|前|后)$)",
    re.IGNORECASE,
)  # fmt: skip
_ASKS = re.compile(
    r"[?？]\W*$|(?:吗|呢|么)[\s。!！~…]*$"
    r"|什么|怎么|为何|为啥|哪[个些里儿种一位]|谁[会能是在]|是不是|能不能|要不要|有没有|可不可以|会不会|该不该|是否|如何|多少[钱个]"
    r"|^\W*(?:and |so |but |then |or )?(?:(?:do|does|did|is|are|was|were|can|could|will|would|should|shall|have|has|had|am)(?:n't)? "
    r"(?:i|you|we|he|she|it|they|there|this|that|these|those|the|my|your|our|any|anyone|someone)\b"
    r"|(?:who|what|why|how|which|whose)\b|(?:when|where) (?:do|does|did|is|are|was|were|can|could|will|would|should)\b)",
    re.IGNORECASE,
)  # fmt: skip
_ASKS_TO_REMEMBER = re.compile(
    r"\W*(?:can|could|would|will) you (?:please )?(?:remember|keep in mind|memori[sz]e)\b", re.IGNORECASE
)


def sentences(text: str, *, document: bool = False) -> Iterator[str]:
    """The author's own sentences, each a verbatim piece of `text`, in order. Questions are left out.

    A message that is itself a document (headings, tutorial) is taken for pasted unless `document` says that its author
    writes so.
    """
    text = _BLOCKS.sub("\n\n", text[:_LOOKED_AT])
    if paste := _PASTE.search(text):
        text = text[: paste.start()]
    if not document and (_TUTORIAL.search(text) or len(_HEADING.findall(text)) >= _HEADINGS):
        return
    for block in _paragraphs(text):
        yield from filter(_states, _pieces(block))


def _states(piece: str) -> bool:
    """Not a question, and not only the head of what follows."""
    of_a_length = _SHORTEST <= len(piece) <= _LONGEST
    return of_a_length and not piece.rstrip("*_ ").endswith((":", "：")) and not _asks(piece)


def _asks(sentence: str) -> bool:
    return _ASKS.search(sentence) is not None and not _ASKS_TO_REMEMBER.match(sentence)


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that the author said; one that goes on in the next is joined with it, as it stands."""
    held = ""
    for line in text.split("\n"):
        said = (
            bool(line.strip())
            and not _NOT_SAID.match(line[:_LOOKED_AT_OF_A_LINE])
            and not _spoken_by_another(line)
        )
        if said and held and _goes_on(held, line):
            held += "\n" + line
            continue
        if held:
            yield held
        held = line[bullet.end() :] if said and (bullet := _BULLET.match(line)) else line if said else ""
    if held:
        yield held


_LOOKED_AT_OF_A_LINE = 500  # characters: enough to tell what it is
_WRAPPED = 40  # characters: a shorter line was not wrapped, but ended


def _goes_on(before: str, line: str) -> bool:
    head = line.lstrip()[:1]
    return (
        head.isascii() and head.islower() and before.rstrip()[-1] not in ".!?:;" and len(before) >= _WRAPPED
    )


def _spoken_by_another(line: str) -> bool:
    """`Bob: I hate red` is Bob's word; `Deadline: March 13` is the author's own."""
    speaker = _SPEAKER.match(line)
    return speaker is not None and not _OWN_LABEL.match(speaker["who"].strip())


def _pieces(block: str) -> Iterator[str]:
    """Sentences, cut once more where a statement turns into a request ("I hate red, which shirt?")."""
    start = 0
    for end in _END.finditer(block):
        if _ABBREVIATION.search(block, max(start, end.start() - 6), end.end()) and end[0] == ".":
            continue
        yield from _turned(block[start : end.end()])
        start = end.end()
    yield from _turned(block[start:])


def _turned(sentence: str) -> Iterator[str]:
    turn = _REQUEST.search(sentence)
    if turn and not _OPENING.match(sentence[: turn.start()]):
        yield sentence[: turn.start()].strip()
        sentence = sentence[turn.end() :]
    yield sentence.strip()
