import pytest

from dreamd.memories import derived_id, raw_id
from dreamd.records import Origin, Role, Trust, trust_of


@pytest.mark.parametrize(
    ("role", "origin", "trust"),
    [
        ("user", "human", Trust.HUMAN),
        ("assistant", "human", Trust.AGENT),
        ("tool", "tool", Trust.UNTRUSTED),
        ("user", "injected", Trust.UNTRUSTED),
        ("assistant", "scheduled", Trust.UNTRUSTED),
        ("user", "subagent", Trust.UNTRUSTED),
    ],
)
def test_trust_comes_from_who_spoke_in_whose_turn(role: Role, origin: Origin, trust: Trust) -> None:
    assert trust_of(role, origin) is trust


def test_the_same_record_has_the_same_id_and_agents_do_not_share_ids() -> None:
    assert raw_id("a", "1") == raw_id("a", "1") != raw_id("b", "1")
    assert raw_id("a", "b1") != raw_id("ab", "1")


def test_a_summary_on_other_evidence_is_another_summary() -> None:
    assert derived_id("summary", "a", "x", ("1",)) != derived_id("summary", "a", "x", ("2",))
