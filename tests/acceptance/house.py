"""A house for whole nights: an agent in Claude Code's shape, a configuration, and an honest LLM to play."""

import json
import os
import re
import socket
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import msgspec
from anyio import to_thread

from dreamd.clock import Clock
from dreamd.config import load
from dreamd.daemon import open_parts
from dreamd.events import Emit, silent
from dreamd.parts import Parts
from tests.dream.honest import honest as concludes
from tests.llm_server import Request

DREAMD = (sys.executable, "-m", "dreamd")


NO_DREAMS = "[dream]\nenabled = false\n"


@dataclass
class Home:
    """An agent's logs and workspace, dreamd's state and its configuration, in one folder."""

    root: Path
    llm_url: str = ""
    zone: str = "UTC"
    extra: str = ""

    def __post_init__(self) -> None:
        for name in ("logs", "work"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        self.configure()

    dreams: ClassVar[bool] = True

    def configure(self, extra: str | None = None) -> None:
        self.extra = self.extra if extra is None else extra
        llm = (
            f'[llm]\nprovider = "openai"\nbase_url = "{self.llm_url}"\nmodel = "m"\n' if self.llm_url else ""
        )
        self.config.write_text(
            f'[state]\ndir = "{self.root / "state"}"\n[logs]\nformat = "json"\nlevel = "debug"\n{llm}{self.extra}\n'
            f"{'' if self.dreams else NO_DREAMS}"
            f'[agents.anna]\nformat = "claude_code"\nlogs = ["{self.root / "logs"}"]\n'
            f'workspace = "{self.work}"\nzone = "{self.zone}"\n'
        )

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def memory(self) -> Path:
        return self.work / "MEMORY.md"

    def log(self, session: str = "s1") -> Path:
        return self.root / "logs" / f"{uuid.uuid5(uuid.NAMESPACE_URL, session)}.jsonl"

    def says(self, at: datetime, *texts: str, session: str = "s1") -> None:
        """A question and its answer, and so on, a minute apart, appended to the session's log."""
        with self.log(session).open("ab") as file:
            for number, text in enumerate(texts):
                role = "assistant" if number % 2 else "user"
                file.write(line(text, role, at + timedelta(minutes=number), session))

    def files(self) -> dict[str, bytes]:
        """All that dreamd wrote into the workspace."""
        return {str(path): path.read_bytes() for path in sorted(self.work.rglob("*")) if path.is_file()}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*DREAMD, "--config", str(self.config), *arguments], capture_output=True, text=True, check=False
        )

    def json(self, *arguments: str) -> object:
        done = self.run(*arguments, "--json")
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def daemon(self, **environ: str) -> Iterator["Daemon"]:
        """`dreamd run`, started; killed on leaving if it still runs."""
        address = str(self.root / "notify")
        Path(address).unlink(missing_ok=True)
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel,
            (self.root / "stderr").open("ab") as err,
        ):
            channel.bind(address)
            channel.settimeout(20)
            process = subprocess.Popen(
                [*DREAMD, "--config", str(self.config), "run"],
                env={**os.environ, "NOTIFY_SOCKET": address, **environ},
                stderr=err,
            )
            try:
                yield Daemon(process, channel, self.root / "stderr")
            finally:
                process.kill()
                process.wait()


@dataclass
class Daemon:
    process: subprocess.Popen[bytes]
    channel: socket.socket
    stderr: Path

    def told(self, word: str) -> str:
        """Waits until systemd would hear a datagram with this word."""
        while word not in (datagram := self.channel.recv(4096).decode()):
            pass
        return datagram

    def events(self) -> list[dict[str, object]]:
        lines = self.stderr.read_text(encoding="utf-8").splitlines()
        return [json.loads(one) for one in lines if one.startswith("{")]

    def waits_for(self, event: str, times: int = 1) -> dict[str, object]:
        """Waits until the event was told so often; the last of them."""
        while self.process.poll() is None:
            found = [one for one in self.events() if one["event"] == event]
            if len(found) >= times:
                return found[times - 1]
            self._moment()
        raise AssertionError(f"dreamd ended: {self.stderr.read_text(encoding='utf-8')[-2000:]}")

    def _moment(self) -> None:
        try:
            self.process.wait(0.02)
        except subprocess.TimeoutExpired:
            return


def line(text: str, role: str, at: datetime, session: str) -> bytes:
    """A record as Claude Code writes it; the same text at the same time has the same uuid."""
    own = uuid.uuid5(uuid.NAMESPACE_URL, f"{session}:{at.isoformat()}:{role}:{text}")
    content: object = text if role == "user" else [{"type": "text", "text": text}]
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{own.hex[:12]}", "type": "message", "model": "m", "stop_reason": "end_turn"}
    record = {
        "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/p", "sessionId": session,
        "version": "2.1.226", "type": role, "message": message, "uuid": str(own),
        "timestamp": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }  # fmt: skip
    return msgspec.json.encode(record) + b"\n"


class Dreamless(Home):
    """Sleeps without dreams: for nights whose calls are counted."""

    dreams: ClassVar[bool] = False


def honest(request: Request) -> str:
    """An LLM that says what stands in its input and nothing else."""
    if request.purpose == "deep-dream":
        return _dream(request.user)
    if request.purpose in ("score", "distil", "merge", "reconcile"):
        return concludes(request.purpose, request.user)
    return _notes(request.user)


def _notes(prompt: str) -> str:
    record = prompt.partition("=== record")[2] or prompt
    events = re.findall(r"^E(\d+).*\n(?:User: (.*)\n)?(?:Tools: .*\n)?Assistant: (.*)$", record, re.MULTILINE)
    answers = [
        f"- User: {asked} -> Reply: {answered} [E{number}]"
        for number, asked, answered in events
        if not answered.startswith("(")  # no reply yet
    ]
    return "\n".join(answers) or "- None"


def _dream(prompt: str) -> str:
    kept = [f"- ({number})" for number in re.findall(r"^(M\d+): ", prompt, re.MULTILINE)]
    new = re.findall(r"^(D\d+): .*?Reply: ([^(].*)$", prompt, re.MULTILINE)
    lines = [*kept, *(f"- {text} ({number})" for number, text in new)]
    return "\n".join(["[MEMORY]", "## Facts", *lines, "[RETIRED]", "[DREAM]", "A quiet night.", "[END]"])


@asynccontextmanager
async def parts_of(home: Home, clock: Clock, emit: Emit = silent) -> AsyncIterator[Parts]:
    """The real parts of this house under a clock of the test's own."""
    config = await to_thread.run_sync(load, home.config)
    with ExitStack() as stack:
        yield await to_thread.run_sync(stack.enter_context, open_parts(config, clock=clock, emit=emit))
