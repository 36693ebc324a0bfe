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
