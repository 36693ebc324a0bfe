from dreamd.stores._following import differs, followed
from dreamd.stores.base import Mark
from tests.stores.making import NOON, raw, summary


def test_the_mark_moves_to_the_newest_memory_and_the_newest_change() -> None:
    news = followed(Mark(1, "a", 4), [raw(2, seq=2), raw(3, seq=3)], [(7, 1)], [raw(1, seq=1)], limit=10)
    assert news.mark == Mark(3, raw(3).memory_id, 7)
    assert [memory.seq for memory in news.memories] == [1, 2, 3]
    assert not news.more


def test_nothing_new_leaves_the_mark() -> None:
    assert followed(Mark(1, "a", 4), [], [], [], limit=10).mark == Mark(1, "a", 4)


def test_what_is_withdrawn_forgotten_or_no_longer_there_is_gone() -> None:
    news = followed(
        Mark(),
        [raw(2, seq=2, status="withdrawn")],
        [(1, 5), (2, 6)],
        [raw(5, seq=5, status="forgotten")],
        limit=3,
    )
    assert news.gone == (2, 5, 6)
    assert news.memories == ()


def test_a_full_page_says_that_there_is_more() -> None:
    assert followed(Mark(), [raw(1, seq=1)], [], [], limit=1).more


def test_only_what_a_search_can_tell_is_a_change() -> None:
    assert not differs(raw(1), raw(1, status="dreamt", filed=True))
    assert differs(raw(1), raw(1, content="other"))
    assert differs(summary("s", ()), summary("s", (), status="superseded"))
    assert not differs(summary("s", ()), summary("s", (), last_recalled_at=NOON))
