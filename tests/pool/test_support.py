import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dreamd.pool.support import facts, unsupported


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000 users", {"1000"}),
        ("１０００ users", {"1000"}),
        ("三百个用户", {"300"}),
        ("预算3.5万元", {"35000 ¥"}),
        ("a $1,200 budget", {"1200 $"}),
        ("twenty-five percent", {"25%"}),
        ("百分之二十", {"20%"}),
        ("within 30ms", {"30 ms"}),
        ("30 minutes", {"30 min"}),
        ("花了两周", {"2 week"}),
        ("一个统一的、十分重要的想法", set()),
        ("one of them", set()),
        ("on March 2, 2026", {"2026-03-02"}),
        ("the 2nd of March", {"--03-02"}),
        ("3月2日", {"--03-02"}),
        ("5月2号", {"--05-02"}),
        ("二〇二六年三月二日", {"2026-03-02"}),
        ("2026-03-02T09:30:00Z", {"2026-03-02", "09:30"}),
        ("at 3pm", {"15:00"}),
        ("下午3点半", {"15:30"}),
        ("see src/app.py and ~/notes", {"src/app.py", "~/notes"}),
        ("read https://example.org/a?b=1.", {"https://example.org/a?b=1"}),
        ("ask ann@example.org or @bob", {"ann@example.org", "@bob"}),
        ("set max_tokens with --dry-run", {"max_tokens", "--dry-run"}),
        ("on v1.2.3", {"1.2.3"}),
        ("run `make all`", {"make all"}),
        ("he said “hurry up”", {"hurry up"}),
        ("she moved to Berlin", {"berlin"}),
        ("Bob prefers tea", {"bob"}),
        ("Prefers tea in the morning", set()),
        ("用户叫李明，使用 docker", {"李明", "docker"}),
        ("喜欢顺丰快递", {"顺丰"}),
    ],
)
def test_facts_are_normalised(text: str, expected: set[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("three days", "3 days"),
        ("3 days", "three days"),
        ("1000 users", "1,000 users"),
        ("on March 2", "2026-03-02: deployed"),
        ("in 2026", "2026-03-02: deployed"),
        ("in March", "2026-03-02: deployed"),
        ("3月2日部署", "March 2"),
        ("port 8080", "http://localhost:8080/"),
        ("Berlin is home", "moved to berlin"),
        ("the file app.py", "edited src/app.py"),
        ("PR 123", "merged PR-123"),
        ("Python 3", "Python v3"),
        ("the 1 that failed", "the first that failed"),
        ("每天工作8小时", "works eight hours a day"),
        ("one week", "一周"),
    ],
)
def test_another_spelling_of_the_same_fact_is_supported(line: str, source: str) -> None:
    assert unsupported(line, [source]) == ()


@pytest.mark.parametrize(
    ("line", "source", "missing"),
    [
        ("30 users", "300 users", ("30",)),
        ("300 users", "30 users", ("300",)),
        ("30 s", "30 ms", ("30 s",)),
        ("30%", "30 users", ("30%",)),
        ("version 1.2.4", "version 1.2.3", ("1.2.4",)),
        ("on March 3", "on March 2", ("--03-03",)),
        ("on 2025-03-02", "on 2026-03-02", ("2025-03-02",)),
        ("5月2日", "3月2日", ("--05-02",)),
        ("at 16:00", "at 15:00", ("16:00",)),
        ("moved to Paris", "moved to Berlin", ("paris",)),
        ("Carol prefers tea", "Bob prefers tea", ("carol",)),
        ("edit src/b.py", "edit src/a.py", ("src/b.py",)),
        ("用户叫王芳", "用户叫李明", ("王芳",)),
        ("预算五百元", "预算三百元", ("500 ¥",)),
        ("用 podman 部署", "用 docker 部署", ("podman",)),
        ("Ann knows", "Annabel knows", ("ann",)),
    ],
)
def test_a_changed_fact_is_found(line: str, source: str, missing: tuple[str, ...]) -> None:
    assert unsupported(line, [source]) == missing


def test_facts_may_come_from_several_sources() -> None:
    assert unsupported("Berlin, 30 users", ["30 users", "lives in Berlin"]) == ()


TEXT = st.text(
    alphabet=st.sampled_from("ab AB12 39.,:-/_'\"`@#%$三两百十年月日点周人不用户叫\n，。「」《》()")
    | st.characters(codec="utf-8"),
    max_size=60,
)


@given(TEXT)
def test_every_text_supports_itself(text: str) -> None:
    assert unsupported(text, [text]) == ()


@given(TEXT, TEXT)
def test_more_sources_never_support_less(text: str, other: str) -> None:
    assert unsupported(text, [other, text]) == ()


WORDS = [
    "Berlin",
    "docker",
    "src/app.py",
    "1,000",
    "pnpm",
    "reads",
    "the",
    "letters",
    "@bob",
    "max_tokens",
    "v1.2.3",
]


@given(st.permutations(WORDS))
def test_the_order_of_words_is_free(words: list[str]) -> None:
    assert unsupported(" ".join(words), [" ".join(WORDS)]) == ()


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@example(1, 1000)
@example(10, 10_000)
@example(0, 1000)
def test_only_the_same_number_supports_a_number(said: int, known: int) -> None:
    missing = unsupported(f"there were {said} users", [f"there were {known:,} users"])
    assert (missing == ()) == (said == known)
