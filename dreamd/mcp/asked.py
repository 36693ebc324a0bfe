"""What a model wants remembered in; the words with which the person asked for it out, if the person did.

Law: a model's word is no person's word. Only what stands in a record that the person typed, said on purpose for later
("remember ...", "from now on ...", 记住), becomes the person's own; or what the person confirms when the client asks.
"""

from collections.abc import Iterator
from datetime import timedelta

from dreamd.dream.promote import on_purpose
from dreamd.dream.said import by_human
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.pool.acts import acts
from dreamd.pool.retold import adds_nothing
from dreamd.stores.base import MemoryQuery

LOOK_BACK = timedelta(days=2)  # what is older has been dreamt of


def asked_words(parts: Parts, agent: str, wish: str) -> str:
    """The newest statement of the person that says the same and was made on purpose; "" when there is none. Blocking."""
    since = (parts.clock.now() - LOOK_BACK).date()
    query = MemoryQuery(agent=agent, types=("raw",), origins=("human",), since=since)
    return next(_statements(list(parts.store.memories(query)), wish), "")


def _statements(records: list[Memory], wish: str) -> Iterator[str]:
    """Newest first."""
    for record in reversed(records):
        if by_human(record) and on_purpose(record, wish):
            near = [act for act in acts(record.content) if act.explicit and adds_nothing(wish, act.quote)]
            yield from (act.statement for act in near[:1])
