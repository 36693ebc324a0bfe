"""The gate's rules, as a state that only arrivals and departures change (pure).

1. A foreground call never waits.
2. A dream call starts only while the calls in flight, foreground and dream, are fewer than `limit`.
3. Dream calls start in the order they came.
4. Whoever leaves, finished or given up, lets in as many waiting calls as rule 2 allows: none is forgotten.

The rules meet when foreground calls take the gate over its limit: they start (1), and no dream call does until
enough have left (2). A dream call in flight is never pushed out here.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Lane = Literal["foreground", "dream"]


class GateState(Struct, frozen=True):
    """Tickets name calls. `foreground` and `dreams` are in flight; `waiting` are dream calls, first come first."""

    limit: int
    foreground: frozenset[int] = frozenset()
    dreams: frozenset[int] = frozenset()
    waiting: tuple[int, ...] = ()


class Step(Struct, frozen=True):
    """The state after a change, and the tickets that start because of it, in order."""

    state: GateState
    started: tuple[int, ...] = ()


def arrive(state: GateState, ticket: int, lane: Lane) -> Step:
    """A call comes. `ticket` is new."""
    if lane == "foreground":
        return Step(replace(state, foreground=state.foreground | {ticket}), (ticket,))
    return _admit(replace(state, waiting=(*state.waiting, ticket)))


def leave(state: GateState, ticket: int) -> Step:
    """A call goes: it ended, failed, was cancelled, or gave up waiting. An unknown ticket changes nothing."""
    return _admit(
        replace(
            state,
            foreground=state.foreground - {ticket},
            dreams=state.dreams - {ticket},
            waiting=tuple(other for other in state.waiting if other != ticket),
        )
    )


def _admit(state: GateState) -> Step:
    free = max(0, state.limit - len(state.foreground) - len(state.dreams))
    started, waiting = state.waiting[:free], state.waiting[free:]
    return Step(replace(state, dreams=state.dreams.union(started), waiting=waiting), started)
