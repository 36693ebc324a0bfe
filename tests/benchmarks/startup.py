"""How long until dreamd is ready, and until a command answers, against bare Python in the same run.

    python tests/benchmarks/startup.py [--rounds 15]

Each round starts every program once, in shuffled order; printed are medians in ms and their ratio to bare Python.
"""

import argparse
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

PYTHON = sys.executable
DREAMD = (PYTHON, "-m", "dreamd")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        environ = compiled(root)
        config = configured(root)
        programs: dict[str, Callable[[], float]] = {
            "python -c pass": lambda: ended((PYTHON, "-c", "pass"), environ),
            "import click": lambda: ended((PYTHON, "-c", "import click"), environ),
            "import click, msgspec, sqlite3": lambda: ended(
                (PYTHON, "-c", "import click, msgspec, sqlite3"), environ
            ),
            "dreamd --help": lambda: ended((*DREAMD, "--help"), environ),
            "dreamd status": lambda: ended((*DREAMD, "--config", str(config), "status"), environ),
            "dreamd run -> READY": lambda: ready((*DREAMD, "--config", str(config), "run"), root, environ),
        }
        for program in programs.values():
            program()  # compiled once, caches warm
        taken: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(rounds):
            for name in random.sample(list(programs), len(programs)):
                taken[name].append(programs[name]())
    bare = statistics.median(taken["python -c pass"])
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"{name:32} {median * 1000:7.1f} ms  {median / bare:5.1f} x  (best {min(times) * 1000:.1f})")


def compiled(root: Path) -> dict[str, str]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **environ,
        "PYTHONPYCACHEPREFIX": str(root / "pycache"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }


def configured(root: Path) -> Path:
    for name in ("logs", "work"):
        (root / name).mkdir()
    config = root / "config.toml"
    config.write_text(
        f'[state]\ndir = "{root / "state"}"\n[agents.anna]\nformat = "claude_code"\nlogs = ["{root / "logs"}"]\n'
        f'workspace = "{root / "work"}"\nzone = "UTC"\n'
    )
    return config


def ended(command: tuple[str, ...], environ: Mapping[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def ready(command: tuple[str, ...], root: Path, environ: Mapping[str, str]) -> float:
    """Until systemd would be told READY=1."""
    address = root / "notify"
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(address))
        channel.settimeout(30)
        began = time.perf_counter()
        with subprocess.Popen(
            command, env={**environ, "NOTIFY_SOCKET": str(address)}, stderr=subprocess.DEVNULL
        ) as one:
            while not channel.recv(4096).startswith(b"READY=1"):
                pass
            taken = time.perf_counter() - began
            one.send_signal(signal.SIGTERM)
    return taken


if __name__ == "__main__":
    main()
