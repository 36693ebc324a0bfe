"""Whom and what a text speaks of, found without an LLM: paths, repositories, handles, quoted and repeated names (pure).

A name is given as it stands in the text. What only looks like a name (a capital at the head of a sentence, two Chinese
characters that begin like a surname) counts when it comes back in another text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from dreamd.memories import Entity

_LOOKED_AT = 8_000  # characters of one text: who is not named in so many is not what it is about
_MOST = 24  # entities of one text
_TEXTS = 2  # in which a name must stand to be a name

_CJK = r"\u3400-\u9fff"
_CERTAIN = re.compile(
    r"""(?P<url>\bhttps?://[^\s"'<>`(){}\u3000-\u303f\uff00-\uffef\u3400-\u9fff]+)"""
    r"""|(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"""
    r"""|(?<![\w/@.])(?P<handle>@[A-Za-z][\w-]{1,38})(?![\w/])"""
    r"""|(?P<path>(?<![\w/])(?:[A-Za-z]:\\|~/|\.{1,2}/|/(?=[\w.-]+/))[\w.@+~%/\\-]*\w|(?<![\w/])(?:[\w.-]+/)+[\w-]+\.[a-z]\w{0,5}\b|(?<![\w/.])[\w-]+\.(?:py|rs|go|ts|tsx|js|c|h|cpp|java|sh|md|toml|json|jsonl|yaml|yml|csv|sql|txt|db|html|css)\b)"""
    r"""|(?<![\w./@-])(?P<repo>[A-Za-z][\w-]{1,38}/[A-Za-z][\w.-]{1,60}\w)(?![\w/])"""
    r"""|`(?P<code>[^`\n]{2,60})`"""
    r"""|(?:"(?P<quote>[^"\n]{2,40})"|“(?P<curly>[^”\n]{2,40})”|「(?P<corner>[^」\n]{2,40})」|《(?P<title>[^》\n]{1,40})》)""",
    re.ASCII | re.IGNORECASE,
)
_TYPES = {"email": "person", "handle": "person", "path": "path", "repo": "project", "code": "tool"}
_REPOSITORY = re.compile(
    r"https?://(?:www\.)?(?:github|gitlab|gitee|codeberg)\.\w+/([\w.-]+/[\w.-]+?)(?:\.git)?(?:[/#?]|$)"
)
_REPOSITORY_LIKE = re.compile(r"[A-Z0-9_-]")  # `red/blue` is an alternative, `red-fox/den` a repository
_NEAR = re.compile(r"\s*(?:repo|project|仓库|项目)", re.IGNORECASE)
_SENTENCE = re.compile(r"[,，。!?！？;；]|\.(?:\s|$)|(?:\s\S+){4}")

_SURNAMES = "王李张刘陈杨赵黄吴徐孙胡朱郭罗梁宋郑谢韩唐冯董萧曹袁邓傅沈彭吕苏卢蒋蔡贾魏薛阎潘杜戴汪姜范姚谭廖邹郝崔邱秦侯邵孟尹黎乔赖龚"
_CALLED = re.compile(rf"(?:名叫|叫做|名字是|名字叫|我叫|他叫|她叫)([{_CJK}]{{2,3}})(?![{_CJK}])")
_TITLED = re.compile(
    rf"(?:(?<![{_CJK}])|(?<=[和跟给让请找问与对从]))((?:[{_SURNAMES}][{_CJK}]{{0,2}}|[老小阿][{_SURNAMES}])(?:先生|女士|老师|经理|医生|教授|总监|师傅|总(?![是结共体在会要能有算部]))|[老小阿][{_SURNAMES}](?=[说问要的在是和跟把也给，。、]|$))"
)
_FOLLOWS = "说问要的在是和跟把也给来去今明负提让想用喜讨对为，。：、；,.!？！? \n"
_CHINESE = re.compile(
    rf"(?:(?<![{_CJK}])|(?<=[和跟给让叫请找问与对从由]))([{_SURNAMES}][{_CJK}]{{1,2}}?)(?=[{_FOLLOWS}]|$)"
)
_NO_PERSON = re.compile(
    "黄色|黄金|谢谢|杜绝|宋体|韩[国语]|唐诗|胡说|胡乱|苏打|戴上|张[图纸]|范围|姜汤|罗列|卢比|乔迁|秦朝|徐徐|孟加|郑重|沈默|邓肯"
)
_LATIN = re.compile(r"(?<![\w'-])[A-Z][\w'-]*[A-Za-z0-9]", re.ASCII)
_SMALL = re.compile(r"(?<![\w/.-])[a-z]{2,}(?![\w/-])", re.ASCII)
_HEAD = re.compile(r"(?:^|[.!?:;。！？：；\n]|[(\[*#>•—–-])\s*[\"'(\[*_]*$")
_PLAIN_WORDS = (
    "i ok okay todo am pm ai llm user users assistant agent monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december mr mrs ms dr the a an "
    "no yes please thanks note ps fyi asap i'm i'll i'd i've it it's this that we you he she they my our your hi hello "
    "error warning info debug"
)
_WORDS = frozenset(_PLAIN_WORDS.split())


