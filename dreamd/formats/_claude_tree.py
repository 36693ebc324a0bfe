"""The tree a Claude Code log grows: records in, and out the identities that a rewind took back (FORMATS J12).

A human prompt begins a branch, every other record belongs to its parent's. Two human prompts on one parent mean that
the human went back: the older one's branch, and all that grew from it, is withdrawn, and stays so for late comers.

Bounds: all prompts' parents are kept up to `MAX_PROMPTS`; the place of the last `MAX_NODES` records and the identities of the
last `MAX_EMITTED` items. A rewind is exact unless it takes back more than `MAX_EMITTED` items: of these the oldest stay.
"""

from functools import lru_cache
from hashlib import blake2b
from itertools import islice

from msgspec import Struct, field

MAX_NODES = 16_384
MAX_EMITTED = 16_384
MAX_PROMPTS = 8_192

_GROWS, _GONE = 0, -1
_SLACK = 1024  # trimming in steps costs less than trimming at every record


class TreeState(Struct):
    nodes: dict[int, int] = {}
    """Record key -> its branch."""
    bridges: dict[int, int] = {}
    """Progress record key -> key of the record it hangs on, 0 for none."""
    prompts: dict[int, int] = {}
    """Parent's key -> branch of the latest human prompt on it."""
    parents: list[int] = field(default_factory=lambda: [_GROWS])
    """Branch -> the branch it grew from, or that it is gone. Branch 0 is the log's trunk."""
    emitted: list[tuple[int, bytes]] = []
    """Branch and identity of the latest items, in order."""


class Tree:
    def __init__(self, state: TreeState) -> None:
        self.state = state

    def knows(self, uuid: str | None) -> bool:
        return uuid is not None and _key(uuid) in self.state.nodes

    def bridge(self, uuid: str | None, parent: str | None) -> None:
        """A progress record sits between a prompt and its parent, and is looked through."""
        if uuid is not None:
            bridges = self.state.bridges
            bridges[_key(uuid)] = self._bridged(parent)
            if len(bridges) > MAX_NODES + _SLACK:
                _trim(bridges)

    def grow(self, uuid: str | None, parent: str | None) -> int:
        """The branch of a record; 0 also where its parent is not known. One seen before stays where it is."""
        known = self.state.nodes.get(_key(uuid)) if uuid is not None else None
        if known is not None:
            return known
        branch = self.state.nodes.get(self._bridged(parent), 0)
        self._place(uuid, branch)
        return branch

    def fork(self, uuid: str | None, parent: str | None, *, rewinds: bool = True) -> tuple[int, list[str]]:
        """The new branch of a human prompt, and the identities withdrawn by it.

        A prompt that was queued while the agent worked cannot be a rewind.
        """
        state = self.state
        trunk = self._bridged(parent)
        origin = state.nodes.get(trunk, 0)
        older = state.prompts.get(trunk, 0) if trunk and rewinds else 0
        gone = self._withdraw(older) if older else []
        state.parents.append(_GONE if self.is_gone(origin) else origin)
        branch = len(state.parents) - 1
        if trunk:
            state.prompts[trunk] = branch
            if len(state.prompts) > MAX_PROMPTS + _SLACK:
                _trim(state.prompts)
        self._place(uuid, branch)
        return branch, gone

    def is_gone(self, branch: int) -> bool:
        return self.state.parents[branch] == _GONE

    def emit(self, branch: int, identity: str) -> None:
        emitted = self.state.emitted
        emitted.append((branch, bytes.fromhex(identity)))
        if len(emitted) > MAX_EMITTED + _SLACK:
            del emitted[:_SLACK]

    def _place(self, uuid: str | None, branch: int) -> None:
        if uuid is not None:
            nodes = self.state.nodes
            nodes[_key(uuid)] = branch
            if len(nodes) > MAX_NODES + _SLACK:
                _trim(nodes)

    def _bridged(self, parent: str | None) -> int:
        if parent is None:
            return 0
        key = _key(parent)
        return self.state.bridges.get(key, key)

    def _withdraw(self, root: int) -> list[str]:
        parents = self.state.parents
        gone = {root}
        for branch in range(root + 1, len(parents)):  # a branch is younger than the one it grew from
            if parents[branch] in gone:
                gone.add(branch)
        for branch in gone:
            parents[branch] = _GONE
        taken = [identity.hex() for branch, identity in self.state.emitted if branch in gone]
        self.state.emitted = [item for item in self.state.emitted if item[0] not in gone]
        return taken


def _trim(table: dict[int, int]) -> None:
    for key in list(islice(table, _SLACK)):
        del table[key]


@lru_cache(maxsize=64)  # a record's parent is mostly the one just read
def _key(uuid: str) -> int:
    """64 bits of a uuid's hash: never 0, which means no record."""
    return int.from_bytes(blake2b(uuid.encode("utf-8", "replace"), digest_size=8).digest()) or 1
