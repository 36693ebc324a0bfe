from collections.abc import Iterator
from pathlib import Path

import pytest

from dreamd.parts import Parts
from tests.recall.pouring import house


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    with house(tmp_path) as made:
        yield made
