"""The account of a night: what was written, merged, retired and why, refused, held; and the model's own words (pure).

Law: the diary invents nothing either. A sentence of the model stands in it only when its facts and words have a source,
a reason when its facts have one; refused lines are counted by their fault and never quoted.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from msgspec import Struct

from dreamd.deep_dream.audit import Audited, Refusal
from dreamd.deep_dream.grounds import SUPPORTED, Fault
from dreamd.pool.language import Tongue
from dreamd.pool.redaction import redacted
from dreamd.pool.similarity import contrary, covered
from dreamd.pool.speech import instruction, rule_like
from dreamd.pool.support import unsupported

TOLD = 0.25  # of a diary sentence's words that its sources must hold; a rule in it needs SUPPORTED


class _Words(Struct, frozen=True, kw_only=True):
    title: str
    added: str
    merged: str
    retired: str
    refused: str
    waiting: str
    held: str
    put_back: str
    left_out: str
    too_many: str
    unsaid: str
    nothing: str
    faults: dict[Fault, str]


_WORDS: dict[Tongue, _Words] = {
    "en": _Words(
        title="Dream diary, {day}",
        added="Written",
        merged="Merged or brought up to date",
        retired="Retired",
        refused="Refused",
        waiting="Waiting for a second day",
        held="Held for review",
        put_back="Entries that the model left out and that stay: {count}",
        left_out="Lines of older dailies or insights that did not fit into this night's prompt: {count}",
        too_many="MEMORY.md now has {count} entries, more than the {most} it should have.",
        unsaid="(the model's reason names things that have no source)",
        nothing="Nothing changed.",
        faults={
            "uncited": "named no source",
            "facts": "named a number, date, time or name that its sources do not have",
            "words": "had too little in common with its sources",
            "contrary": "turned what its sources say into the opposite",
            "redacted": "held the mark of a removed secret",
            "instruction": "was an instruction that no person gave",
            "untrusted": "stated a preference or rule without a word of the person",
            "one-window": "stated a preference or rule that was seen on one day only",
            "undone": "had been taken back by a person before",
            "shape": "was a fragment or too long for one line",
            "lossy": "kept too little of the entries it was to replace",
            "protected": "retired an entry that is pinned or protected",
            "unfounded": "retired an entry that dreamd did not write, with neither a new line nor the person's words for it",
            "successor": "retired an entry whose replacement was refused",
        },
    ),
    "zh": _Words(
        title="梦境日记 {day}",
        added="新增",
        merged="合并或更新",
        retired="淘汰",
        refused="拒绝",
        waiting="等待第二天的印证",
        held="等待审核",
        put_back="模型遗漏、原样保留的条目：{count}",
        left_out="因篇幅未能放入本夜输入的较早日记行或洞察：{count}",
        too_many="MEMORY.md 现有 {count} 条，超过了建议的 {most} 条。",
        unsaid="（模型给出的理由含有没有来源的内容）",
        nothing="没有变化。",
        faults={
            "uncited": "没有注明来源",
            "facts": "含有来源中没有的数字、日期、时间或名称",
            "words": "与来源几乎没有共同内容",
            "contrary": "与来源的意思相反",
            "redacted": "含有已删除机密的标记",
            "instruction": "是没有人下达过的指令",
            "untrusted": "陈述了用户从未说过的偏好或规则",
            "one-window": "陈述了只在一天中出现过的偏好或规则",
            "undone": "此前已被人撤销",
            "shape": "不完整，或一行放不下",
            "lossy": "没有保留它要替换的条目的内容",
            "protected": "想淘汰受保护的条目",
            "unfounded": "想淘汰不是 dreamd 写的条目，却既无替代行，也无用户自己的话为据",
            "successor": "想淘汰的条目，其替代行被拒绝了",
        },
    ),
}  # fmt: skip


def fault_text(fault: Fault, language: Tongue = "en") -> str:
    return _WORDS[language].faults[fault]


def held_heading(language: Tongue) -> str:
    return _WORDS[language].held


def counted(refused: Sequence[Refusal], language: Tongue = "en") -> tuple[str, ...]:
    """`2 x named no source`, in order of first appearance."""
    counts = Counter(refusal.fault for refusal in refused)
    return tuple(f"{count} x {fault_text(fault, language)}" for fault, count in counts.items())


class Section(Struct, frozen=True):
    """What a run adds to the day's diary. `mark` is its first line: the same section is never added twice."""

    mark: str
    text: str

    def added_to(self, diary: str, day: date, language: Tongue) -> str:
        """The diary with the section at its end, or as it was when the section is there already."""
        if self.mark in diary:
            return diary
        head = diary or f"# {_WORDS[language].title.format(day=day.isoformat())}\n"
        return f"{head.rstrip()}\n\n{self.mark}\n{self.text}"


