"""What `dreamd check` says of the gateway."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.check import Finding
from dreamd.gateway.checking import of_gateway
from dreamd.locks import DAEMON, exclusive
from dreamd.parts import Parts
from dreamd.sections import Agent, Gateway, Llm
from tests.night.conftest import House, house  # noqa: F401 - a fixture

Build = Callable[..., House]


def parts_with(home: House, gateway: Gateway, **sections: object) -> Parts:
    return replace(home.parts, config=replace(home.parts.config, gateway=gateway, **sections))


async def found(home: House, gateway: Gateway, **sections: object) -> list[Finding]:
    return await of_gateway(parts_with(home, gateway, **sections))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


async def test_switched_off_it_is_well(house: Build) -> None:  # noqa: F811
    assert await found(house(), Gateway()) == [Finding("ok", "gateway", "switched off")]


@pytest.mark.parametrize(
    ("listen", "said"),
    [
        ("here", "gateway.listen is 'here'"),
        ("0.0.0.0:8377", "which others reach"),
        ("127.0.0.2:{taken}", "cannot listen at"),
        ("unix:/no/such/folder/g", "not there or not writable"),
        ("unix:{folder}", "something else than a socket"),
        (f"unix:/{'长' * 50}", "too long"),
    ],
)
async def test_an_address_that_cannot_be_had_is_an_error(
    house: Build,  # noqa: F811
    tmp_path: Path,
    listen: str,
    said: str,
) -> None:
    with socket.create_server(("127.0.0.2", 0)) as taken:
        where = listen.format(taken=taken.getsockname()[1], folder=tmp_path)
        first, *_ = await found(house(), Gateway(listen=where))
    assert (first.level, said in first.what, bool(first.todo)) == ("error", True, True)


async def test_upstreams_are_knocked_at_and_those_that_are_down_are_told(house: Build) -> None:  # noqa: F811
    with socket.create_server(("127.0.0.1", 0)) as up:
        upstreams = {
            "up": f"http://127.0.0.1:{up.getsockname()[1]}",
            "down": f"http://127.0.0.1:{free_port()}",
            "nowhere": "http://no-such-host.invalid",
        }
        _, *told = await found(house(), Gateway(listen="127.0.0.1:0", upstreams=upstreams))
    assert [(one.about.rpartition(".")[2], one.level) for one in told] == [
        ("up", "ok"),
        ("down", "warning"),
        ("nowhere", "warning"),
    ]


async def test_calls_that_would_go_in_a_circle_or_past_the_gate_are_found(house: Build) -> None:  # noqa: F811
    port = free_port()
    listen, own = f"127.0.0.1:{port}", f"http://localhost:{port}/up"
    home = house()
    (circle,) = await found(home, Gateway(listen=listen, upstreams={"up": own}))
    assert (circle.level, circle.what) == ("error", "gateway.upstreams.up is the gateway itself")
    told = await found(
        home,
        Gateway(listen=listen),
        llm=Llm(provider="openai", base_url=own),
        agents={"a": Agent(upstream=own)},
    )
    errors = [one.what for one in told if one.level == "error"]
    assert [what.partition(" ")[0] for what in errors] == ["llm.base_url", "agents.a.upstream"]
    assert told[-1].what == "there are no upstreams, so no call can pass"


async def test_beside_a_daemon_it_must_answer(house: Build) -> None:  # noqa: F811
    home, port = house(), free_port()
    gateway = Gateway(listen=f"127.0.0.1:{port}")
    async with exclusive(home.parts.state / DAEMON, home.clock, what="dreamd runs"):
        silent, *_ = await found(home, gateway)
        with socket.create_server(("127.0.0.1", port)):
            answering, *_ = await found(home, gateway)
    assert (silent.level, answering.level) == ("error", "ok")
