import json
import os
from collections.abc import Callable

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from dreamd.gate.passing import published
from dreamd.hand.plan import LEFT
from dreamd.sections import Gateway
from dreamd.stores.base import Changes
from dreamd.supervisor.kept import LONGEST_PAUSE_S, Failures
from dreamd.supervisor.tasks import GatewayLife, forgotten
from tests.night.conftest import House, Told, house  # noqa: F401 - a fixture

Build = Callable[..., House]


async def test_the_gateway_opens_once_it_is_asked_for_and_goes_with_its_life(house: Build) -> None:  # noqa: F811
    home = house("anna")
    place = home.root / "gateway.sock"
    life = GatewayLife(home.parts, Failures())
    listen = replace(home.parts.config, gateway=Gateway(listen=f"unix:{place}"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(life.kept)
        await anyio.lowlevel.checkpoint()
        assert home.told.named("gateway.opened") == []
        life.goes_on(replace(home.parts, config=listen))
        with anyio.fail_after(60):
            while not home.told.named("gateway.opened"):  # noqa: ASYNC110 - it is told, not signalled
                await anyio.sleep(0.01)
        assert place.is_socket()
        shown = await anyio.to_thread.run_sync(published, home.parts.store, os.getpid())
        assert shown is not None
        assert (shown.listen, shown.passing.calls) == (f"unix:{place}", 0)
        life.close()
    assert not place.exists()


async def test_a_gateway_that_is_switched_off_is_shown_no_more(house: Build) -> None:  # noqa: F811
    home = house("anna")
    life = GatewayLife(home.parts, Failures())
    listen = replace(home.parts.config, gateway=Gateway(listen=f"unix:{home.root / 'gateway.sock'}"))

    async def shown() -> bool:
        return await anyio.to_thread.run_sync(published, home.parts.store, os.getpid()) is not None

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(life.kept)
        for parts, listens in ((replace(home.parts, config=listen), True), (home.parts, False)):
            life.goes_on(parts)
            with anyio.fail_after(60):
                while await shown() != listens:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
        life.close()


async def test_a_gateway_that_fails_is_told_by_the_configuration_of_that_moment(house: Build) -> None:  # noqa: F811
    home, told = house("anna"), Told()
    life = GatewayLife(home.parts, Failures())
    open_to_all = replace(home.parts.config, gateway=Gateway(listen="0.0.0.0:0"))
    unix = replace(home.parts.config, gateway=Gateway(listen=f"unix:{home.root / 'gateway.sock'}"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(life.kept)
        life.goes_on(replace(home.parts, config=unix))
        with anyio.fail_after(60):
            while not home.told.named("gateway.opened"):  # noqa: ASYNC110 - it is told, not signalled
                await anyio.sleep(0.01)
            life.goes_on(replace(home.parts, config=open_to_all, emit=told))
            while not told.named("task.failed"):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        life.close()
    assert told.named("task.failed")[0]["task"] == "gateway"
    assert home.told.named("task.failed") == []


async def test_what_a_crash_left_halfforgotten_is_finished_at_the_start(house: Build) -> None:  # noqa: F811
    home = house("anna")
    home.parts.store.write(Changes(meta={LEFT: '{"step": "purge", "memories": ["a"], "lines": 2}'}))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(forgotten, home.parts)
        with anyio.fail_after(60):
            while not home.told.named("memories.forgotten"):  # noqa: ASYNC110 - it is told, not signalled
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert home.told.named("memories.forgotten") == [{"memories": 1, "lines": 2, "files": []}]
    assert home.parts.store.meta(LEFT) == ""


async def test_forgetting_that_cannot_be_finished_now_is_tried_again_and_told_once(house: Build) -> None:  # noqa: F811
    home = house("anna")
    work = home.root / "anna"
    memory = work / "MEMORY.md"
    memory.write_text("- one\n- two\n")
    cut = {"path": str(memory), "root": str(work), "page": "memory", "raws": ["- one\n"]}
    left = {"step": "files", "cuts": [cut], "memories": ["a"]}
    work.rename(home.root / "away")
    home.parts.store.write(Changes(meta={LEFT: json.dumps(left)}))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(forgotten, home.parts)
        with anyio.fail_after(60):
            while home.clock.monotonic() < 3 * LONGEST_PAUSE_S:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            assert len(home.told.named("forgetting.delayed")) == 1
            (home.root / "away").rename(work)
            while not home.told.named("memories.forgotten"):  # noqa: ASYNC110 - it has no event
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert memory.read_text() == "- two\n"
