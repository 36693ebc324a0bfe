r"""A provider that answers from a script: for tests, demos, and trying the whole program without a key.

In a configuration `llm.provider = "scripted"` and `llm.script` names a JSON file, a list of replies in order:

    ["a whole reply",
     {"text": "cut off in the mid", "stop": "length"},
     {"error": "busy", "retry_after_s": 2},
     {"purpose": "deep-dream", "text": "[MEMORY]\n...\n[DREAM]\n..."}]

`stop` is end, length or filter; `error` is busy, unreachable, refused, too_long or unusable. A reply with a `purpose`
serves the next call of that purpose only, one without serves any. A script that has run out refuses.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import anyio
import anyio.lowlevel
import msgspec
from anyio import to_thread
from msgspec import Struct

from dreamd.calls import Prompt, Purpose, Reply, Stop, without_thinking
from dreamd.errors import (
    ConfigError,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyUnusable,
)
from dreamd.providers.base import Provider
from dreamd.sections import Llm

Answer = Reply | str | ProviderError


class ScriptedProvider(Provider):
    """Answers with `replies` in order, or with what a function makes of the prompt; `prompts` is what was asked.

    A str is a whole reply, a Reply is returned as it is, an error is raised. Raises ProviderRefused when the script
    has run out.
    """

    def __init__(self, replies: Sequence[Answer] | Callable[[Prompt], Answer]) -> None:
        self._answer = replies if callable(replies) else _in_order([("", answer) for answer in replies])
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        await anyio.lowlevel.checkpoint()
        answer = self._answer(prompt)
        if isinstance(answer, ProviderError):
            raise answer
        return answer if isinstance(answer, Reply) else reply_of(answer, prompt)

    async def aclose(self) -> None:
        pass


def reply_of(text: str, prompt: Prompt) -> Reply:
    """A reply as a model would give it; a token is four characters. Raises ReplyUnusable when nothing is said."""
    said = without_thinking(text).strip()
    if not said:
        raise ReplyUnusable("the script's reply is empty")
    asked = len(prompt.system) + len(prompt.user)
    return Reply(
        text=said, stop="end", model="scripted", input_tokens=asked // 4, output_tokens=len(text) // 4
    )


def _in_order(answers: Sequence[tuple[Purpose | Literal[""], Answer]]) -> Callable[[Prompt], Answer]:
    left = list(answers)

    def answer(prompt: Prompt) -> Answer:
        for at, (purpose, _) in enumerate(left):
            if purpose in ("", prompt.purpose):
                return left.pop(at)[1]
        return ProviderRefused(f"the script has no reply left for {prompt.purpose}", hint="see llm.script")

    return answer


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of a script file."""

    text: str = ""
    stop: Stop = "end"
    purpose: Purpose | Literal[""] = ""
    error: Literal["", "busy", "unreachable", "refused", "too_long", "unusable"] = ""
    retry_after_s: float | None = None

    def answer(self) -> Answer:
        said = "the script says so"
        errors: dict[str, ProviderError] = {
            "busy": ProviderBusy(said, retry_after_s=self.retry_after_s),
            "unreachable": ProviderUnreachable(said),
            "refused": ProviderRefused(said),
            "too_long": PromptTooLong(said),
            "unusable": ReplyUnusable(said),
        }
        if self.error:
            return errors[self.error]
        return Reply(text=self.text, stop=self.stop, model="scripted") if self.text else errors["unusable"]


def read_script(path: Path) -> ScriptedProvider:
    """The provider that a script file describes. Raises ProviderRefused for a file that is none."""
    try:
        entries = msgspec.json.decode(path.read_bytes(), type=list[str | _Entry])
    except OSError as error:
        raise ProviderRefused(f"cannot read {path}: {error.strerror}", hint="see llm.script") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProviderRefused(f"{path} is no script: {error}", hint="write a JSON list of replies") from error
    plain = (_Entry(text=entry) if isinstance(entry, str) else entry for entry in entries)
    return ScriptedProvider(_in_order([(entry.purpose, entry.answer()) for entry in plain]))


class _FromFile(Provider):
    """Reads its script at the first call: `OPEN` may be called on the event loop, which reads no files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._script: ScriptedProvider | None = None
        self._reading = anyio.Lock()

    async def complete(self, prompt: Prompt) -> Reply:
        async with self._reading:
            if self._script is None:
                self._script = await to_thread.run_sync(read_script, self._path)
            script = self._script
        return await script.complete(prompt)

    async def aclose(self) -> None:
        pass


def _open(llm: Llm) -> Provider:
    if not llm.script:
        raise ConfigError("llm.provider is scripted and llm.script is empty", hint="name a file of replies")
    return _FromFile(Path(llm.script).expanduser())


OPEN: Callable[[Llm], Provider] = _open
