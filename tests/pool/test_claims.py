import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.claims import unspoken


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("the backup failed", "rsync runs at 03:00"),
        ("CLAUDE.md was updated and pushed", "CLAUDE.md has been created"),
        ("the app was deployed to production", "the app is ready for use"),
        ("deleted 1,240 files", "copied 1,240 files"),
        ("sent the report", "wrote the report"),
        ("备份失败", "备份完成"),
        ("已部署", "已写好"),
        ("エラーを修正", "テストを追加しました"),
    ],
)
def test_a_deed_or_outcome_that_no_source_speaks_of_is_told(line: str, source: str) -> None:
    assert unspoken(line, [source])


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("the tests failed", "3 errors in the suite"),
        ("CI runs time out", "the tests keep timing out"),
        ("清理旧快照", "删除了 30 天以前的快照"),
        ("removed the script", "`npm run type-check`を削除"),
        ("went live on Monday", "3月2日上线"),
        ("passes without errors", "all tests pass"),
        ("the shop sells tea", "nothing of the kind"),
    ],
)
def test_it_may_be_spoken_of_in_other_words_and_languages(line: str, source: str) -> None:
    assert not unspoken(line, [source])


@given(st.text(max_size=200))
def test_a_text_bears_itself_out(text: str) -> None:
    assert not unspoken(text, [text])
