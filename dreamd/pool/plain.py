"""Text in, the same text without what nobody sees: terminal codes, control, direction and tag characters (pure).

Such characters hide words from a reader that a model reads, turn lines round, or speak to the terminal. Joiners stay,
for scripts and emoji need them.
"""

import re

_CODES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])"  # ECMA-48 sequences
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"  # control characters that are no white space
    r"|[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]"  # Unicode UAX 9, TR 36
    r"|[\U000e0000-\U000e007f]"  # tags
)
_BREAKS = re.compile(r"[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")  # line breaks to some, white space to others


def plain(text: str) -> str:
    r"""Only `\n`, `\r\n` and `\r` still break a line."""
    return _CODES.sub("", _BREAKS.sub(" ", text))
