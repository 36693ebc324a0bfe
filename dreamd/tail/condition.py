"""What is wrong with an agent's logs, kept in the store between two readings, for `status`: which loads little."""

import msgspec
from msgspec import Struct

from dreamd.parts import Parts
from dreamd.stores.base import Changes


class Condition(Struct, frozen=True):
    """Path -> reason, and paths."""

    unreadable: dict[str, str] = {}
    not_understood: list[str] = []


def condition(parts: Parts, agent_id: str) -> Condition:
    """What was wrong when the agent's logs were last read."""
    kept = parts.store.meta(_key(agent_id))
    return msgspec.json.decode(kept, type=Condition) if kept else Condition()


def keep(parts: Parts, agent_id: str, now: Condition) -> None:
    if now != condition(parts, agent_id):
        parts.store.write(Changes(meta={_key(agent_id): msgspec.json.encode(now).decode()}))


def _key(agent_id: str) -> str:
    return f"tail:{agent_id}"
