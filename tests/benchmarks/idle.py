"""What the daemon costs when nothing happens: CPU, wake-ups and memory, with N watched logs.

python tests/benchmarks/idle.py [--files 10000] [--seconds 60]
"""

import argparse
import os
import signal
import socket
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from startup import DREAMD, compiled, configured

TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        config = configured(root)
        measure(root, config, 0, 0)  # once before: compiling what is imported would count as memory
        for number in range(options.files):
            log = root / "logs" / f"project-{number // 5}" / f"{number:08x}-0000-4000-8000-000000000000.jsonl"
            log.parent.mkdir(exist_ok=True)
            log.write_text(line(number))
        print(measure(root, config, options.seconds, options.files))


def measure(root: Path, config: Path, seconds: float, files: int) -> str:
    address = root / "notify"
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(address))
        command = (*DREAMD, "--config", str(config), "run")
        environ = {**compiled(root), "NOTIFY_SOCKET": str(address)}
        with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as one:
            channel.recv(4096)
            settled(one.pid)
            cpu, switches, began = spent(one.pid), woken(one.pid), time.monotonic()
            time.sleep(seconds)
            took = time.monotonic() - began
            wakes = sum(count - switches.get(thread, 0) for thread, count in woken(one.pid).items())
            told = (
                f"{files} logs: {100 * (spent(one.pid) - cpu) / took:.3f} % of a core, "
                f"{wakes / took:.2f} wake-ups/s, RSS {resident(one.pid):.1f} MiB "
                f"(peak {resident(one.pid, 'VmHWM'):.1f})"
            )
            one.send_signal(signal.SIGTERM)
    return told


def settled(pid: int) -> None:
    """Until the first pass over the logs is done: ten seconds without work."""
    while True:
        before = spent(pid)
        time.sleep(10)
        if spent(pid) - before < 0.05:
            return


def spent(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def woken(pid: int) -> dict[str, int]:
    """Voluntary context switches by thread."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {task.name: _field(task / "status", "voluntary_ctxt_switches") for task in tasks}


def resident(pid: int, field: str = "VmRSS") -> float:
    return _field(Path(f"/proc/{pid}/status"), field) / 1024


def _field(status: Path, name: str) -> int:
    lines = (line.split() for line in status.read_text().splitlines())
    return next(int(words[1]) for words in lines if words[0] == f"{name}:")


def line(number: int) -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return (
        f'{{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/p","sessionId":"s{number}",'
        f'"version":"2.1.226","type":"user","message":{{"role":"user","content":"Question {number}?"}},'
        f'"uuid":"{number:08x}-0000-4000-8000-000000000001","timestamp":"{now}"}}\n'
    )


if __name__ == "__main__":
    main()
