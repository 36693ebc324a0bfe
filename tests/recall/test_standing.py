import pytest

from dreamd.memories import Kind, Memory, Status
from dreamd.recall.standing import weight
from dreamd.records import Trust
from tests.recall.pouring import insight, record


def stands(statement: str, kind: Kind, status: Status, said: str = "", **fields: object) -> float:
    one = insight(1, statement, kind=kind, status=status, **{"trust": Trust.HUMAN, **fields})
    evidence: list[Memory] = [record(1, said)] if said else []
    return weight(one, evidence)


@pytest.mark.parametrize(("statement", "said"), [("I hate red", "I hate red."), ("The user hates red", "I really hate red!"), ("我讨厌红色", "我讨厌红色。")])  # fmt: skip
def test_a_preference_in_the_persons_own_words_comes_along_though_seen_once(
    statement: str, said: str
) -> None:
    assert stands(statement, "preference", "candidate", said) > 0


def test_what_somebody_concluded_from_a_word_waits_until_it_has_passed_the_gate() -> None:
    assert stands("The user prefers fast delivery", "preference", "candidate", "I'm in a hurry") == 0
    assert stands("The user prefers fast delivery", "preference", "long_term", "I'm in a hurry") > 0
    assert stands("I'm in a hurry", "behaviour", "candidate", "I'm in a hurry") == 0


def test_a_preference_comes_before_a_fact_and_what_is_pinned_before_all() -> None:
    figures = [
        stands("x", "fact", "long_term", pinned=True, trust=Trust.UNTRUSTED),
        stands("x", "preference", "long_term"),
        stands("x", "behaviour", "long_term"),
        stands("x", "fact", "long_term"),
    ]
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] > 0


@pytest.mark.parametrize("status", ["superseded", "archived", "withdrawn", "forgotten"])
def test_what_is_put_away_does_not_come_along_though_pinned(status: Status) -> None:
    assert stands("x", "preference", status, pinned=True) == 0


def test_what_an_agent_or_a_web_page_said_is_nobodys_preference() -> None:
    assert stands("x", "preference", "long_term", trust=Trust.AGENT) == 0
