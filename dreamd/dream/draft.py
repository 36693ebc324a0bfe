"""What a dream proposes before it is believed: insights as drafts, each with what it rests on (plain data)."""

from msgspec import Struct

from dreamd.memories import Entity, Kind


class Quote(Struct, frozen=True):
    """Words of a raw memory, verbatim."""

    memory_id: str
    text: str


class Draft(Struct, frozen=True, kw_only=True):
    """One sentence that the memories `ref_ids` (raw) are said to show.

    `confidence` is the proposer's own figure: only ever a cap. `explicit` says that the human stated it on purpose for
    later. `author` is "rule" or "model". `passing`: a word of the moment, put away until it is said again. `weak`: its records hardly bear it out, or only together; it is kept to be seen
    and is never to be promoted as it stands.
    """

    statement: str
    kind: Kind
    ref_ids: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    entities: tuple[Entity, ...] = ()
    applies_when: str = ""
    confidence: float = 1.0
    explicit: bool = False
    author: str = "rule"
    weak: bool = False
    passing: bool = False
