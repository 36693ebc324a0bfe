"""Whose words a user text of a Claude Code log is (FORMATS J5, J14 to J19): the text and its marks in, a verdict out.

Law: what the harness or another program wrote is never taken for the human's. Positive marks (`origin`, `isMeta`,
`promptSource`) come before the text's own tags, which drift with every release.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from dreamd.formats._claude_lines import From, Line
from dreamd.formats._values import joined
from dreamd.records import Origin, Role


class Said(NamedTuple):
    """A user text's reading; an empty `text` is not worth an item.

    It `starts` a turn or not (J6); the agent is then `busy`, is idle, or goes on as it was (None).
    """

    text: str
    origin: Origin
    role: Role = "user"
    starts: bool = False
    busy: bool | None = None


_CAVEAT = "local-command-caveat"
_WRAPPERS = (  # what clients glue to a prompt
    "system-reminder", _CAVEAT, "ide_opened_file", "ide_selection", "ide_diagnostics",
    "user-prompt-submit-hook", "session-start-hook", "post-tool-use-hook",
)  # fmt: skip
_COMMAND = ("command-name", "command-message", "command-args", "skill-format")
_OUTPUTS = ("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr")
_NOTICES = (  # they wake an idle agent
    "<task-notification", "<channel", "<cross-session-message", "<tick", "<ultraplan", "<remote-review",
)  # fmt: skip
_SUMMARY = "This session is being continued from a previous conversation"
_INTERRUPT = "[Request interrupted by user"
_HOOK = re.compile(r"[A-Z]\w+ hook (?:feedback|blocking error)\b")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")


def said(line: Line, parts: Sequence[str], *, subagent: bool, fired: bool) -> Said | None:
    """The reading of a user record's texts; None when they are blank.

    `subagent`: the record stands in a side chain. `fired`: the line before told that a scheduled task fires.
    """
    whole = joined(parts)
    if not whole:
        return None
    # the cheap way to see that nothing is special
    tagged = whole[0] in "<[ST" or _HOOK.match(whole) is not None
    return (
        _by_marks(line, whole, fired=fired)
        or (tagged and (_printed(whole) or _sent(line, whole)))
        or _meta(line, whole)
        or (tagged and _of_the_harness(line, whole))
        or _prompt(whole, parts, "subagent" if subagent else "human")
    )


def queued(line: Line, parts: Sequence[str], *, subagent: bool) -> Said | None:
    """The reading of what reached the agent while it worked (J17): being read inside a turn, a notice starts none."""
    attachment = line.attachment
    if attachment is None or not joined(parts):
        return None
    sender = attachment.origin or line.origin
    foreign = sender is not None and sender.kind != "human"
    if (
        (foreign and not _fires(sender))
        or attachment.is_meta
        or attachment.command_mode not in {"prompt", None}
    ):
        return Said(joined(parts), "injected")
    if _fires(sender):
        return Said(joined(parts), "scheduled", starts=True, busy=True)
    verdict = said(line, parts, subagent=subagent, fired=False)
    return verdict._replace(starts=False) if verdict and verdict.origin == "injected" else verdict


def local(text: str) -> Said | None:
    """A slash command, or what it printed, as newer versions log them: on a system line (J15)."""
    text = text.strip()
    if name := command(text):
        return Said(name, "human", starts=True)
    output = printed(text)
    return None if output is None else Said(output, "injected", "system")


def command(text: str) -> str:
    """`/name args` when the text is nothing but a slash command's tags, else "" (J15)."""
    if not text.startswith("<command-") or without(text, *_COMMAND).strip():
        return ""
    name = inside(text, "command-name") or inside(text, "command-message")
    return f"/{name.removeprefix('/')} {inside(text, 'command-args')}".rstrip() if name else ""


def printed(text: str) -> str | None:
    """What a local or shell command printed (J15, J16); None when the text is no such output."""
    if not text.startswith(("<local-command-std", "<bash-std")):
        return None
    output = joined([inside(text, tag) for tag in _OUTPUTS])
    return _ANSI.sub("", output).strip() if text.startswith("<local") else output