def section(text: str) -> Section:
    return Section(f"<!-- dreamd dream {hashlib.sha256(text.encode()).hexdigest()[:12]} -->", text)


_MARK = re.compile(r"^<!-- dreamd dream [0-9a-f]+ -->[ \t]*$", re.MULTILINE)
_EMPTY_LIST = re.compile(r"^### [^\n]*\n\s*(?=^###|^<!-- dreamd dream |\Z)", re.MULTILINE)


def begins(diary: str) -> int:
    """Where dreamd's first section stands, as an offset of characters; behind the end where there is none."""
    found = _MARK.search(diary)
    return found.start() if found else len(diary)


def emptied(diary: str) -> str:
    """The diary without the headings of lists in which no line is left."""
    return _EMPTY_LIST.sub("", diary)


class Night(Struct, frozen=True, kw_only=True):
    """What the diary is told beside the audit. `sources` are the texts that a sentence may rest on."""

    dream: str
    sources: Sequence[str]
    left_out: int
    max_entries: int
    language: Tongue
    held: str = ""


def tell(audited: Audited, night: Night) -> Section:
    """The whole account."""
    words = _WORDS[night.language]
    parts = [
        told(night.dream, night.sources),
        _list(words.held, [night.held] if night.held else []),
        _list(words.added, [line.text for line in audited.accepted if not line.instead]),
        _list(words.merged, list(_merged(audited))),
        _list(words.retired, list(_retired(audited, night))),
        _list(words.waiting, [line.text for line in audited.candidates]),
        _list(words.refused, list(counted(audited.refused, night.language))),
        "\n".join(_remarks(audited, night)),
    ]
    body = "\n\n".join(part for part in parts if part)
    return section(f"{body or words.nothing}\n")


def _list(heading: str, lines: Sequence[str]) -> str:
    return f"### {heading}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _merged(audited: Audited) -> Iterator[str]:
    for line in audited.accepted:
        if line.instead:
            yield f"{' + '.join(source.text for source in line.instead)} → {line.text}"


def _retired(audited: Audited, night: Night) -> Iterator[str]:
    for retirement in audited.retired:
        reason = quoted(retirement.reason, night.sources) or _WORDS[night.language].unsaid
        yield f"{retirement.source.text}: {reason}"


def _remarks(audited: Audited, night: Night) -> Iterator[str]:
    words = _WORDS[night.language]
    if audited.put_back:
        yield words.put_back.format(count=len(audited.put_back))
    if night.left_out:
        yield words.left_out.format(count=night.left_out)
    if audited.entries > night.max_entries:
        yield words.too_many.format(count=audited.entries, most=night.max_entries)


_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*[.!?。！？]*\s*|\n")
_CITED = re.compile(r"\s*[(\[（【［]\s*[MDI]\d+[^)\]）】］]*[)\]）】］]", re.IGNORECASE)


def told(text: str, sources: Sequence[str]) -> str:
    """The sentences of the model's text that its sources bear out."""
    known = "\n".join(sources)
    return _kept(text, lambda sentence: _harmless(sentence, sources) and _borne_out(sentence, sources, known))


def quoted(reason: str, sources: Sequence[str]) -> str:
    """The sentences of a reason that state no fact without a source: `outdated` needs none."""
    return _kept(reason, lambda sentence: _harmless(sentence, sources))


def sentences(text: str) -> list[str]:
    """The sentences of a line with the white space behind them; together they are the line."""
    found = _SENTENCE.findall(text)
    return found if "".join(found) == text else [text]


def _kept(text: str, true: Callable[[str], bool]) -> str:
    plain = _CITED.sub("", text)
    kept = (sentence for sentence in _SENTENCE.findall(plain) if sentence == "\n" or true(sentence))
    return re.sub(r"\n{2,}", "\n\n", "".join(kept)).strip()


def _harmless(sentence: str, sources: Sequence[str]) -> bool:
    marked = redacted(sentence) or "<!--" in sentence or sentence.lstrip().startswith("#")
    return not (marked or instruction(sentence) or unsupported(sentence, sources))


def _borne_out(sentence: str, sources: Sequence[str], known: str) -> bool:
    least = SUPPORTED if rule_like(sentence) else TOLD
    return not contrary(sentence, sources) and covered(sentence, known) >= least
