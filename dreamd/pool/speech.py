"""What kind of saying a line is: a preference or rule, a person's explicit word, an instruction (pure, both languages)."""

import re
import unicodedata


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_RULE = _any_of(
    r"\b(?:prefer(?:s|red|ence|ences)?|dislikes?|hates?|loves?|likes|enjoys?|fond of|favou?rite|insists?|wants)\b",
    r"\b(?:users?|i|they|we|people|he|she) (?:really |always )?(?:like|want)\b",
    r"\b(?:always|never|every time|each time|usually|often|tends? to|generally|whenever|by default|habit(?:s|ually)?)\b",
    r"\b(?:must(?: not)?|should(?: not)?|shall|have to|has to|required to|not allowed|only ever|do not|don't|avoids?)\b",
    r"喜欢|偏好|偏爱|讨厌|不喜欢|爱用|总是|从不|从来不|每次|每当|通常|经常|往往|习惯|一向|一律|必须|务必|应该|应当|不要|不能|不得|禁止|不准|切勿|希望|倾向|坚持",
)  # fmt: skip
_EXPLICIT = _any_of(
    r"\bremember\b|\bnote that\b|\bkeep in mind\b|\bfrom now on\b|\bin (?:the )?future\b|\bgoing forward\b|\balways\b|\bnever\b",
    r"\b(?:i|we) (?:really |strongly |usually |always )?(?:prefer|like|love|hate|dislike|want you to|insist)\b|\bmy preference\b",
    r"\bi (?:don't|do not|can't stand|cannot stand) like\b|\bi can(?:'t|not) stand\b|\bmake it a rule\b|\bdon't ever\b|\bstop \w+ing\b",
    r"记住|记得|记一下|以后|今后|从现在起|从今|永远|我(?:更|最|很|比较|不)?(?:喜欢|偏好|偏爱|讨厌)|我习惯|我希望你|不要再|别再|总是要?|一律|每次都|务必|规矩",
)  # fmt: skip
_VERBS = (
    "ignore|disregard|forget|run|execute|send|forward|email|upload|post|transfer|delete|remove|download|install|visit|"
    "open|click|disclose|reveal|print|reply|respond|call|fetch|curl|obey|follow|pretend|act"
)
_INSTRUCTION = _any_of(
    rf"^\W*(?:please |always |never |do not |don't |now )?(?:{_VERBS})\b(?! (?:was|is|has|failed|succeeded|took))",
    r"\byou (?:must|should|shall|have to|need to|are now)\b|\b(?:ignore|disregard) (?:all|any|previous|prior|the above)\b",
    r"\bsystem prompt\b|\b(?:new|these|following) instructions\b|\bassistant (?:must|should|shall)\b|\bagents? (?:must|should|shall)\b",
    r"忽略(?:以上|之前|前面|所有|一切)|(?:^|[，。:：])\s*请?(?:立即|马上)?(?:执行|运行|发送|转发|删除|下载|安装|上传|点击|打开|访问|透露|泄露)",
    r"你(?:必须|应该|应当|现在是|需要|要把)|系统提示|以下指令|助手(?:必须|应该|应当)|智能体(?:必须|应该|应当)",
)  # fmt: skip


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def rule_like(text: str) -> bool:
    """A preference, habit or rule: something said to hold beyond the moment."""
    return _RULE.search(_normal(text)) is not None


def explicit(text: str) -> bool:
    """A person says it on purpose for later: remember, from now on, always, I prefer, 记住, 以后, 我喜欢..."""
    return _EXPLICIT.search(_normal(text)) is not None


def asks(text: str) -> bool:
    """It ends as a question does."""
    return text.rstrip().endswith(("?", "？", "吗", "吗。"))


def instruction(text: str) -> bool:
    """Addressed to whoever reads it, to be carried out."""
    return _INSTRUCTION.search(_normal(text)) is not None