def inside(text: str, tag: str) -> str:
    """What stands in the `<tag>` blocks of a text, trimmed and joined by lines."""
    return joined([text[start:end] for _, start, end, _ in _blocks(text, tag)])


def unwrapped(text: str, tag: str) -> str:
    """A text without the `<tag>` marks themselves; what stands in and around them is trimmed and joined by lines."""
    parts, at = [], 0
    for begin, start, end, after in _blocks(text, tag):
        parts += [text[at:begin], text[start:end]]
        at = after
    return joined([*parts, text[at:]])


def without(text: str, *tags: str) -> str:
    """A text without its `<tag>` blocks."""
    for tag in tags:
        kept, at = [], 0
        for begin, _, _, after in _blocks(text, tag):
            kept.append(text[at:begin])
            at = after
        text = "".join(kept) + text[at:] if kept else text
    return text


def _blocks(text: str, tag: str) -> Iterator[tuple[int, int, int, int]]:
    """Where each whole block of a tag begins, where its inside begins and ends, and where it is over."""
    at, closing = 0, f"</{tag}>"
    while (opening := _opening(tag).search(text, at)) and (end := text.find(closing, opening.end())) >= 0:
        at = end + len(closing)
        yield opening.start(), opening.end(), end, at


@cache
def _opening(tag: str) -> re.Pattern[str]:
    return re.compile(rf'<{tag}(?:\s(?:"[^"\n]{{0,500}}"|[^<>])*+)?>')


def _fires(sender: From | None) -> bool:
    return sender is not None and sender.subkind == "scheduled-trigger"


def _typed(line: Line) -> bool:
    """The log itself says that a human typed this: then the text's own tags prove nothing."""
    return line.prompt_source == "typed" or (line.origin is not None and line.origin.kind == "human")


def _by_marks(line: Line, whole: str, *, fired: bool) -> Said | None:
    if line.is_compact_summary:
        return Said(whole, "injected", "system")
    if _fires(line.origin) or (fired and line.is_meta):
        return Said(whole, "scheduled", starts=True, busy=True)
    if line.origin is not None and line.origin.kind not in {"human", None}:
        return Said(whole, "injected", starts=True, busy=True)
    return None


def _printed(whole: str) -> Said | None:
    output = printed(whole)
    if output is None:
        return None
    return Said(output, "injected", busy=False if whole.startswith("<local") else None)


def _sent(line: Line, whole: str) -> Said | None:
    """From a scheduler, another agent or a program that wakes this one (J18, J19)."""
    if _typed(line):
        return None
    if whole.startswith("<scheduled-task"):
        return Said(whole, "scheduled", starts=True, busy=True)
    if whole.startswith("<teammate-message"):
        return Said(unwrapped(whole, "teammate-message"), "subagent", starts=True, busy=True)
    if whole.startswith(_NOTICES):
        return Said(whole, "injected", starts=True, busy=True)
    return None


def _meta(line: Line, whole: str) -> Said | None:
    if line.is_meta:
        return Said(without(whole, _CAVEAT).strip(), "injected", busy=True if _HOOK.match(whole) else None)
    if line.prompt_source == "system":
        return Said(whole, "injected", starts=True, busy=True)
    return None


def _of_the_harness(line: Line, whole: str) -> Said | None:
    """Older versions mark nothing: known beginnings tell."""
    if _typed(line):
        return None
    if whole.startswith(_SUMMARY):
        return Said(whole, "injected", "system")
    if whole.startswith(_INTERRUPT):
        return Said(whole, "injected", busy=False)
    return Said(whole, "injected", busy=True) if _HOOK.match(whole) else None


def _prompt(whole: str, parts: Sequence[str], origin: Origin) -> Said:
    """A prompt, without what a client glued to it; nothing but such wrappers is injected as it stands (J14)."""
    bare = joined([without(part, *_WRAPPERS) if "<" in part else part for part in parts])
    if not bare:
        return Said(without(whole, _CAVEAT).strip(), "injected")
    if shell := bare.startswith("<bash-input>") and inside(bare, "bash-input"):
        return Said(f"! {shell}", origin, starts=True)
    return Said(command(bare) or bare, origin, starts=True, busy=True)
