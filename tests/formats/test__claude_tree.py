"""Rewinds against a model that keeps everything."""

from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from dreamd.formats import _claude_tree
from dreamd.formats._claude_tree import Tree, TreeState

nodes = st.lists(
    st.tuples(st.sampled_from(["human", "human", "other", "progress"]), st.integers(-1, 30)), max_size=30
)


def _identity(uuid: str) -> str:
    return blake2b(uuid.encode(), digest_size=12).hexdigest()


def _grown(kinds: list[tuple[str, str, str | None]]) -> set[str]:
    """The uuids whose items the tree leaves standing."""
    tree, standing = Tree(TreeState()), {}
    for kind, uuid, parent in kinds:
        if kind == "progress":
            tree.bridge(uuid, parent)
            continue
        branch, gone = tree.fork(uuid, parent) if kind == "human" else (tree.grow(uuid, parent), [])
        for identity in gone:
            del standing[identity]
        if not tree.is_gone(branch):
            standing[_identity(uuid)] = uuid
            tree.emit(branch, _identity(uuid))
    return set(standing.values())


def _modelled(kinds: list[tuple[str, str, str | None]]) -> set[str]:
    """By the rule itself: of humans on one parent only the last stands, and nothing below the others."""
    parents, prompts, gone, standing = {}, {}, set(), set()
    progress = {uuid for kind, uuid, _ in kinds if kind == "progress"}
    for kind, uuid, above in kinds:
        parent = above
        while parent in progress:
            parent = parents[parent]
        parents[uuid] = parent
        if kind == "human" and parent is not None:
            gone.add(prompts.pop(parent, None))
            prompts[parent] = uuid
    for kind, uuid, _ in kinds:
        line = [uuid]
        while line[-1] is not None:
            line.append(parents[line[-1]])
        if kind != "progress" and not gone - {None} & set(line):
            standing.add(uuid)
    return standing


@given(nodes)
def test_what_stands_is_what_the_rule_leaves(drawn):
    kinds = []
    for number, (kind, parent) in enumerate(drawn):
        kinds.append((kind, f"u{number}", f"u{parent}" if 0 <= parent < number else None))

    assert _grown(kinds) == _modelled(kinds)


def test_the_tables_are_bounded(monkeypatch):
    monkeypatch.setattr(_claude_tree, "MAX_NODES", 50)
    monkeypatch.setattr(_claude_tree, "MAX_EMITTED", 50)
    monkeypatch.setattr(_claude_tree, "MAX_PROMPTS", 50)
    monkeypatch.setattr(_claude_tree, "_SLACK", 10)
    tree, parent = Tree(TreeState()), None
    for number in range(500):
        branch, _ = tree.fork(f"h{number}", parent)
        parent = f"a{number}"
        tree.grow(parent, f"h{number}")
        tree.bridge(f"p{number}", parent)
        tree.emit(branch, _identity(parent))
    state = tree.state

    assert max(len(state.nodes), len(state.bridges), len(state.prompts), len(state.emitted)) <= 60


def test_a_rewind_takes_back_the_items_it_remembers():
    tree = Tree(TreeState())
    first, _ = tree.fork("h1", "base")
    tree.emit(first, _identity("x"))
    _, gone = tree.fork("h2", "base")

    assert gone == [_identity("x")]
    assert tree.is_gone(first)
    assert tree.fork("h3", "base", rewinds=False)[1] == []
