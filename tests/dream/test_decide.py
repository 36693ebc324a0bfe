"""What a dream changes."""

from msgspec.structs import replace

from dreamd.config import Config
from dreamd.dream.decide import counted, decided
from dreamd.dream.draft import Draft
from dreamd.dream.material import Material, gather
from dreamd.memories import Memory
from dreamd.sections import Agent, Dream
from tests.dream.conftest import House
from tests.dream.told import draft

TABS = "I prefer tabs over spaces in Makefiles."


def material(house: House, *known: Memory) -> Material:
    found = gather(house.store, Agent(zone="UTC"), "cat", again=True, until=None, after=0)
    return replace(found, known=known)


def preference(*memories: Memory) -> Draft:
    return draft(TABS, *memories, kind="preference")


def test_what_is_new_and_passes_at_once_is_told_so(house: House) -> None:
    first = house.says(TABS)
    house.next_day()
    second = house.says("As ever, I prefer tabs over spaces in Makefiles.", task="t2")
    decision = decided(material(house), [preference(first, second)], Config(), house.clock.now())
    (shift,) = decision.shifts
    assert (shift.before, shift.after, shift.records) == (None, "long_term", 2)
    assert (len(decision.new), decision.replaced, decision.became("long_term")) == (1, (), 1)


def test_evidence_for_what_is_known_is_merged_and_the_same_again_is_nothing(house: House) -> None:
    first = house.says(TABS)
    now = house.clock.now()
    (known,) = decided(material(house), [preference(first)], Config(), now).new
    house.next_day()
    second = house.says("As ever, I prefer tabs over spaces in Makefiles.", task="t2")
    decision = decided(material(house, known), [preference(first, second)], Config(), now)
    assert (decision.new, decision.merged, decision.became("long_term")) == ((), 1, 1)
    (grown,) = decision.replaced
    again = decided(material(house, grown), [preference(first, second)], Config(), now)
    assert (again.new, again.replaced, again.shifts, again.contradictions) == ((), (), (), ())


def test_what_fades_is_archived_without_any_draft(house: House) -> None:
    said = house.says(TABS)
    (known,) = decided(material(house), [preference(said)], Config(), house.clock.now()).new
    house.next_day(120)
    decision = decided(material(house, known), [], Config(), house.clock.now())
    assert [shift.after for shift in decision.shifts] == ["archived"]


def test_what_is_too_much_for_one_dream_waits_and_is_named(house: House) -> None:
    said = [house.says(TABS), house.says("Remember that the budget is 320 euros.")]
    drafts = [draft(one.content, one, kind="preference") for one in said]
    decision = decided(material(house), drafts, Config(dream=Dream(max_new=1)), house.clock.now())
    assert len(decision.new) == 1
    assert len(decision.waiting) == 1
    assert len(decision.refused) == 1


def test_reasons_are_counted() -> None:
    assert counted(["b", "a", "b"]) == ("b (2)", "a")
