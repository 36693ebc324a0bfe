"""An LLM call as data: what is asked and what came back."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Purpose = Literal["daily-summary", "deep-dream", "score", "distil", "merge", "reconcile"]
Stop = Literal["end", "length", "filter"]


class Prompt(Struct, frozen=True, kw_only=True):
    """One call in its own conversation: a system text, one user text, no tools, no history.

    `schema` (JSON schema) asks for JSON where the provider can enforce it. `max_tokens` bounds the output.
    """

    purpose: Purpose
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, object] | None = None


class Reply(Struct, frozen=True, kw_only=True):
    """What came back, whole. `text` has think tags removed and is not empty. Token counts are 0 when not told."""

    text: str
    stop: Stop
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    journalled: bool = False  # answered from the journal: not paid for this time
