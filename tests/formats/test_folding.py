from dreamd.records import Amendment, Record, Span
from tests.formats.folding import fold, split


def _said(identity: str, text: str) -> Record:
    return Record(
        identity=identity, session_id="s", role="user", origin="human", text=text, span=Span(source_id="x")
    )


def test_the_first_sighting_counts_and_amendments_change_it():
    folded = fold([[_said("a", "one"), _said("a", "again"), Amendment(identity="a", text="two")]], "x")

    assert folded == [
        {
            "session_id": "s",
            "agent": "x",
            "role": "user",
            "origin": "human",
            "text": "two",
            "timestamp": None,
        }
    ]


def test_an_own_withdrawal_leaves_alone_what_another_log_brought():
    original = [_said("a", "one"), _said("b", "two")]
    fork = [*original, Amendment(identity="a", withdrawn=True, own_only=True)]

    assert [item["text"] for item in fold([original, fork], "x")] == ["one", "two"]
    assert [item["text"] for item in fold([fork], "x")] == ["two"]
    assert [item["text"] for item in fold([original, [Amendment(identity="a", withdrawn=True)]], "x")] == [
        "two"
    ]


def test_lines_lose_their_line_ends_and_nothing_else():
    lines = list(split('\ufeff{"a": "b\u2028c"}\r\n\n{"d":\0 1}'.encode(), "x"))

    assert [line.decode() for line, _ in lines] == ['{"a": "b\u2028c"}', '{"d": 1}']
    assert [span.offset for _, span in lines] == [0, 20]
