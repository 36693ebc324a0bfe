import errno

from dreamd import errors
from dreamd.errors import DiskFull, DreamdError, HeldForReview, ProviderBusy


def test_an_error_is_one_line_of_what_where_and_what_to_do() -> None:
    error = ProviderBusy("the LLM server is busy", retry_after_s=3.0, hint="dreamd tries again")
    assert str(error) == "the LLM server is busy; dreamd tries again"
    assert error.retry_after_s == 3.0


def test_exit_codes_are_those_of_the_contract() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DreamdError)
    ]
    assert {kind.exit_code for kind in kinds} == {1, 2, 3}
    assert HeldForReview.exit_code == 3


def test_a_spent_quota_is_a_full_disk_too() -> None:
    assert DiskFull.is_told_by(OSError(errno.EDQUOT, "quota exceeded"))
    assert not DiskFull.is_told_by(OSError(errno.EACCES, "permission denied"))


def test_of_a_bug_its_class_and_its_innermost_place_are_told_and_no_text_of_it() -> None:
    def broken() -> None:
        raise ValueError("said in a log")

    try:
        broken()
    except ValueError as error:
        raised = error
    line = broken.__code__.co_firstlineno + 1
    expected = {"error": "ValueError", "at": f"{__file__}:{line}"}
    assert errors.told(raised) == expected
    assert errors.told(ExceptionGroup("several", [raised])) == expected
    assert errors.told(ValueError("never raised")) == {"error": "ValueError", "at": ""}
