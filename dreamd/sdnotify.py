"""What systemd wants to hear of a service, as sd_notify(3) has it: one datagram of KEY=VALUE lines.

Without $NOTIFY_SOCKET every call does nothing.
"""

import contextlib
import os
import socket
import time
from collections.abc import Mapping

READY = "READY=1"
STOPPING = "STOPPING=1"
WATCHDOG = "WATCHDOG=1"


def status(text: str) -> str:
    """One line for people, shown by `systemctl status`."""
    return f"STATUS={text}"


def reloading() -> str:
    """A reload begins; READY ends it. The time stamp lets systemd (Type=notify-reload) order the two."""
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}"


def notify(*fields: str, environ: Mapping[str, str] = os.environ) -> None:
    """Tell systemd. Best effort: a supervisor that is gone must not end the service."""
    name = environ.get("NOTIFY_SOCKET", "")
    if not name.startswith(("/", "@")):
        return
    address = f"\0{name[1:]}" if name.startswith("@") else name
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.setblocking(False)
        channel.sendto("\n".join(fields).encode(), address)


def watchdog_s(environ: Mapping[str, str] = os.environ) -> float | None:
    """How often to send WATCHDOG: half of what systemd allows, in seconds. None when nobody watches us."""
    allowed, watched = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", "")
    if not allowed.isdecimal() or int(allowed) == 0 or watched not in ("", str(os.getpid())):
        return None
    return int(allowed) / 2_000_000
