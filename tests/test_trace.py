"""The trace collector: what an agent tells is what dreamd reads, whatever happens to the agent or the disk."""

import asyncio
import fcntl
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Never

import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st

from dreamd import trace
from dreamd.formats.trace import FORMAT
from dreamd.records import Amendment, Item, Record, Skip, Span, Turn
from dreamd.trace import AsyncTracer, Log, Tracer
from tests.formats.folding import Beside, items_of, source_of

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
REPO = Path(__file__).parent.parent


def clockwork() -> dict[str, Callable[[], Any]]:
    """Times a second apart, and ids that count."""
    seconds, numbers = count(), count(1)
    return {
        "now": lambda: MORNING + timedelta(seconds=next(seconds)),
        "new_id": lambda: f"n{next(numbers)}",
    }


def lines(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(folder.rglob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]


def read(path: Path) -> list[Item]:
    """What dreamd's reader makes of a log."""
    reader = FORMAT.open(source_of(path), Beside(path, path), b"")
    raw = path.read_bytes().split(b"\n")
    assert raw.pop() == b""
    return [item for line in raw for item in reader.feed(line, Span(source_id="x"))]


def records(path: Path) -> list[Record]:
    return [item for item in read(path) if isinstance(item, Record)]


def a_day(tracer: Tracer) -> None:
    with tracer.task("Book a table", by="human") as task:
        task.subgoal("Find noodles")
        with task.action("search", {"q": "noodles", "near": ["home"]}) as search:
            search.result = ["Ramen-Ya", "面馆"]
        with task.action("call", "Ramen-Ya") as call:
            call.error = "no answer"
        task.summary("One place left")
        task.checkpoint("Before the second call")
        task.message("user", "Any luck?")
        task.message("assistant", "Yes.")
        task.end("Booked for 19:00")


def test_a_task_reads_back_as_the_records_it_was(tmp_path: Path) -> None:
    a_day(Tracer(tmp_path, "shop", **clockwork()))
    items = [item for item in read(tmp_path / "shop.jsonl") if not isinstance(item, Turn)]
    assert [item for item in items if isinstance(item, Skip)] == []
    found = [item for item in items if isinstance(item, Record)]
    assert [(one.role, one.origin, one.text or one.tool) for one in found] == [
        ("user", "human", "Book a table"),
        ("system", "injected", "Find noodles"),
        ("tool", "tool", "search"),
        ("tool", "tool", "call"),
        ("system", "injected", "One place left"),
        ("system", "injected", "Before the second call"),
        ("user", "human", "Any luck?"),
        ("assistant", "human", "Yes."),
        ("system", "injected", "Booked for 19:00"),
    ]
    assert {one.task_id for one in found} == {"n1"}
    assert found[0].at == MORNING
    good, bad = [item for item in items if isinstance(item, Amendment)]
    assert (good.ok, good.trace.result) == (True, '["Ramen-Ya", "面馆"]')
    assert (bad.ok, bad.trace.error, bad.trace.arguments) == (False, "no answer", "Ramen-Ya")


async def test_the_asynchronous_tracer_writes_the_same_lines(tmp_path: Path) -> None:
    tracer = AsyncTracer(tmp_path / "async", "shop", **clockwork())
    async with tracer.task("Book a table", by="human") as task:
        await task.subgoal("Find noodles")
        async with task.action("search", {"q": "noodles", "near": ["home"]}) as search:
            search.result = ["Ramen-Ya", "面馆"]
        async with task.action("call", "Ramen-Ya") as call:
            call.error = "no answer"
        await task.summary("One place left")
        await task.checkpoint("Before the second call")
        await task.message("user", "Any luck?")
        await task.message("assistant", "Yes.")
        await task.end("Booked for 19:00")
    await to_thread.run_sync(a_day, Tracer(tmp_path / "plain", "shop", **clockwork()))
    one, other = await to_thread.run_sync(lambda: [lines(tmp_path / name) for name in ("async", "plain")])
    assert one == other


def test_an_action_is_on_the_disk_before_it_runs(tmp_path: Path) -> None:
    with Tracer(tmp_path, "s").action("rm", ["-r", "/tmp/x"]):
        assert [(line["kind"], line["arguments"]) for line in lines(tmp_path)] == [
            ("action", ["-r", "/tmp/x"])
        ]


def test_what_an_action_or_task_raises_is_told_and_raised(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path, "s")
    with pytest.raises(KeyError), tracer.task("Try") as task, task.action("look"):
        raise KeyError("key")
    assert [(line["kind"], line.get("error"), line.get("ok")) for line in lines(tmp_path)] == [
        ("goal", None, None),
        ("action", None, None),
        ("result", "KeyError: 'key'", None),
        ("end", None, False),
    ]


def test_a_task_ends_once(tmp_path: Path) -> None:
    with Tracer(tmp_path, "s").task("Try") as task:
        task.end("Given up", ok=False)
    with Tracer(tmp_path, "s").task("Try"):
        pass
    assert [(line["kind"], line.get("ok")) for line in lines(tmp_path)] == [
        ("goal", None), ("end", False), ("goal", None), ("end", True),
    ]  # fmt: skip


def test_each_task_has_an_id_of_its_own_unless_it_is_named(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path, "s")
    with tracer.task("One"), tracer.task("Two"), tracer.task("Three", task_id="t3"):
        pass
    tracer.summary("of no task")
    named = {line["text"]: line.get("task") for line in lines(tmp_path) if "text" in line}
    assert named["Three"] == "t3"
    assert named["of no task"] is None
    assert len(set(named.values())) == 4


class Mute:
    def __str__(self) -> str:
        raise AttributeError("half built")


class Detached(Exception):
    """As of a library that an agent uses."""


class Raising:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def __str__(self) -> str:
        raise self.error


class Closed(dict[str, object]):
    def items(self) -> Never:
        raise Detached


class Unmeasured(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise Detached


def _circle() -> list[object]:
    circle: list[object] = []
    circle.append(circle)
    return circle


def _deep() -> list[object]:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"at": MORNING, "in": Path("/x")}, {"at": "2026-03-02 09:00:00+00:00", "in": "/x"}),
        (float("nan"), "nan"),
        ({("a", 1): 2}, "{('a', 1): 2}"),
        (Mute(), "(Mute)"),
        ({"x": {1, 2}}, {"x": "{1, 2}"}),
        (b"\xff", "b'\\xff'"),
        (10**5000, "(int)"),
        ("\ud800 lone", "? lone"),
        (_circle(), "[[...]]"),
        (_deep(), "(list)"),
        (Raising(Detached()), "(Raising)"),
        ([Raising(AssertionError()), Raising(StopIteration())], ["(Raising)", "(Raising)"]),
        (Closed(a=1), "(Closed)"),
        (Unmeasured("x"), "(Unmeasured)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_object_can_be_an_argument(tmp_path: Path, value: object, told: object) -> None:
    with Tracer(tmp_path, "s").action("f", value):
        pass
    (action, _) = lines(tmp_path)
    assert action["arguments"] == told
    assert not [item for item in read(tmp_path / "s.jsonl") if isinstance(item, Skip)]


@given(text=st.text(), session=st.text(min_size=1), value=st.dictionaries(st.text(), st.floats() | st.text()))
def test_any_words_make_one_line_that_the_format_reads(text: str, session: str, value: object) -> None:
    fields = {"tool": text, "arguments": value}
    line = trace._line("action", session, "", "2026-03-02T09:00:00Z", "n1", fields)
    assert line.count(b"\n") == 1
    assert line.startswith(b'{"dreamd":1,')
    reader = FORMAT.open(source_of(Path("s.jsonl")), Beside(Path("x"), Path("x")), b"")
    assert not [item for item in reader.feed(line[:-1], Span(source_id="x")) if isinstance(item, Skip)]


def test_an_error_that_cannot_be_said_is_raised_as_it_is(tmp_path: Path) -> None:
    error = UnsaidError()
    with pytest.raises(UnsaidError) as raised, Tracer(tmp_path, "s").action("f"):
        raise error
    assert raised.value is error
    assert lines(tmp_path)[1]["error"] == "UnsaidError: (UnsaidError)"


class UnsaidError(Exception):
    def __str__(self) -> str:
        raise Detached


def test_of_what_is_large_only_the_head_is_looked_at(tmp_path: Path) -> None:
    class Seen:
        count = 0

        def __str__(self) -> str:
            Seen.count += 1
            return "seen"

    with Tracer(tmp_path, "s").action("f", [Seen()] * 1_000_000):
        pass
    assert Seen.count < trace.LONGEST


def test_what_is_huge_is_cut(tmp_path: Path) -> None:
    with Tracer(tmp_path, "s").action("cat", {"file": "x" * 10_000_000}) as cat:
        cat.result = "y" * 10_000_000
    assert (tmp_path / "s.jsonl").stat().st_size < 3 * trace.LONGEST
    assert lines(tmp_path)[1]["result"].endswith("y…")


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_sessions_never_share_a_file_and_none_leaves_the_folder(one: str, other: str) -> None:
    names = [trace._file_name(session) for session in (one, other)]
    assert (names[0] == names[1]) == (one == other)
    assert all("/" not in name and "." not in name and len(name.encode()) < 230 for name in names)


def test_the_log_and_its_folder_are_the_users_own(tmp_path: Path) -> None:
    Tracer(tmp_path / "traces", "s").goal("x")
    assert (tmp_path / "traces").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "traces/s.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_session_without_a_name_gets_one_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        Tracer(tmp_path).goal("x")
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_a_place_that_is_a_file_is_the_log(tmp_path: Path) -> None:
    Tracer(tmp_path / "all.jsonl", "s").goal("x")
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]


