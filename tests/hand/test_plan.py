from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.hand.plan import Going, Line, Plan, Weakened, Wish, digest_of, more_than_shown

ONE = Going(memory_id="a", agent="cat", type="raw", status="fresh", text="t", why="asked")
LINE = Line(agent="cat", file="f", line=1, text="t")
WEAK = Weakened(memory_id="b", agent="cat", text="t", status="candidate")
SHOWN = Plan(wish=Wish(ids=("a",)), memories=(ONE,), lines=(LINE,), weakened=(WEAK,), elsewhere=("w",))


def test_less_than_was_shown_may_go_and_nothing_more() -> None:
    assert not more_than_shown(SHOWN, SHOWN)
    assert not more_than_shown(SHOWN, Plan(wish=SHOWN.wish))
    assert not more_than_shown(SHOWN, replace(SHOWN, lines=(replace(LINE, line=7),)))  # it only moved
    for more in (
        replace(SHOWN, memories=(ONE, replace(ONE, memory_id="c"))),
        replace(SHOWN, lines=(replace(LINE, text="other"),)),
        replace(SHOWN, weakened=(replace(WEAK, status="archived"),)),
        replace(SHOWN, elsewhere=("w", "v")),
    ):
        assert more_than_shown(SHOWN, more)


def test_a_plan_is_empty_when_nothing_goes() -> None:
    assert Plan(wish=Wish(), stays=(LINE,), mentions=(ONE,)).empty
    assert not SHOWN.empty


@given(st.lists(st.text()), st.lists(st.text()))
def test_a_digest_names_what_it_is_of_whatever_the_order(one: list[str], other: list[str]) -> None:
    assert digest_of(one, other) == digest_of(one[::-1], other[::-1])
    assert (digest_of(one, other) == digest_of(other, one)) == (sorted(one) == sorted(other))
