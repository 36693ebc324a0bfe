"""Where a user's own folders are on this platform, and how much room is left there.

By hand, for this is asked at every start: platformdirs costs a glance at the status a twelfth of its time.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Kind = Literal["config", "data", "state"]

_USUAL: Mapping[Kind, str] = {"config": ".config", "data": ".local/share", "state": ".local/state"}
_APPLE = "Library/Application Support"


def own(kind: Kind, platform: str = sys.platform, environ: Mapping[str, str] = os.environ) -> Path:
    """Its folder of that kind for dreamd; not created here. By the XDG base directory specification, or Apple's guide."""
    told = environ.get(f"XDG_{kind.upper()}_HOME", "").strip()
    if Path(told).is_absolute():  # the specification: a relative one is ignored
        return Path(told) / "dreamd"
    return Path.home() / (_APPLE if platform == "darwin" else _USUAL[kind]) / "dreamd"


def free(folder: Path) -> int:
    """Bytes that dreamd's user may still write there."""
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize
