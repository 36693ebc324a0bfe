"""The watcher of this platform: the kernel's own on Linux, where an idle daemon then never wakes; else watchfiles."""

import sys

if sys.platform == "linux":
    from dreamd.tail.inotify import InotifyWatcher as Watcher
else:
    from dreamd.tail.anywhere import AnywhereWatcher as Watcher

__all__ = ["Watcher"]
