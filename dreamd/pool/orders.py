"""An order that a person gives in; whether it stands for all times, by its shape, out (pure, both languages).

An order of the moment speaks of one thing: the button, two sentences, a reply to Priya. A standing one speaks of a kind:
dates in reports, every release, when you plan a trip. That it was given again, on another day in another task, is left
to the gates.
"""

import re

_I = re.IGNORECASE

# --- English ---

_VERB = (
    "give|write|use|put|make|keep|leave|update|look|take|stick|avoid|show|send|format|name|add|list|sort|order|book|choose|pick|prefer|call|answer|reply|start|end|set|"
    "buy|do|don't|do not|never|always|cite|quote|mention|include|indent|round|convert|wrap|sign|address|run|test|check|ask|bring|serve|cook|plan|schedule|store|save|print|"
    "skip|drop|omit|remove|spell|translate|summari[sz]e|log|tag|label|commit|reach"
)
_ORDER = re.compile(rf"^(?:please |just |you (?:should|must|can|have to) )?(?:{_VERB})\b", _I)
_KIND = (  # what holds for a kind of thing: a bare plural, ours, each of them, whenever it comes
    r"\b(?:in|into|for|with|without|as|on|of|to|from|by|at|before|after) (?:[a-z-]+ )?(?!this\b|its\b|his\b|address\b|process\b|access\b|class\b|news\b|status\b|progress\b)[a-z-]{2,}(?<!s)s(?= |[,.;!]|$)"
    r"|\b(?:every|each|all|any|always|never|whenever|usually|in general|by default)\b|\b(?:when|before|after|if) (?:you|we|i|\w+ing)\b|\b(?:our|my) \w+|\b(?:in|with|by|to) (?-i:[A-Z][\w-]+)"
)
_STANDS = re.compile(_KIND, _I)
_ONE = re.compile(  # one thing, of now
    r"\b(?:an?|another|one|two|three|four|five|some|this|that|these|those|next|last|first (?!when|name)|second|third|again|instead|back|now|today|tonight|tomorrow|yesterday|tonight|soon|here|please$"
    r"|let me know|tell me|show me|find me|check whether|him|her|them)\b|\b\w+[_/.]\w+|\w\(\)|\b(?:fix|bug|error|typo|fails?|failing|broken)\b",
    _I,
)
_CONDITION = re.compile(r"\b(?:when(?:ever)?|if|before|after|while) (?:you|we|i)\b", _I)
_THING = re.compile(
    r"^(?:no |only )?[a-z-]+(?: [a-z-]+)?s (?:with|without|in|as|for|by|under|from) [\w -]+(?: please)?$", _I
)
_FEWEST, _MOST = 3, 16  # words

# --- Chinese ---

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_SCOPE = r"(?:里|上|中|时|前|后|的时候|之前|之后|以前|以后|[^,]{0,3}(?:先|都|请|一律|尽量|最好|别|不要|就))"
_STANDS_ZH = re.compile(
    rf"^(?!把|帮|打开|打印|再|找|读|继续|这|那|它|他|她|你(?!写|的|回)|今|明|昨|刚|下次)[^,;]{{1,8}}?{_SCOPE}(?:请|都|要|先|就|也|只|别|不要|不用|坚持|一律|尽量|最好)*(?:用|写|发|走|选|看|买|坐|放|加|改|更新|查|做|叫|付|标|附|留|带|订|点|穿|吃|喝)[^,;]{{1,12}}"
)
_ONE_ZH = re.compile(
    r"一下|一[个份张条封句点]|[二两三几]|第|这|那|今|明|昨|刚|现在|告诉我|给[^我]{1,4}写|吧|了$|错"
)
_SHORT_ZH, _LONG_ZH = 4, 24  # characters


def stands(plain: str) -> bool:
    """`plain` is a sentence as `acts.normal` gives it."""
    text = plain.strip(" .。!;,…")
    if _CHINESE.search(text):
        short = _SHORT_ZH <= len(text) <= _LONG_ZH
        return short and bool(_STANDS_ZH.match(text)) and not _ONE_ZH.search(text)
    ordered = _CONDITION.split(text.removesuffix(" please"))[0]
    if not _FEWEST <= len(text.split()) <= _MOST or _ONE.search(ordered):
        return False
    return bool(_THING.match(text) or (_ORDER.match(text) and _STANDS.search(text)))
