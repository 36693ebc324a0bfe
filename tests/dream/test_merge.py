import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.dream.merge import born, merged, trusted
from dreamd.memories import Entity, Memory
from dreamd.records import Trust
from tests.dream.settling import by_id, drafted, said
from tests.dream.told import NOW

SAID = [
    said(1, "Use tabs for indentation in this repository", day=2),
    said(2, "I want tabs for indentation.", day=4),
    said(3, "Please remember: always tabs for indentation.", day=5),
]
RAWS = by_id(*SAID)


def born_of(raw: Memory) -> Memory:
    (draft,) = drafted(raw)
    return born(draft, [raw], NOW)


def test_an_insight_is_born_with_all_that_its_record_tells() -> None:
    (draft,) = drafted(
        SAID[1], entities=(Entity("tabs", "preference"),), applies_when="coding", confidence=0.4
    )
    one = born(draft, [SAID[1]], NOW)
    assert (one.type, one.status, one.agent, one.kind) == ("insight", "candidate", "cat", "preference")
    assert (one.ref_ids, one.window, one.trust) == ((SAID[1].memory_id,), SAID[1].window, Trust.HUMAN)
    assert (one.valid_from, one.timestamp, one.received_at) == (SAID[1].timestamp, SAID[1].timestamp, NOW)
    assert (one.windows, one.tasks, one.origins, one.confidence) == (1, 1, 1, 0.4)
    assert (one.entities, one.applies_when) == (draft.entities, "coding")
    assert one == born(draft, [SAID[1]], NOW)


def test_merging_unites_the_evidence_and_dates_it_from_first_to_last() -> None:
    one = born_of(SAID[1])
    (draft,) = drafted(SAID[0])
    both = merged(one, draft, [SAID[0]], RAWS, 0.5)
    assert set(both.ref_ids) == {SAID[0].memory_id, SAID[1].memory_id}
    assert (both.memory_id, both.received_at, both.window) == (one.memory_id, NOW, SAID[1].window)
    assert (both.valid_from, both.timestamp) == (SAID[0].timestamp, SAID[1].timestamp)
    assert (both.windows, both.tasks, both.origins) == (2, 2, 2)
    assert both.confidence > one.confidence


def test_evidence_that_was_there_changes_nothing() -> None:
    one = born_of(SAID[1])
    (draft,) = drafted(SAID[1])
    assert merged(one, draft, [SAID[1]], RAWS, 0.5) is one


def test_the_wording_said_on_purpose_is_taken() -> None:
    one = born_of(SAID[1])
    (draft,) = drafted(SAID[2])
    assert merged(one, draft, [SAID[2]], RAWS, 0.5).content == draft.statement


def test_the_wording_of_what_is_believed_stays_when_another_is_only_newer() -> None:
    (newer,) = drafted(SAID[1])
    one = replace(born_of(SAID[0]), content="Use tabs for indentation")
    for status, stays in (("long_term", True), ("candidate", False)):
        after = merged(replace(one, status=status), newer, [SAID[1]], RAWS, 0.5)
        assert (after.content == one.content) == stays


def test_new_evidence_revives_what_was_archived() -> None:
    one = replace(born_of(SAID[0]), status="archived", confidence=0.05)
    (draft,) = drafted(SAID[1])
    after = merged(one, draft, [SAID[1]], RAWS, 0.5)
    assert (after.status, after.confidence > 0.5) == ("candidate", True)


def test_records_that_nobody_stands_for_are_left_out_where_others_show_it() -> None:
    human = said(1, "The build needs version 3")
    agent = said(2, "The build needs version 3", role="assistant")
    tool = said(3, "The build needs version 3", role="tool", origin="tool")
    assert trusted([tool, agent, human], "The build needs version 3", "fact") == [agent, human]
    assert trusted([tool, agent, human], "I prefer version 3", "preference") == [human]
    assert trusted([tool], "The build needs version 3", "fact") == [tool]


TOLD = st.sampled_from(
    [
        said(n, "The build needs version 3", day=n % 4 + 1, role=role, origin=origin)
        for n, (role, origin) in enumerate(
            [
                ("user", "human"),
                ("assistant", "human"),
                ("tool", "tool"),
                ("user", "injected"),
                ("user", "human"),
            ]
        )
    ]
)


@given(st.lists(TOLD, min_size=1, max_size=4), st.lists(TOLD, min_size=1, max_size=4))
def test_trust_is_the_lowest_of_what_it_rests_on(first: list[Memory], more: list[Memory]) -> None:
    (draft,) = drafted(said(0, "The build needs version 3"), kind="fact")
    raws = by_id(*first, *more)
    records = trusted(list(by_id(*first).values()), draft.statement, "fact")
    one = born(draft, records, NOW)
    after = merged(one, draft, list(by_id(*more).values()), raws, 0.5)
    for each in (one, after):
        assert each.trust == min(raws[ref].trust for ref in each.ref_ids)
        assert 0 <= each.confidence <= 1
    assert after.confidence >= one.confidence


@pytest.mark.parametrize("raw", SAID)
def test_what_an_insight_says_is_a_wording_of_its_evidence(raw: Memory) -> None:
    one = born_of(SAID[0])
    (draft,) = drafted(raw)
    assert merged(one, draft, [raw], RAWS, 0.5).content in {one.content, draft.statement}
