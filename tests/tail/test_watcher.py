"""That logs are heard through it is in test_follower.py."""

import sys

from dreamd.tail.watcher import Watcher


def test_linux_is_listened_to_directly_and_other_systems_through_watchfiles() -> None:
    assert Watcher.__name__ == ("InotifyWatcher" if sys.platform == "linux" else "AnywhereWatcher")
