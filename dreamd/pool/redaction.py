"""Text in; the same text with secrets replaced by `[redacted:<kind>]` out (pure, idempotent).

Law: no secret of a known shape reaches the store, a log event or a model; ordinary code and prose stay as they are.
A false alarm costs a word, a miss costs a key: shapes with a known prefix (FORMATS 13) are taken at once, a value after
a telling name only when it looks like a value. Cheap tests on the whole text come first, because most texts hold none.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


def redact(text: str) -> str:
    data = text.encode("utf-8", "replace")
    clean = _redacted(data)
    return text if clean is data else clean.decode("utf-8", "replace")


def redacted(text: str) -> bool:
    """A secret stood here; such a line is never promoted."""
    return "[redacted:" in text.casefold()


def _redacted(data: bytes) -> bytes:
    low = data.lower()  # ASCII only, so places in it are places in `data`
    characters = data.translate(_KEY_CHARACTERS)
    if _RUN in characters and any(_ANY_KEY.search(data, *run) for run in _runs(characters)):
        data = _keys(data)
    if b"-----" in low:
        data = _private_keys(data)
    if b"@" in data and b"://" in data:
        data = _marked(_URL, "password", data)
    if b"bearer" in low or b"authorization" in low:
        data = _marked(_BEARER, "authorization", _marked(_AUTHORIZATION, "authorization", data))
    if b":" in low or b"=" in low or b"--" in low or not low.isascii():
        data = _named(data, low)
    return data


def _named(data: bytes, low: bytes) -> bytes:
    for name in _NAMES:
        if name.hint in low:
            data = _assigned(name, data)
    if b"--" in low:
        data = _valued_after(_FLAG, "secret", data)
    if not low.isascii() and any(name in low for name in _CHINESE_NAMES):
        data = _valued_after(_CHINESE, "password", data)
    return data


def _marked(pattern: re.Pattern[bytes], kind: str, data: bytes) -> bytes:
    """Each `secret` group of the pattern, which is for lower-cased text, gives way to the mark."""
    return _filled(data, [match.span("secret") for match in pattern.finditer(data.lower())], kind)


def _filled(data: bytes, spans: list[tuple[int, int]], kind: str) -> bytes:
    for start, end in reversed(spans):
        data = data[:start] + f"[redacted:{kind}]".encode() + data[end:]
    return data


# --- keys that are known by their shape ------------------------------------------------------------------------


class Key(NamedTuple):
    kind: str
    prefix: str
    pattern: re.Pattern[bytes]


def _key(kind: str, prefix: str, rest: str) -> Key:
    # the literal comes first and the look-behind after it: only so does `re` search for the literal
    return Key(kind, prefix, re.compile(rf"{prefix}(?<![A-Za-z0-9_]{prefix}){rest}".encode()))


_KEYS = (
    _key("api-key", "sk-", r"[A-Za-z0-9_-]{16,}"),  # OpenAI, Anthropic (sk-ant-), OpenRouter (sk-or-v1-), ...
    *(_key("api-key", f"{one}k_", r"(?:live|test)_[A-Za-z0-9]{16,}") for one in "sr"),
    *(_key("github-token", f"gh{one}_", r"[A-Za-z0-9]{16,}") for one in "pousr"),
    _key("github-token", "github_pat_", r"[A-Za-z0-9_]{16,}"),
    _key("gitlab-token", "glpat-", r"[A-Za-z0-9_-]{16,}"),
    *(_key("aws-key", prefix, r"[A-Z0-9]{16}(?![A-Za-z0-9])") for prefix in ("AKIA", "ASIA")),
    _key("slack-token", "xox", r"[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{12,}"),
    _key("google-key", "AIza", r"[A-Za-z0-9_-]{30,}"),
    _key("webhook-secret", "whsec_", r"[A-Za-z0-9+/=_-]{16,}"),
    _key("supabase-token", "sbp_", r"[A-Za-z0-9]{16,}"),
    _key("huggingface-token", "hf_", r"[A-Za-z0-9]{30,}"),
    _key("npm-token", "npm_", r"[A-Za-z0-9]{30,}"),
    _key("jwt", "eyJ", r"[A-Za-z0-9_-]{13,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    Key("telegram-token", "(?<=[0-9]:)AA", re.compile(rb"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}")),
)
_ANY_KEY = re.compile("|".join(key.prefix for key in _KEYS).encode())
_RUN = b"k" * 16  # every key has at least so many key characters in a row
_KEY_CHARACTERS = bytes(ord("k") if re.match(rb"[A-Za-z0-9_-]", bytes([byte])) else 0 for byte in range(256))


def _runs(characters: bytes) -> Iterator[tuple[int, int]]:
    at = characters.find(_RUN)
    while at >= 0:
        end = characters.find(b"\0", at)
        end = end if end >= 0 else len(characters)
        yield at, end
        at = characters.find(_RUN, end)


def _keys(data: bytes) -> bytes:
    for key in _KEYS:
        data = _substituted(key.pattern, f"[redacted:{key.kind}]".encode(), data)
    return data


def _substituted(pattern: re.Pattern[bytes], by: bytes, data: bytes) -> bytes:
    changed, count = pattern.subn(by, data)
    return changed if count else data


# --- PEM private keys, whole or cut --------------------------------------------------------------------------------

_WHAT = rb"(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?"
_PEM = re.compile(
    rb"(?P<heading>-----BEGIN " + _WHAT + rb"-----)"
    rb"(?:[A-Za-z0-9+/=]{16,}+|\s|\\[nrt]|[\"'>|+,]|[0-9]{1,6}(?:\t|:|\||\xe2\x86\x92)"
    rb"|[A-Z][A-Za-z-]{2,14}: [^\n\\]{1,80}|[A-Za-z0-9+/=]{1,15}(?=\s*-----END|\\|\n|$))*+"
    rb"(?:-----END[A-Z0-9 ]{0,40}-{0,5})?"
)
_PEM_END = re.compile(rb"-----END " + _WHAT + rb"-----")
_PEM_RUN = re.compile(rb"[A-Za-z0-9+/=]{16}")
_PEM_LINES = re.compile(rb"(?:[A-Za-z0-9+/=]{16,76}(?:\s|\\n)++)+(?:[A-Za-z0-9+/=]{1,15}(?:\s|\\n)++)?\Z")
_PEM_MARK = b"[redacted:private-key]"
_PEM_MOST = 16 << 10  # bytes of a key without its beginning


def _private_keys(data: bytes) -> bytes:
    data = _PEM.sub(_pem_mark, data)
    for end in reversed(list(_PEM_END.finditer(data))):  # keys whose beginning was cut off
        window = max(0, end.start() - _PEM_MOST)
        if lines := _PEM_LINES.search(data, window, end.start()):
            data = data[: lines.start()] + _PEM_MARK + data[end.end() :]
    return data


def _pem_mark(found: re.Match[bytes]) -> bytes:
    """A key gives way to the mark, the blanks behind it stay; a heading without a key is only mentioned."""
    if not _PEM_RUN.search(found[0], found.end("heading") - found.start()):
        return found[0]
    return _PEM_MARK + found[0][len(found[0].rstrip()) :]


# --- passwords in URLs, Authorization headers ----------------------------------------------------------------------

_URL = re.compile(rb"://[^\s/:@'\"<>?#\[]{0,256}:(?P<secret>(?!\[redacted:)[^\s/@'\"<>]{1,256})@")
_SCHEME = rb"(?:(?:basic|bearer|token|digest|apikey|negotiate)\s{1,4})?+"
_AUTHORIZATION = re.compile(
    rb"authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?"
    + _SCHEME
    + rb"(?P<secret>[^\s\"',;\[\](){}\\<>$]{8,})"
)
_BEARER = re.compile(rb"bearer\s{1,4}(?P<secret>[a-z0-9._~+/=-]{16,})")


# --- values after a telling name -----------------------------------------------------------------------------------

_VALUE = (
    r"(?P<suffix>[a-z0-9_-]{0,32}+)"
    r"(?P<mid>(?:\\?[\"'`])?[ \t]{0,4}(?::[ \t]?[a-z_][a-z0-9_.|\[\] ]{0,40}=|:=|=>|[:=]|\xef\xbc\x9a)(?!=)[ \t]{0,4})"
    r"(?:(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n])++)|(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\]++))"
)


class Name(NamedTuple):
    """A part of a name that smells of a secret; `hint` as in Key, `pattern` for the lower-cased text."""

    kind: str
    hint: bytes
    pattern: re.Pattern[bytes]


def _name(kind: str, hint: str, rest: str = "") -> Name:
    return Name(kind, hint.encode(), re.compile(f"{hint}{rest}{_VALUE}".encode()))


_KEY_OF = ["api", "access", "private", "encryption", "signing", "master", "auth", "account", "secret"]
_NAMES = (
    _name("password", "passw", r"(?:ords?|d|ort)"),
    _name("password", "passphrase"),
    _name("password", "_pass", r"(?![a-z])"),
    _name("password", "pwd"),
    _name("secret", "secret"),
    _name("token", "token"),
    _name("secret", "credential", "s?"),
    _name("secret", "key", "(?:" + "|".join(rf"(?<={of}key)|(?<={of}[_-]key)" for of in _KEY_OF) + ")"),
)
_FLAG = re.compile(
    rb"--[a-z-]{0,24}?(?:password|passwd|token|secret|api-key|passphrase)[ =]\"?"
    rb"(?P<value>[^\s\"'\[$<-][^\s\"']{5,})"
)
_CHINESE_NAMES = tuple(name.encode() for name in ("密码", "口令", "密钥", "令牌"))
_CHINESE = re.compile(
    "(?:密码|口令|密钥|令牌)(?:是|为)?[ \t]{0,4}(?:[:=]|：)?[ \t]{0,4}(?:[\"'`]|“|「)?".encode()
    + rb"(?P<value>[!-Z\\^-z|~]{6,})"
)
# names that only begin like a secret's
_HARMLESS_SUFFIX = re.compile(
    rb"(?:i[sz]|s$|ary|less|[_-]?(?:count|limit|type|ur[li]|endpoint|name|field|len|length|file|path|env|budget|usage"
    rb"|used|id|ids|expir|policy|reset|label|hint|prompt|placeholder|input|min|max|window|size|rate|per|cost|at$|ttl))"
)
_HARMLESS = re.compile(
    rb"(?:true|false|null|none|nil|undefined|yes|no|on|off|required|optional|string|str|bytes|int|bool|text|hidden|"
    rb"password|secret|token|x{3,}|\*+|\.+|-+|_+|changeme|redacted|example|todo)[.!?:]*\Z|[$%]|<|\{|\*{3}|your[_-]|\[redacted:"
    rb"|[~.]{0,2}/|os\.|self\.|this\.|process\.|env\.|config\.|settings\.|secrets\."
)
_DIGIT = re.compile(rb"[0-9]")
_SHORTEST, _SHORTEST_ENV = 6, 3  # characters of a value that may be a secret
_IDENTIFIER = re.compile(rb"[a-z_][a-z0-9_]*(?:(?:\.|::|->|/|-)[a-z_][a-z0-9_]*)*[.!?:]*\Z")


def _assigned(name: Name, data: bytes) -> bytes:
    spans = [
        span
        for match in name.pattern.finditer(data.lower())
        if (span := _secret_span(name.kind, match, data))
    ]
    return _filled(data, spans, name.kind)


def _valued_after(pattern: re.Pattern[bytes], kind: str, data: bytes) -> bytes:
    spans = [match.span("value") for match in pattern.finditer(data.lower()) if _valued(match["value"])]
    return _filled(data, spans, kind)


def _secret_span(kind: str, match: re.Match[bytes], data: bytes) -> tuple[int, int] | None:
    """The span of a match's value, if it looks like a secret."""
    group = "quoted" if match["quoted"] is not None else "bare"
    start, end = match.span(group)
    called = data[end : end + 1] in (b"(", b"[")
    if called or _HARMLESS_SUFFIX.match(match["suffix"]) or _HARMLESS.match(match[group]):
        return None
    name = data[match.start() : match.end("suffix")]
    looks = (
        _quoted_secret if group == "quoted" else _env_secret if _is_env(name, match["mid"]) else _bare_secret
    )
    return (start, end) if looks(match[group], kind) else None


def _is_env(name: bytes, mid: bytes) -> bool:
    return mid == b"=" and name.upper() == name


def _env_secret(value: bytes, kind: str) -> bool:
    return len(value) >= _SHORTEST_ENV and (kind == "password" or not value.isdigit())


def _quoted_secret(value: bytes, kind: str) -> bool:
    if b" " in value:  # a passphrase, or a sentence about passwords
        return kind == "password" and b"pass" not in value and not value.endswith((b".", b":", b"?"))
    return _env_secret(value, kind)


def _bare_secret(value: bytes, kind: str) -> bool:
    return _valued(value) and (kind == "password" or not value.isdigit())


def _valued(value: bytes) -> bool:
    """Neither a word nor the name of something: long enough, and with a digit or a sign in it."""
    if len(value) < _SHORTEST or _HARMLESS.match(value):
        return False
    return bool(_DIGIT.search(value)) or not (_IDENTIFIER.match(value) or value.isalpha())