def of(text: str) -> tuple[Entity, ...]:
    """What a text names beyond doubt, in order of appearance: at most 24, each once."""
    found: dict[str, Entity] = {}
    for entity in (*_certain(text[:_LOOKED_AT]), *_persons(text[:_LOOKED_AT])):
        found.setdefault(entity.name.casefold(), entity)
    return tuple(found.values())[:_MOST]


def repeated(texts: Iterable[str]) -> tuple[Entity, ...]:
    """Capitalised and Chinese names that stand in two of the texts or more, the most frequent first."""
    return Repeated(texts).all


class Repeated:
    """Names that come back over texts; a name counts once a text, so that one long text makes none."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts: Counter[str] = Counter()
        spelt: dict[str, Entity] = {}
        plain: set[str] = set()  # words that are written small somewhere, and so are no names
        for text in dict.fromkeys(texts):  # a copy of a text is no second one
            plain.update(_SMALL.findall(text[:_LOOKED_AT]))
            for name, seen in _possible(text[:_LOOKED_AT]).items():
                counts[name] += 1
                if seen.sure:
                    spelt.setdefault(name, seen.entity)
        self._names = {
            name: spelt[name]
            for name, count in counts.most_common()
            if count >= _TEXTS and name in spelt and not (name in plain and _simple(spelt[name].name))
        }

    @property
    def all(self) -> tuple[Entity, ...]:
        return tuple(self._names.values())

    def found(self, text: str) -> tuple[Entity, ...]:
        """Those that stand in the text."""
        names = _possible(text[:_LOOKED_AT]) if self._names else {}
        return tuple(self._names[name] for name in names if name in self._names)


class _Possible(Struct, frozen=True):
    """A name that may be one. `sure`: it is no capital at the head of a sentence."""

    entity: Entity
    sure: bool


def _simple(word: str) -> bool:
    """Capital at its head alone, as any word may be: not `GitHub`, not `API`."""
    return word[1:] == word[1:].lower()


def _certain(text: str) -> Iterator[Entity]:
    for match in _CERTAIN.finditer(text):
        group = match.lastgroup or ""
        name = match[group].rstrip(".,;:!?…").strip()
        if group == "url":
            if repository := _REPOSITORY.match(name):
                yield Entity(repository[1], "project")
        elif name and not (_said(name) if group not in _TYPES else group == "repo" and _either(match)):
            yield Entity(name, _TYPES.get(group, "name"))


def _said(name: str) -> bool:
    """What stands in quotes is a sentence, and no name."""
    return _SENTENCE.search(name) is not None


def _either(match: re.Match[str]) -> bool:
    return not _REPOSITORY_LIKE.search(match[0]) and not _NEAR.match(match.string, match.end())


def _persons(text: str) -> Iterator[Entity]:
    for pattern in (_CALLED, _TITLED):
        yield from (Entity(name, "person") for name in pattern.findall(text))


def _possible(text: str) -> dict[str, _Possible]:
    """Names that a text may hold, by their folded spelling."""
    plain = _CERTAIN.sub("\n", text)
    names = {
        match[1]: _Possible(Entity(match[1], "person"), sure=True)
        for match in _CHINESE.finditer(plain)
        if not _NO_PERSON.match(match[1])
    }
    for match in _LATIN.finditer(plain):
        word = re.sub(r"'s?$", "", match[0])
        if word[1:] and word.casefold() not in _WORDS:
            sure = not _simple(word) or not _HEAD.search(plain, max(0, match.start() - 6), match.start())
            if sure or word.casefold() not in names:
                names[word.casefold()] = _Possible(Entity(word, "name"), sure)
    return names
