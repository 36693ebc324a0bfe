r"""A text out of a log in, the same text with characters that JSON wrote as codes (`\u676d`) as they are meant, out (pure)."""

import re

_CODED = re.compile(r"\\+u[0-9a-fA-F]{4}")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")
_ESCAPES = re.compile(r'\\(["\\/bfnrt])')
_SHORT = {"b": " ", "f": " ", "n": "\n", "r": "\n", "t": "\t"}


def readable(text: str) -> str:
    """Letters and signs only: what is coded among ASCII, as a line break is, may be meant as it stands."""
    if "\\u" not in text:
        return text
    told = _PAIR.sub(_together, _CODED.sub(_character, text))
    return _LONE.sub("\ufffd", told)


def unquoted(json: str) -> str:
    r"""As `readable`, of a piece of JSON, which may be cut: `\n` and `\"` in it are what they stand for."""
    return readable(_ESCAPES.sub(lambda escape: _SHORT.get(escape[1], escape[1]), json))


_ASCII = 0x80


def _character(code: re.Match[str]) -> str:
    value = int(code[0][-4:], 16)
    return code[0] if value < _ASCII else chr(value)


def _together(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")