def test_a_full_log_is_followed_by_the_next_one(tmp_path: Path) -> None:
    tracer = Tracer(Log(tmp_path, "s", max_bytes=300), "s")
    for number in range(10):
        tracer.summary(f"step {number}")
    again = Tracer(Log(tmp_path, "s", max_bytes=300), "s")
    again.summary("step 10")
    logs = sorted(tmp_path.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    assert [path.name for path in logs[:2]] == ["s.jsonl", "s.2.jsonl"]
    told = [line["text"] for path in logs for line in map(json.loads, path.read_text().splitlines())]
    assert told == [f"step {number}" for number in range(11)]


def test_a_line_that_was_torn_harms_none_but_itself(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path, "s")
    tracer.summary("one")
    log = tmp_path / "s.jsonl"
    log.write_bytes(log.read_bytes() + b'{"dreamd":1,"kind":"summary","text":"tor')
    tracer.summary("two")
    tracer.summary("three")
    assert [record.text for record in records(log)] == ["one", "two", "three"]


def test_threads_write_whole_lines_in_each_ones_order(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path, "s")

    def work(number: int) -> None:
        for step in range(20):
            tracer.summary(f"{number} {step}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    told = [line["text"].split() for line in lines(tmp_path)]
    for number in range(8):
        assert [step for who, step in told if who == str(number)] == [str(step) for step in range(20)]


def _many(folder: str, number: int) -> None:
    tracer = Tracer(folder, "s")
    for step in range(20):
        tracer.summary(f"{number} {step} " + "x" * 5000)


def test_processes_write_whole_lines_into_one_log(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_many, args=(str(tmp_path), number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    told = [tuple(line["text"].split()[:2]) for line in lines(tmp_path)]
    assert sorted(told) == sorted((str(number), str(step)) for number in range(4) for step in range(20))


FORKED = """
import os, sys, threading
from dreamd.trace import Tracer
tracer = Tracer(sys.argv[1], "s")
enough = threading.Event()
def busy():
    while not enough.is_set():
        tracer.summary("parent")
thread = threading.Thread(target=busy)
thread.start()
for number in range(10):
    child = os.fork()
    if child == 0:
        tracer.summary(f"child {number}")
        os._exit(0)
    os.waitpid(child, 0)
enough.set()
thread.join()
"""


def test_a_child_forked_in_the_midst_of_a_line_writes_its_own(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKED, str(tmp_path)], check=True, timeout=60, cwd=REPO)
    told = [line["text"] for line in lines(tmp_path)]
    assert [text for text in told if text != "parent"] == [f"child {number}" for number in range(10)]


KILLED = """
import sys
from itertools import count
from dreamd.trace import Tracer
with Tracer(sys.argv[1], "s").task("Count", by="human") as task:
    for number in count():
        with task.action("add", number):
            print(number, flush=True)
"""


def test_what_was_told_before_sigkill_is_in_the_log(tmp_path: Path) -> None:
    agent = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=REPO
    )
    assert agent.stdout
    told = [int(agent.stdout.readline()) for _ in range(30)]
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    agent.stdout.close()
    Tracer(tmp_path, "s").summary("the agent is back")
    begun = [record.trace.arguments for record in records(tmp_path / "s.jsonl") if record.role == "tool"]
    assert begun[: len(told)] == [str(number) for number in told]


def full(folder: Path) -> Path:
    """A log on a full disk."""
    (folder / "s.jsonl").symlink_to("/dev/full")
    return folder


def test_a_full_disk_is_told_once_and_its_lines_wait_for_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tracer = Tracer(full(tmp_path), "s")
    with caplog.at_level(logging.WARNING), tracer.task("Try") as task:
        task.summary("no room")
        assert tracer.log.missing == 2
        (tmp_path / "s.jsonl").unlink()
    assert len(caplog.records) == 1
    assert "No space left" in caplog.text
    assert tracer.log.missing == 0
    assert [line["kind"] for line in lines(tmp_path)] == ["goal", "summary", "end"]


def test_so_many_lines_wait_and_no_more(tmp_path: Path) -> None:
    tracer = Tracer(full(tmp_path), "s")
    for number in range(trace.MAX_WAITING + 5):
        tracer.summary(f"{number}")
    (tmp_path / "s.jsonl").unlink()
    tracer.summary("room")
    assert tracer.log.missing == 5
    told = [line["text"] for line in lines(tmp_path)]
    assert (len(told), told[0], told[-1]) == (trace.MAX_WAITING + 1, "5", "room")


TORN = """
import resource, sys
from pathlib import Path
from dreamd.trace import Tracer
tracer = Tracer(sys.argv[1], "s")
tracer.summary("one")
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, ((Path(sys.argv[1]) / "s.jsonl").stat().st_size + 100, most))
tracer.summary("two")
print(tracer.log.missing)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
tracer.summary("three")
print(tracer.log.missing)
"""


def test_a_line_for_which_the_room_ended_is_written_whole_when_there_is_room(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TORN, str(tmp_path)], capture_output=True, text=True, check=True, cwd=REPO
    )
    assert done.stdout.split() == ["1", "0"]
    assert len((tmp_path / "s.jsonl").read_bytes().splitlines()) == 4
    assert [record.text for record in records(tmp_path / "s.jsonl")] == ["one", "two", "three"]


@pytest.mark.parametrize("place", ["/proc/nowhere", "nul\0"])
def test_a_place_that_cannot_be_written_does_not_disturb_the_agent(place: str) -> None:
    tracer = Tracer(place, "s")
    with tracer.task("Try") as task:
        task.summary("on")
    assert tracer.log.missing == 3


def test_a_lock_that_is_never_given_back_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "PATIENCE_S", 0.02)
    tracer = Tracer(tmp_path, "s")
    tracer.summary("one")
    with (tmp_path / "s.jsonl").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        tracer.summary("two")
    assert [line["text"] for line in lines(tmp_path)] == ["one", "two"]


