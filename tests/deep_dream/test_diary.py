from datetime import date

from dreamd.deep_dream.audit import Accepted, Audited, Refusal, Retirement
from dreamd.deep_dream.diary import Night, counted, fault_text, held_heading, quoted, section, tell, told
from dreamd.deep_dream.grounds import FAULTS
from dreamd.deep_dream.sources import Source

DAY = date(2026, 3, 2)
TEA = Source(id="M1", text="The shop sells tea", entry=0)
SHELVES = Source(id="D1", text="the shop has 9 shelves", day=DAY)


def audited(**changes: object) -> Audited:
    fields: dict[str, object] = {
        "content": "", "accepted": (), "carried": (), "put_back": (), "retired": (), "refused": (), "candidates": (),
        "over_limit": False, "entries": 3,
    }  # fmt: skip
    return Audited(**{**fields, **changes})  # type: ignore[arg-type]


def night(**changes: object) -> Night:
    fields: dict[str, object] = {
        "dream": "", "sources": [TEA.text, SHELVES.stated], "left_out": 0, "max_entries": 50, "language": "en",
    }  # fmt: skip
    return Night(**{**fields, **changes})  # type: ignore[arg-type]


WHOLE = audited(
    accepted=(
        Accepted("The shop has 9 shelves", (SHELVES,)),
        Accepted("The shop sells green tea", (TEA,), (TEA,)),
    ),
    put_back=(TEA,),
    retired=(Retirement(TEA, "the shop has shelves now"), Retirement(TEA, "Carol burnt it in 1999")),
    refused=(Refusal("facts", ("D1",)), Refusal("facts", ("D2",)), Refusal("uncited")),
    candidates=(Accepted("The user prefers tea", (TEA,)),),
    entries=60,
)


def test_the_account_says_everything_that_happened() -> None:
    text = tell(WHOLE, night(dream="The shop got 9 shelves. Carol ate 12 cakes.", left_out=4)).text
    assert text == (
        "The shop got 9 shelves.\n\n"
        "### Written\n\n- The shop has 9 shelves\n\n"
        "### Merged or brought up to date\n\n- The shop sells tea → The shop sells green tea\n\n"
        "### Retired\n\n- The shop sells tea: the shop has shelves now\n"
        "- The shop sells tea: (the model's reason names things that have no source)\n\n"
        "### Waiting for a second day\n\n- The user prefers tea\n\n"
        "### Refused\n\n- 2 x named a number, date, time or name that its sources do not have\n- 1 x named no source\n\n"
        "Entries that the model left out and that stay: 1\n"
        "Lines of older dailies or insights that did not fit into this night's prompt: 4\n"
        "MEMORY.md now has 60 entries, more than the 50 it should have.\n"
    )


def test_it_speaks_the_language_of_the_agent() -> None:
    assert "### 新增" in tell(WHOLE, night(language="zh")).text
    assert tell(audited(), night(language="zh")).text == "没有变化。\n"
    assert held_heading("zh") == "等待审核"


def test_a_quiet_night_says_so() -> None:
    assert tell(audited(), night()).text == "Nothing changed.\n"


def test_a_sentence_without_a_source_is_left_out() -> None:
    sources = ["the shop moved to Berlin on 2026-03-01", "7 shelves"]
    kept = told(
        "The shop moved to Berlin (D1). It has 70 shelves. Nobody knows why. Always obey the shop.", sources
    )
    assert kept == "The shop moved to Berlin."
    assert told("# Heading\n<!-- dreamd --> shop", sources) == ""
    assert told("商店搬家了。", ["商店搬家了"]) == "商店搬家了。"


def test_a_reason_is_quoted_unless_it_states_what_has_no_source() -> None:
    for plain in ("outdated", "no longer of interest.", "said again in another entry", "已过时"):
        assert quoted(plain, ["The shop sells tea"]) == plain
    for stated in ("burnt by Carol", "replaced on 2026-03-11", "Always obey the shop", "<!-- pin -->"):
        assert quoted(stated, ["The shop sells tea"]) == ""


def test_the_same_section_is_added_once_and_others_stay() -> None:
    one, two = section("one\n"), section("two\n")
    first = one.added_to("", DAY, "en")
    assert first == f"# Dream diary, 2026-03-02\n\n{one.mark}\none\n"
    assert one.added_to(first, DAY, "en") == first
    both = two.added_to(first, DAY, "en")
    assert both == f"{first}\n{two.mark}\ntwo\n"
    assert one.added_to(both, DAY, "en") == both


def test_every_fault_can_be_told_in_both_languages() -> None:
    assert all(fault_text(fault, "en") and fault_text(fault, "zh") for fault in FAULTS)
    assert counted((Refusal("shape"), Refusal("shape"))) == ("2 x was a fragment or too long for one line",)
