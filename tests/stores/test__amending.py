from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.records import Amendment, Trace
from dreamd.stores._amending import amended
from tests.stores.making import raw

OPTIONAL_FLAG = st.sampled_from([None, True, False])
AMENDMENTS = st.builds(
    Amendment,
    identity=st.just("1"),
    ok=OPTIONAL_FLAG,
    origin=st.sampled_from([None, "human", "scheduled", "injected"]),
    text=st.sampled_from([None, "", "new"]),
    trace=st.sampled_from([None, Trace(goal="g")]),
    withdrawn=OPTIONAL_FLAG,
)


def test_an_amendment_of_nothing_changes_nothing() -> None:
    memory = raw(1, status="dreamt", ok=True, filed=True, seq=7)
    assert amended(memory, Amendment(identity="1")) == memory


def test_an_emptied_text_is_a_text() -> None:
    assert amended(raw(1), Amendment(identity="1", text="")).content == ""


@given(AMENDMENTS)
def test_amending_twice_is_amending_once(amendment: Amendment) -> None:
    once = amended(raw(1), amendment)
    assert amended(once, amendment) == once


@given(AMENDMENTS)
def test_an_amendment_never_moves_a_memory_or_touches_what_is_forgotten(amendment: Amendment) -> None:
    memory = raw(1, filed=True, seq=7)
    after = amended(memory, amendment)
    assert (after.memory_id, after.seq, after.filed, after.span) == (memory.memory_id, 7, True, memory.span)
    forgotten = replace(memory, status="forgotten")
    assert amended(forgotten, amendment) == forgotten
