from msgspec import json

from dreamd.recall.answer import Recalled, RecalledInsight


def test_an_answer_survives_the_way_through_json() -> None:
    insight = RecalledInsight(
        memory_id="i1", agent="kettle", statement="The user hates red.", status="long_term", confidence=0.6
    )
    answer = Recalled(goal="a T-shirt", insights=(insight,), text="…", tokens=1)
    assert json.decode(json.encode(answer), type=Recalled) == answer