def test_whoever_never_gives_the_lock_back_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    flock = fcntl.flock

    def counted(handle: int, what: int) -> None:
        if what & fcntl.LOCK_NB:
            tries.append(what)
        flock(handle, what)

    monkeypatch.setattr(trace, "PATIENCE_S", 0.02)
    tracer = Tracer(tmp_path, "s")
    tracer.summary("one")
    with (tmp_path / "s.jsonl").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        tracer.summary("two")
        monkeypatch.setattr(fcntl, "flock", counted)
        tracer.summary("three")
        assert len(tries) == 1
    tracer.summary("four")
    assert [line["text"] for line in lines(tmp_path)] == ["one", "two", "three", "four"]


def test_a_signal_may_speak_in_the_midst_of_a_line(tmp_path: Path) -> None:
    tracer = Tracer(tmp_path, "s")
    before = signal.signal(signal.SIGUSR1, lambda *_: tracer.summary("signal"))
    try:
        with tracer.log._turn:
            os.kill(os.getpid(), signal.SIGUSR1)
            threading.Event().wait(0)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [line["text"] for line in lines(tmp_path)] == ["signal"]


async def test_a_cancelled_action_is_told_all_the_same(tmp_path: Path) -> None:
    tracer = AsyncTracer(tmp_path, "s")
    begun = asyncio.Event()

    async def endless() -> None:
        async with tracer.task("Wait") as task, task.action("sleep"):
            begun.set()
            await asyncio.Event().wait()

    job = asyncio.create_task(endless())
    await begun.wait()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    told = await to_thread.run_sync(lines, tmp_path)
    assert [line["kind"] for line in told] == ["goal", "action", "result", "end"]
    assert told[2]["error"].startswith("CancelledError")


