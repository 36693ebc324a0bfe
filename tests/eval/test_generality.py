"""What nobody wrote a rule for: other wordings than the shipped ones, in a few worlds.

`unseen` was written before the rules became wider, `fresh` after they stood; neither is to be fitted to. The figures over
many worlds: `dreamd eval --words tests/eval/unseen`.
"""

from functools import partial
from pathlib import Path

import anyio
import pytest

from dreamd.config import Config
from dreamd.eval import report
from dreamd.eval.measure import added
from dreamd.eval.nights import lived
from dreamd.eval.worlds import world

HERE = Path(__file__).parent


@pytest.mark.parametrize(("words", "recall"), [("unseen", 0.75), ("fresh", 0.65)])
def test_of_wordings_without_a_rule_most_is_kept_and_nothing_wrong(words: str, recall: float) -> None:
    worlds = [world(seed, 30, 2, "both", HERE / words) for seed in (7, 1007)]
    figures = added(anyio.run(partial(lived, one, Config(), progress=lambda _nights: None)) for one in worlds)
    assert report.precision(figures) == 1.0
    assert report.recall(figures) >= recall
    assert (figures.wrong_merged, figures.wrong_linked, figures.wrong_trust, figures.wrong_unsettled) == (
        0,
        0,
        0,
        0,
    )
