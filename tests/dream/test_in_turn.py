import pytest

from dreamd.dream.compare import SAME, compare
from dreamd.dream.in_turn import same_turn
from dreamd.dream.wording import wording


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Run nox before you push", "Never push before nox has passed"),
        ("You must run tox before each push", "Do not push until tox is green"),
        ("Never deploy without running the smoke tests", "Run the smoke tests before you deploy"),
        ("Before you merge, rebase the branch", "Never merge before rebasing the branch"),
        ("测试通过之前不要推送", "推送之前要先跑测试"),
        ("先跑测试再推送", "测试没通过就不要推送"),
        ("上线前必须备份数据库", "先备份数据库再上线"),
        ("测试没通过之前不要推送", "先跑测试再推送"),
    ],
)
def test_one_rule_however_its_order_is_said(left: str, right: str) -> None:
    assert same_turn(wording(left), wording(right))
    assert compare(left, right) == compare(right, left) == SAME


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Run nox before you push", "Never run nox before you push"),
        ("Run nox before you push", "Push before you run nox"),
        ("Run nox before you push", "Never push before tox has passed"),
        ("Run nox 3 times before you push", "Never push before nox has passed 5 times"),
        ("Run nox before you push", "Never push before nox has passed on Windows"),
        ("Never push before 9:00", "Never push before 10:00"),
        ("先跑测试再推送", "先推送再跑测试"),
        ("推送之前要先跑测试", "推送之前不要跑测试"),
        ("上线前必须备份数据库", "上线前必须备份日志"),
    ],
)
def test_another_order_thing_or_detail_is_another_rule(left: str, right: str) -> None:
    assert not same_turn(wording(left), wording(right))
    assert compare(left, right) != SAME
