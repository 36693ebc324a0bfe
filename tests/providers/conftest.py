import os

import pytest


@pytest.fixture(autouse=True)
def _no_proxy_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
