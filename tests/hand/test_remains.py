from datetime import UTC, date, datetime
from pathlib import Path

from msgspec.structs import replace

from dreamd.hand.cascade import cascade
from dreamd.hand.plan import Wish
from dreamd.hand.remains import Remains, remains, written
from dreamd.memories import Memory
from dreamd.sections import Agent
from dreamd.stores.base import Changes, FileVersion, Held, LedgerRow, LineEvidence
from tests.dream.conftest import House

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = date(2026, 3, 2)
SECRET, TOWER = "My code word is Zinfandel.", "The tower is tall."


def version(content: str, author: str = "dreamd", agent: str = "cat", path: str = "MEMORY.md") -> FileVersion:
    return FileVersion(agent=agent, path=path, author=author, content=content, sha256="x", at=AT)


def evidence(line: str, *refs: str) -> LineEvidence:
    return LineEvidence(agent="cat", line=line, ref_ids=refs, day=DAY, at=AT)


def found(house: House, *ids: str, matching: str = "") -> Remains:
    fall = cascade(house.parts, Wish(ids=ids, matching=matching))
    return remains(house.parts, fall, ["cat", "dog"])


def works(house: House, folder: Path) -> Path:
    """The agents share a workspace."""
    one = Agent(zone="UTC", language="en", workspace=str(folder))
    house.configure(
        agents={"cat": one, "dog": replace(one, memory_file="DOG.md", daily_dir="dog", diary_dir="dog/d")}
    )
    return folder / "MEMORY.md"


def said(house: House) -> tuple[Memory, Memory]:
    return house.says(SECRET), house.says(TOWER)


def test_a_line_is_dreamds_when_it_came_by_dreamds_hand() -> None:
    history = [
        version("- a\n- b\n- c\n", "found"),
        version("- a\n- b\n", "accepted"),
        version("- a\n", "found"),
    ]
    assert written(history) == {"b"}
    assert written([]) == frozenset()


def test_lines_that_rest_on_it_go_and_those_of_people_are_told(house: House, tmp_path: Path) -> None:
    secret, tower = said(house)
    memory = works(house, tmp_path)
    memory.write_text("- Mine: Zinfandel\n- The code word is Zinfandel\n- The tower is tall\n")
    house.store.write(
        Changes(
            versions=[version("- Mine: Zinfandel\n", "found"), version(memory.read_text())],
            lines=[
                evidence("Mine: Zinfandel", "version:1#1"),
                evidence("The code word is Zinfandel", secret.memory_id),
                evidence("The tower is tall", tower.memory_id, secret.memory_id, "version:2#3"),
            ],
        )
    )
    rest = found(house, matching="zinfandel")
    (cut,) = rest.cuts
    assert (cut.path, cut.raws) == (memory, ("- The code word is Zinfandel\n",))
    assert [(line.line, line.text) for line in rest.lines] == [(2, "The code word is Zinfandel")]
    assert [line.text for line in rest.stays] == ["Mine: Zinfandel"]
    assert {line for _, line in rest.erased} == {"Mine: Zinfandel", "The code word is Zinfandel"}
    assert [(one.version_id, one.content) for one in rest.versions] == [(2, "- The tower is tall\n"), (1, "")]
    (left,) = rest.evidence
    assert (left.line, left.ref_ids) == ("The tower is tall", (tower.memory_id, "version:2#1"))


def test_a_line_that_others_bear_out_stays(house: House) -> None:
    secret, tower = said(house)
    house.store.write(Changes(lines=[evidence("The tower is tall", tower.memory_id, secret.memory_id)]))
    rest = found(house, secret.memory_id)
    assert rest.erased == ()
    assert rest.evidence[0].ref_ids == (tower.memory_id,)


def test_held_rewrites_reasons_and_parked_groups_are_cleaned(house: House) -> None:
    secret, _ = said(house)
    held = Held(
        agent="cat",
        day=DAY,
        path="MEMORY.md",
        base_sha256="",
        content="- x",
        diary="",
        reason="r",
        detail="{}",
        at=AT,
    )
    rows = [
        LedgerRow(agent="cat", day=DAY, phase="deep_dream", state="held", reason="too many"),
        LedgerRow(agent="cat", day=DAY, phase="daily", state="failed", reason="at Zinfandel"),
        LedgerRow(agent="cat", day=DAY, phase="dream", state="done", reason="fine"),
    ]
    parked = f'{{"parked":[{{"key":"zinfandel","ids":[],"reason":""}},{{"key":"x","ids":["{secret.memory_id}"],"reason":""}},{{"key":"y","ids":["z"],"reason":""}}]}}'
    house.store.write(
        Changes(
            held=[
                replace(held, content="- Zinfandel"),
                replace(held, detail=f'["{secret.memory_id}"]'),
                held,
            ],
            ledger=rows,
            meta={"dream:cat": parked},
        )
    )
    rest = found(house, matching="zinfandel")
    assert sorted(one.held_id for one in rest.held) == [1, 2]
    assert {(row.phase, row.state, row.reason) for row in rest.ledger} == {
        ("deep_dream", "done", "what was held was forgotten by a person"),
        ("daily", "failed", ""),
    }
    assert rest.meta == {"dream:cat": '{"parked":[{"key":"y","ids":["z"],"reason":""}]}'}
    assert len(rest.elsewhere) == 3


def test_where_nothing_stands_nothing_is_found(house: House, tmp_path: Path) -> None:
    works(house, tmp_path)
    said(house)
    house.says("Zinfandel?", agent="dog")
    rest = found(house, matching="merlot")
    assert rest == Remains()


def test_a_shared_folder_is_gone_through_once(house: House, tmp_path: Path) -> None:
    memory = works(house, tmp_path)
    house.configure(agents={name: replace(house.config.agents["cat"]) for name in ("cat", "dog")})
    said(house)
    memory.write_text("- The code word is Zinfandel\n")
    house.store.write(Changes(versions=[version(memory.read_text(), agent=name) for name in ("cat", "dog")]))
    rest = found(house, matching="zinfandel")
    assert [cut.raws for cut in rest.cuts] == [("- The code word is Zinfandel\n",)]
    assert len(rest.versions) == 2
