from dreamd.dream.draft import Quote
from dreamd.dream.judge import Judged, alike, final, judged, named_faults, of_notes, of_records, united
from dreamd.dream.points import Point
from dreamd.dream.reply import Cited, Proposal
from tests.dream.told import draft, inputs, told

PDF = told(1, "I always want reports as PDF.")
AGAIN = told(2, "reports as PDF, always", day=3)
ALL = inputs(PDF, AGAIN)
TRUE = draft("The user always wants reports as PDF", PDF, kind="preference")


def proposal(statement: str, *quotes: tuple[str, str], sources: tuple[str, ...] = ()) -> Proposal:
    return Proposal(
        statement=statement, kind="preference", quotes=tuple(Cited(*one) for one in quotes), sources=sources
    )


def test_labels_become_ids_and_quotes_the_records_own() -> None:
    found = of_records({"R1": PDF, "R2": AGAIN})(proposal("x", ("R1", "reports as PDF"), ("2", "always")))
    assert found.quotes == (Quote(PDF.memory_id, PDF.content), Quote(AGAIN.memory_id, AGAIN.content))
    assert found.ref_ids == (PDF.memory_id, AGAIN.memory_id)
    assert found.author == "model"


def test_what_is_not_there_keeps_the_name_that_the_model_gave_it() -> None:
    found = of_records({"R1": PDF})(proposal("x", ("R9", "y"), ("R1", "made up"), sources=("R1", "beef")))
    assert found.ref_ids == ("R9", PDF.memory_id, "beef")
    assert found.quotes == (Quote("R9", "y"), Quote(PDF.memory_id, "made up"))


def test_a_note_stands_for_all_records_under_it() -> None:
    point = Point("", (Quote(PDF.memory_id, PDF.content),), (PDF.memory_id, AGAIN.memory_id))
    found = of_notes({"P1": point})(proposal("x", sources=("1", "P7")))
    assert found.ref_ids == (PDF.memory_id, AGAIN.memory_id, "P7")
    assert found.quotes == point.quotes


def test_good_and_faulty_are_told_apart_and_faults_named() -> None:
    resolve = of_records({"R1": PDF})
    proposals = [proposal(TRUE.statement, ("R1", "reports as PDF")), proposal("The user wants 3 reports")]
    found = judged(proposals, resolve, ALL)
    assert [one.statement for one in found.good] == [TRUE.statement]
    assert found.good[0].explicit
    (named,) = named_faults(found, "zh")
    assert named.startswith('"The user wants 3 reports": 没有引用任何记录')


def test_a_faulty_draft_is_refused_after_the_second_answer_whatever_that_says() -> None:
    lie = draft("The user always wants 7 reports", PDF, kind="preference")
    kept, refused = final(Judged((), ((lie, ("facts",)),)), Judged((TRUE,)), ALL, 0.5)
    assert kept == [TRUE]
    assert refused == ["an insight was refused: a number, date, time or name stands in none of its records"]
    assert len(final(Judged((), ((lie, ("facts",)),)), Judged((), ((lie, ("facts",)),)), ALL, 0.5)[1]) == 1


def test_a_weak_draft_is_kept_as_such_unless_a_better_one_says_the_same() -> None:
    weak = draft("The user enjoys typographic excellence", PDF, kind="preference")
    kept, refused = final(Judged((), ((weak, ("words",)),)), Judged(), ALL, 0.5)
    assert [(one.weak, one.confidence <= 0.2) for one in kept] == [(True, True)]
    assert refused == []
    better = draft("The user enjoys much typographic excellence", PDF, kind="preference")
    assert final(Judged((), ((weak, ("words",)),)), Judged((better,)), ALL, 0.5)[0] == [better]


def test_five_wordings_of_one_insight_are_one_on_the_evidence_of_all() -> None:
    wordings = [
        draft("The user always wants reports as PDF", PDF),
        draft("The user wants PDF reports, always", AGAIN),
        draft("Reports are wanted as PDF by the user", PDF),
        draft("The user always asks for PDF reports", PDF, explicit=True),
        draft("PDF is what the user always wants for reports", PDF),
    ]
    (one,) = united(wordings, 0.5)
    assert one.statement == wordings[0].statement
    assert one.ref_ids == (PDF.memory_id, AGAIN.memory_id)
    assert one.explicit


def test_two_that_differ_in_a_number_name_or_negation_stay_two() -> None:
    base = draft("The budget of Anna is 500 euros", PDF)
    for other in (
        "The budget of Anna is 800 euros",
        "The budget of Tom is 500 euros",
        "The budget of Anna is not 500 euros",
    ):
        assert not alike(base, draft(other, PDF), 0.5)
        assert len(united([base, draft(other, PDF)], 0.5)) == 2


def test_a_weak_wording_lends_nothing_to_a_good_one() -> None:
    weak = draft("The user wants reports as PDF always", AGAIN, weak=True, confidence=0.2)
    assert united([TRUE, weak], 0.5) == (TRUE,)
    assert united([weak, TRUE], 0.5) == (TRUE,)
