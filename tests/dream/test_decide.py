"""What a dream changes."""

from msgspec.structs import replace

from dreamd.config import Config
from dreamd.dream.decide import Shift, counted, decided, first_to_last
from dreamd.dream.draft import Draft
from dreamd.dream.material import Material, Portion, gather
from dreamd.dream.reconcile import ROUNDS
from dreamd.memories import Memory
from dreamd.sections import Agent, Dream
from tests.dream.conftest import House
from tests.dream.told import draft

TABS = "I prefer tabs over spaces in Makefiles."


def material(house: House, *known: Memory) -> Material:
    found = gather(house.store, Agent(zone="UTC"), "cat", Portion(again=True))
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


def test_what_is_too_much_for_one_round_goes_into_the_next_and_beyond_the_last_it_waits_and_is_named(
    house: House,
) -> None:
    said = [house.says(f"Our tool number{n}x costs {n + 100} euros") for n in range(ROUNDS + 2)]
    drafts = [draft(one.content, one) for one in said]
    few = decided(material(house), drafts[:ROUNDS], Config(dream=Dream(max_new=1)), house.clock.now())
    assert (len(few.new), few.waits, few.late, few.waiting) == (ROUNDS, (), 0, frozenset())
    many = decided(material(house), drafts, Config(dream=Dream(max_new=1)), house.clock.now())
    assert (len(many.new), many.late, len(many.waiting)) == (ROUNDS, 2, 2)
    assert many.waits == ("2 new insight(s) beyond 1 a dream wait for the next",)


def test_without_news_nothing_is_linked_that_waits(house: House) -> None:
    said = [house.says(f"The API limit is {n} requests per minute") for n in (100, 250, 400)]
    drafts = [draft(one.content, one) for one in said]
    config = Config(dream=Dream(max_contradictions=1))
    first = decided(material(house), drafts, config, house.clock.now())
    assert (len(first.contradictions), first.late) == (1, 2)
    assert all(one.contradictions_flag for one in first.new)
    still = replace(material(house, *first.new), fresh=(), contradictions=first.contradictions)
    again = decided(still, [], config, house.clock.now())
    assert (again.contradictions, again.shifts, again.late) == ((), (), 0)
    news = decided(replace(still, fresh=(said[0],)), [], config, house.clock.now())
    assert (len(news.contradictions), news.late) == (1, 1)


def test_of_what_changed_several_times_the_first_and_last_state_are_told() -> None:
    one = Shift(memory_id="i1", statement="x", before=None, after="candidate", confidence=0.5, records=1)
    other = replace(one, before="candidate", after="long_term", records=2)
    assert first_to_last([one, other]) == (replace(other, before=None),)


def test_reasons_are_counted() -> None:
    assert counted(["b", "a", "b"]) == ("b (2)", "a")
