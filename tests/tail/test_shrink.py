import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dreamd.tail.shrink import Shrinker, cut_string

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
values = st.recursive(
    texts | st.integers() | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=6)
    ),
    max_leaves=20,
)


def shrunk(line: bytes, max_bytes: int, step: int) -> bytes:
    shrinker = Shrinker(max_bytes=max_bytes)
    for at in range(0, len(line), step):
        shrinker.feed(line[at : at + step])
    return shrinker.result()


@settings(max_examples=60)
@given(
    st.dictionaries(st.text("abc", max_size=3), values, max_size=6),
    st.booleans(),
    st.integers(64, 400),
    st.sampled_from([1, 7, 50]),
)
def test_what_is_left_is_valid_json_and_small(
    record: dict[str, object], escaped: bool, max_bytes: int, step: int
) -> None:
    line = json.dumps(record, ensure_ascii=escaped).encode()
    small = shrunk(line, max_bytes, step)
    assert isinstance(json.loads(small.decode()), dict)
    assert len(small) <= 5 * max_bytes + 800
    assert small == shrunk(line, max_bytes, len(line))


@given(texts, st.booleans(), st.integers(0, 100))
def test_a_string_is_cut_between_two_characters(text: str, escaped: bool, limit: int) -> None:
    body = json.dumps(text, ensure_ascii=escaped)[1:-1].encode()
    head = json.loads(f'"{cut_string(body, limit).decode()}"')
    assert text.startswith(head)
    assert len(head) >= min(len(text), limit // 12)


def test_the_metadata_around_a_long_text_stays() -> None:
    record = {"uuid": "u1", "message": {"content": [{"text": "字\n" * 50_000}]}, "timestamp": "t"}
    small = json.loads(shrunk(json.dumps(record).encode(), 4096, 1000))
    assert (small["uuid"], small["timestamp"]) == ("u1", "t")
    kept = small["message"]["content"][0]["text"]
    assert kept
    assert ("字\n" * 200).startswith(kept)


def test_a_line_of_very_many_small_values_keeps_its_last_members() -> None:
    record = {"uuid": "u1", "big": [[{"n": number}] * 3 for number in range(20_000)], "timestamp": "t"}
    small = json.loads(shrunk(json.dumps(record).encode(), 4096, 1000))
    assert (small["uuid"], small["timestamp"]) == ("u1", "t")
    assert 0 < len(small["big"]) < 20_000


def test_what_is_not_json_comes_out_bounded() -> None:
    assert len(shrunk(b"x" * 100_000, 4096, 1000)) <= 5 * 4096
    assert len(shrunk(b'"' * 100_001, 4096, 1000)) <= 5 * 4096
    assert len(shrunk(b"[" * 100_000, 4096, 1000)) <= 5 * 4096
    assert len(shrunk(b"]" * 100_000, 4096, 1000)) <= 5 * 4096
    assert len(shrunk(b"\\" * 100_000, 4096, 1000)) <= 5 * 4096