async def test_tasks_side_by_side_share_a_log(tmp_path: Path) -> None:
    tracer = AsyncTracer(tmp_path, "s")

    async def job(number: int) -> None:
        async with tracer.task(f"job {number}") as task:
            await task.summary(f"in {number}")

    async with asyncio.TaskGroup() as jobs:
        for number in range(20):
            jobs.create_task(job(number))
    told = await to_thread.run_sync(lines, tmp_path)
    assert len(told) == 60
    assert len({line["task"] for line in told}) == 20
    for name in {line["task"] for line in told}:
        assert [line["kind"] for line in told if line["task"] == name] == ["goal", "summary", "end"]


def test_it_needs_the_standard_library_alone() -> None:
    done = subprocess.run([sys.executable, "-S", "-c", "import dreamd.trace"], check=False, cwd=REPO)
    assert done.returncode == 0


def test_the_sample_of_the_documentation_runs(tmp_path: Path) -> None:
    example = [line[4:] for line in (trace.__doc__ or "").splitlines() if line.startswith("    ")]
    code = "\n".join(example).replace("~/traces", str(tmp_path))
    exec(compile(code, "trace", "exec"), {"search": lambda query: [query]})
    assert [line["kind"] for line in lines(tmp_path)] == ["goal", "action", "result", "summary", "end"]
    assert items_of(FORMAT, next(tmp_path.glob("*.jsonl")))
