"""Names that are dead hold up nobody else, and what answers first is taken."""

import socket
import threading
from collections.abc import Callable, Iterator

import anyio
import pytest

from dreamd.gateway import dialling
from dreamd.gateway.dialling import FRESH_S, Dialler
from tests.gateway.house import until


class Resolver:
    """Knows some names; of `hangs.example` it says nothing until it is told to."""

    def __init__(self) -> None:
        self.known: dict[str, list[tuple[str, int]]] = {}
        self.asked: list[str] = []
        self.answering = threading.Event()

    def __call__(self, host: str, port: int, **_keys: object) -> list[tuple]:
        self.asked.append(host)
        if host == "hangs.example":
            self.answering.wait(20)
        if host not in self.known:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", where) for where in self.known[host]]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    one = Resolver()
    monkeypatch.setattr(dialling.socket, "getaddrinfo", one)
    yield one
    one.answering.set()


@pytest.fixture
def listener() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as one:
        yield one.getsockname()


def still() -> float:
    return 0.0


async def test_many_that_wait_for_a_dead_name_take_one_thread(
    resolver: Resolver, listener: tuple[str, int]
) -> None:
    resolver.known["well.example"] = [listener]
    dead, well = Dialler("hangs.example", 1, still), Dialler("well.example", listener[1], still)
    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(dead.dial)
        await until(lambda: resolver.asked)
        (await well.dial()).close()
        assert resolver.asked.count("hangs.example") == 1
        tasks.cancel_scope.cancel()
    resolver.answering.set()


async def test_what_was_found_serves_for_a_while_and_longer_when_the_resolver_fails(
    resolver: Resolver, listener: tuple[str, int]
) -> None:
    now = 0.0
    resolver.known["well.example"] = [listener]
    well = Dialler("well.example", listener[1], lambda: now)
    for _ in range(3):
        (await well.dial()).close()
    assert len(resolver.asked) == 1
    now, resolver.known = FRESH_S, {}
    (await well.dial()).close()
    assert len(resolver.asked) == 2


async def test_an_upstream_that_has_moved_is_found_at_once(
    resolver: Resolver, listener: tuple[str, int]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as before:
        resolver.known["moves.example"] = [before.getsockname()]
        moves = Dialler("moves.example", 1, still)
        (await moves.dial()).close()
    resolver.known["moves.example"] = [listener]
    with await moves.dial() as found:
        assert found.getpeername() == listener


async def test_the_first_address_that_answers_is_taken(
    resolver: Resolver, listener: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialling, "STAGGER_S", 0.01)
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    filling = [connecting(full.getsockname()) for _ in range(3)]  # from now on it answers nobody
    resolver.known["many.example"] = [("127.0.0.1", 1), full.getsockname(), listener]
    with await Dialler("many.example", 1, still).dial() as found:
        assert found.getpeername() == listener
    for one in (full, *filling):
        one.close()


def connecting(where: tuple[str, int]) -> socket.socket:
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(where)
    return one


@pytest.mark.parametrize(
    "of", [lambda: Dialler("no.example", 1, still), lambda: Dialler("127.0.0.1", 1, still)]
)
async def test_where_nobody_answers_it_says_why(resolver: Resolver, of: Callable[[], Dialler]) -> None:
    with pytest.raises(OSError, match=r"not known|Connect call failed"):
        await of().dial()


async def test_an_address_asks_no_resolver(resolver: Resolver) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as one:
        (await Dialler("::1", one.getsockname()[1], still).dial()).close()
    assert resolver.asked == []
