"""The daemon with its gateway, as a process between an agent and an LLM."""

import json
import signal
import socket
import threading
import urllib.request
from pathlib import Path

from tests.acceptance.house import Home
from tests.llm_server import Answer, llm_server_beside


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def section(port: int, upstream: str) -> str:
    return f'[gateway]\nlisten = "127.0.0.1:{port}"\nupstreams = {{ llm = "{upstream}" }}\n'


def ask(port: int, said: str = "hi") -> dict:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": said}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-of-the-agent-0123456789"}
    url = f"http://127.0.0.1:{port}/llm/v1/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=20) as answer:
        return json.load(answer)


def test_an_agent_reaches_its_llm_through_the_daemon_which_tells_nothing_of_what_was_said(
    tmp_path: Path,
) -> None:
    port = free_port()
    with llm_server_beside(lambda _request: "a secret answer") as server:
        home = Home(tmp_path, extra=section(port, server.url))
        with home.daemon() as daemon:
            daemon.waits_for("gateway.opened")
            assert ask(port, "a secret question")["choices"][0]["message"]["content"] == "a secret answer"
            daemon.process.send_signal(signal.SIGTERM)
            assert daemon.process.wait(20) == 0
        assert server.requests[0].key == "sk-of-the-agent-0123456789"
    told = daemon.stderr.read_bytes() + b"".join(
        p.read_bytes() for p in (tmp_path / "state").rglob("*") if p.is_file()
    )
    for secret in (b"a secret", b"0123456789"):
        assert secret not in told


def test_a_call_under_way_is_answered_when_the_daemon_stops(tmp_path: Path) -> None:
    port = free_port()
    answers: list[dict] = []
    with (
        llm_server_beside(lambda _request: Answer(text="slow", think_s=1.0)) as server,
        Home(tmp_path, extra=section(port, server.url)).daemon() as daemon,
    ):
        daemon.waits_for("gateway.opened")
        asking = threading.Thread(target=lambda: answers.append(ask(port)))
        asking.start()
        while not server.requests:
            daemon._moment()
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(20) == 0
        asking.join()
    assert answers[0]["choices"][0]["message"]["content"] == "slow"


def test_a_door_open_to_others_without_a_token_is_no_configuration(tmp_path: Path) -> None:
    done = Home(tmp_path, extra='[gateway]\nlisten = "0.0.0.0:8377"\n').run("run")
    assert done.returncode == 2
    assert "gateway.token_env" in done.stderr
