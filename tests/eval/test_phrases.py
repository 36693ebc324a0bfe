import re
from pathlib import Path
from string import Formatter

import pytest

from dreamd.errors import ConfigError
from dreamd.eval.phrases import Phrases, Topic, phrases
from dreamd.pool.language import Tongue, detect

TONGUES: tuple[Tongue, ...] = ("en", "zh")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.fixture(params=TONGUES)
def words(request: pytest.FixtureRequest) -> Phrases:
    return phrases(request.param)


def repeated(words: Phrases) -> tuple[Topic, ...]:
    return (*words.lasting, *words.figures)


@pytest.mark.parametrize("tongue", TONGUES)
def test_a_file_speaks_its_language(tongue: Tongue) -> None:
    asks = phrases(tongue).filler.asks
    assert detect(re.sub(r"\{.\}", "", ask) for ask in asks) == tongue


def test_what_lasts_is_said_in_three_wordings_or_more_and_each_has_the_value(words: Phrases) -> None:
    for topic in repeated(words):
        assert len(set(topic.says)) == len(topic.says) >= 3
        assert all(fields(text) == {"v"} for text in topic.says), topic


def test_a_correction_names_the_new_value_and_before_it_only_the_old_was_named(words: Phrases) -> None:
    for topic in words.corrected:
        assert all(fields(text) == {"old"} for text in topic.before)
        assert all("new" in fields(text) for text in topic.correction)
        assert all(fields(text) == {"new"} for text in topic.after)


def test_frames_hold_what_is_repeated_in_them(words: Phrases) -> None:
    noise = words.noise
    for text in (*noise.pasted, *noise.echoed, *noise.quoted, *noise.recalled, *noise.secrets):
        assert fields(text) == {"s"}


def test_filler_asks_for_nothing_that_has_no_list(words: Phrases) -> None:
    for text in (*words.filler.asks, *words.filler.answers):
        assert fields(text) <= set("abcdef")


def test_a_folder_of_other_wordings_is_laid_over_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "en.toml").write_text('[[passing]]\nsays = ["I like this lamp."]\n')
    laid = phrases("en", tmp_path)
    assert [topic.says for topic in laid.passing] == [("I like this lamp.",)]
    assert laid.lasting == phrases("en").lasting


@pytest.mark.parametrize("text", ["[[passing]]\nsay = 1\n", "[[passing", "[passing]\n", None])
def test_wordings_that_cannot_be_used_are_told_with_their_file(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "en.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"en\.toml"):
        phrases("en", tmp_path)
