import pytest

from dreamd.gate.lanes import upstream_name


@pytest.mark.parametrize(
    "spelling",
    ["https://Api.Example.com/v1", "https://api.example.com:443", "https://user:pw@api.example.com./v1/?q=1"],
)
def test_all_spellings_of_an_upstream_are_one_lane(spelling: str) -> None:
    assert upstream_name(spelling) == "https://api.example.com:443"
