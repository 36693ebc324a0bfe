"""Codex rollouts: two logs in one, forks that replay, compressed files, and every form an error takes."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import msgspec
import pytest
import zstandard
from msgspec.structs import replace

from dreamd.formats import _codex
from dreamd.formats.base import CERTAIN, MAYBE, NO, LineReader, Source
from dreamd.formats.codex import FORMAT
from dreamd.records import Amendment, Item, Record, Skip, Span, Turn
from tests.formats.folding import expected, fold, items_of, items_of_folder

SAMPLES = Path(__file__).parent.parent / "samples" / "codex"
THREAD = "019e0000-000a-7000-8000-0000000000aa"
PARENT = "019e0000-000b-7000-8000-0000000000bb"


class Around:
    """Neighbours made up for a test."""

    def __init__(
        self,
        siblings: dict[str, bytes] | None = None,
        logs: dict[str, list[bytes]] | None = None,
        stored: Sequence[object] = (),
    ) -> None:
        self.siblings, self.logs, self.stored = siblings or {}, logs or {}, stored

    def sibling(self, relative: str, max_bytes: int = 1 << 20) -> bytes | None:
        return self.siblings.get(relative, b"")[:max_bytes] if relative in self.siblings else None

    def lines_of(self, name_part: str) -> Iterator[bytes] | None:
        return iter(self.logs[name_part]) if name_part in self.logs else None

    def rows_of(self, _relative: str, _sql: str, *args: object) -> list[tuple[object, ...]] | None:
        return [args] if args[0] in self.stored else []


def source(name: str = "rollout.jsonl") -> Source:
    return Source("s", PurePath("/logs") / name, PurePath("/logs"), "UTC")


def line(type_: str, **payload: object) -> bytes:
    return json.dumps({"timestamp": "2026-05-04T08:00:00.000Z", "type": type_, "payload": payload}).encode()


def meta(thread: str = THREAD, **more: object) -> bytes:
    return line("session_meta", id=thread, cwd="/srv", source="cli", **more)


def event(type_: str, **more: object) -> bytes:
    return line("event_msg", type=type_, **more)


def said(role: str, text: str) -> bytes:
    return line("response_item", type="message", role=role, content=[{"type": "input_text", "text": text}])


def asked(text: str) -> list[bytes]:
    return [said("user", text), event("user_message", message=text)]


def turn(turn_id: str, *lines: bytes) -> list[bytes]:
    begin = [event("task_started", turn_id=turn_id), line("turn_context", turn_id=turn_id, cwd="/srv")]
    return [*begin, *lines, event("task_complete", turn_id=turn_id)]


def fed(reader: LineReader, lines: list[bytes]) -> list[Item]:
    return [item for each in lines for item in reader.feed(each, Span("s"))]


def read(lines: list[bytes], around: Around | None = None, name: str = "rollout.jsonl") -> list[Item]:
    reader = FORMAT.open(source(name), around or Around(), b"")
    return [*fed(reader, lines), *reader.settle()]


def short(items: list[Item]) -> list[tuple[str, str, str]]:
    return [(each["role"], each["origin"], each.get("text", "")) for each in fold([items], "codex")]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["01_both_logs", "02_fork_replay", "03_old_bare"])
def test_the_shared_samples_read_as_expected(shared, name):
    where = shared / "samples" / "codex"
    log = where / f"{name}.jsonl"
    items = [items_of(FORMAT, log)] if log.exists() else items_of_folder(FORMAT, where / name)

    assert fold(items, "codex") == expected(where / f"{name}.expected.json")


def test_a_fork_repeats_nothing_of_its_parent():
    assert fold(items_of_folder(FORMAT, SAMPLES / "02_fork"), "codex") == expected(
        SAMPLES / "02_fork.expected.json"
    )


def test_threads_in_pages_are_read_by_what_they_show_and_followed_where_they_were_set_back():
    assert fold(items_of_folder(FORMAT, SAMPLES / "04_pages"), "codex") == expected(
        SAMPLES / "04_pages.expected.json"
    )


def shown(item: dict[str, object], thread: str = THREAD) -> bytes:
    return event("item_completed", thread_id=thread, item=item)


def typed(text: str) -> dict[str, object]:
    return {"type": "UserMessage", "id": "i", "content": [{"type": "text", "text": text}]}


def test_what_a_thread_in_pages_shows_as_typed_proves_the_rest_injected():
    lines = [said("user", "Boil it"), shown(typed("Boil it")), said("user", "<tag>Not I</tag>")]
    assert short(read([meta(), *turn("t1", *lines)])) == [
        ("user", "human", "Boil it"),
        ("user", "injected", "<tag>Not I</tag>"),
    ]


def test_words_shown_alone_count_once_and_another_threads_not_at_all():
    lines = [shown(typed("Mine")), shown(typed("Theirs"), PARENT), said("user", "From the harness")]
    assert short(read([meta(), *turn("t1", *lines)])) == [
        ("user", "human", "Mine"),
        ("user", "injected", "From the harness"),
    ]


@pytest.mark.parametrize(
    ("end", "ok"),
    [
        ({"type": "McpToolCall", "status": "failed", "result": {"isError": True}}, False),
        ({"type": "McpToolCall", "status": "completed", "result": {"isError": False}}, True),
        ({"type": "FileChange", "status": "declined"}, False),
        ({"type": "CommandExecution", "status": "completed", "exit_code": 2}, False),
        ({"type": "CommandExecution", "status": "completed", "exit_code": 0}, True),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_what_became_of_a_call_is_shown_in_pages(end, ok, first):
    call = line("response_item", type="function_call", name="look", arguments="{}", call_id="c1")
    ends = [
        shown({"id": "c1", **end}),
        line("response_item", type="function_call_output", call_id="c1", output="x"),
    ]
    (made,) = fold([read([meta(), *turn("t1", call, *(ends if first else reversed(ends)))])], "codex")

    assert made["ok"] is ok


def numbered(ordinal: int, made: bytes) -> bytes:
    return json.dumps({**json.loads(made), "ordinal": ordinal}).encode()


@pytest.mark.parametrize(
    ("base", "own", "gone"),
    [(THREAD, THREAD, 1), (THREAD, PARENT, 0), (PARENT, THREAD, 0)],
    ids=["set back", "a fork of another's log", "the earlier log is not there"],
)
def test_a_thread_set_back_takes_what_its_earlier_log_holds_beyond(base, own, gone):
    earlier = [meta(own), *turn("t1", *asked("Kept")), *turn("t2", *asked("Taken back"))]
    around = Around(logs={f"{THREAD}.jsonl": [numbered(at, each) for at, each in enumerate(earlier)]})
    at = 1 + len(turn("t1", *asked("Kept")))
    later = [
        meta(history_base={"thread_id": base, "end_ordinal_exclusive": at}),
        *turn("t3", *asked("Better")),
    ]

    found = [*read(earlier), *read(later, around)]

    assert ("user", "human", "Kept") in short(found)
    assert ("user", "human", "Better") in short(found)
    assert sum(isinstance(item, Amendment) and item.withdrawn is True for item in found) == gone


def test_a_compressed_copy_holds_the_same_records(tmp_path):
    plain = tmp_path / "01_bread.jsonl"
    shutil.copy(SAMPLES / plain.name, plain)
    packed = tmp_path / "packed" / "01_bread.jsonl.zst"
    packed.parent.mkdir()
    packed.write_bytes(zstandard.compress(plain.read_bytes()))

    identities = [
        [item.identity for item in items_of(FORMAT, path) if isinstance(item, Record)]
        for path in (plain, packed)
    ]
    assert identities[0] == identities[1]


def test_a_stale_compressed_copy_beside_its_plain_file_amends_nothing():
    around = Around(siblings={"rollout.jsonl": b"x"})
    lines = [
        meta(),
        *turn("t1", *asked("Boil the water")),
        event("task_started", turn_id="t2"),
        said("user", "Stop"),
    ]

    items = read(lines, around, "rollout.jsonl.zst")

    assert [item.text for item in items if isinstance(item, Record)] == ["Boil the water", "Stop"]
    assert not [item for item in items if isinstance(item, (Amendment, Turn))]


def test_an_unreadable_parent_keeps_all_until_it_can_be_read():
    copied = [meta(PARENT), *turn("p1", *asked("Which tea?"), said("assistant", "Oolong."))]
    lines = [meta(forked_from_id=PARENT), *copied, *turn("f1", *asked("Buy more"))]
    around = Around()
    reader = FORMAT.open(source(), around, b"")
    items = [*fed(reader, lines), *reader.settle()]
    assert short(items)[0] == ("user", "human", "Which tea?")

    resumed = FORMAT.open(source(), around, reader.dump())
    around.logs[PARENT] = copied
    items += [*resumed.settle(), *resumed.settle()]

    assert short(items) == [("user", "human", "Buy more")]
    assert short(items) == short(read(lines, around))


@pytest.mark.parametrize(
    "link",
    [
        {"forked_from_id": PARENT},
        {"parent_thread_id": PARENT},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}},
    ],
)
def test_every_link_to_a_parent_drops_what_was_copied_from_it(link):
    copied = [meta(PARENT), *turn("p1", *asked("Which tea?"))]
    first = json.loads(meta())
    first["payload"] |= link
    lines = [json.dumps(first).encode(), *copied, *turn("f1", *asked("Buy more"))]

    assert [text for _, _, text in short(read(lines, Around(logs={PARENT: copied})))] == ["Buy more"]


def test_a_fork_that_copied_nothing_keeps_its_first_lines():
    parent = turn("p1", *asked("Which tea?"))
    own = [
        event("task_started", turn_id="f1"),
        said("developer", "Be brief"),
        *turn("f1", *asked("Buy more")),
    ]
    lines = [meta(forked_from_id=PARENT, history_base={"thread_id": PARENT}), *own]

    found = short(read(lines, Around(logs={PARENT: parent})))

    assert found == [("system", "injected", "Be brief"), ("user", "human", "Buy more")]


def test_what_a_subagent_is_told_is_its_parents_word():
    told = line("session_meta", id=THREAD, thread_source="subagent", source={"subagent": "review"})
    assert short(read([told, *turn("g1", *asked("List the jars"), said("assistant", "Nine."))])) == [
        ("user", "subagent", "List the jars"),
        ("assistant", "subagent", "Nine."),
    ]


def test_an_event_before_its_response_item_proves_it_human_all_the_same():
    lines = [
        meta(),
        *turn(
            "t1",
            event("user_message", message="<skill> is a tag I typed"),
            said("user", "<skill> is a tag I typed"),
        ),
    ]
    assert short(read(lines)) == [("user", "human", "<skill> is a tag I typed")]


def test_an_event_after_a_wrapper_with_the_same_text_proves_it_human():
    assert short(read([meta(), *turn("t1", *asked("<skill> is a tag I typed"))]))[0][1] == "human"


def test_without_any_event_only_known_wrappers_are_injected():
    lines = [meta(), *turn("t1", said("user", "<turn_aborted>\nx"), said("user", "Hello"))]
    assert [origin for _, origin, _ in short(read(lines))] == ["injected", "human"]


def test_the_first_event_of_a_file_disproves_earlier_turns_that_lack_theirs():
    lines = [meta(), *turn("t1", said("user", "From the harness")), *turn("t2", *asked("From me"))]
    assert [origin for _, origin, _ in short(read(lines))] == ["injected", "human"]


def test_a_guess_is_doubted_at_rest_and_restored_by_its_event():
    reader = FORMAT.open(source(), Around(), b"")
    items = fed(
        reader, [meta(), *turn("t1", *asked("One")), event("task_started", turn_id="t2"), said("user", "Two")]
    )
    items += reader.settle()
    assert short(items)[1][1] == "injected"

    items += fed(reader, [event("user_message", message="Two")])
    assert short(items)[1][1] == "human"


def test_what_an_editor_glued_to_a_prompt_is_taken_off():
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nRename it\n"
    assert short(read([meta(), *turn("t1", *asked(text))])) == [("user", "human", "Rename it")]
    assert short(read([meta(), *turn("t1", event("user_message", message=text))])) == [
        ("user", "human", "Rename it")
    ]


def test_a_prompt_stored_before_its_turn_begins_belongs_to_it():
    lines = [
        said("user", "Go"),
        event("task_started", turn_id="t2"),
        event("user_message", message="Go"),
        said("assistant", "Going"),
    ]
    lines = [meta(), *turn("t1", *asked("First")), *lines]
    assert [origin for _, origin, _ in short(read(lines))] == ["human", "human", "human"]
    assert short(read([*lines, event("thread_rolled_back", num_turns=1)])) == [("user", "human", "First")]


def test_events_of_copied_history_count_as_the_files_own():
    copied = [meta(PARENT), *turn("p1", *asked("Which tea?"))]
    lines = [meta(forked_from_id=PARENT), *copied, *turn("f1", said("user", "From the harness"))]
    assert short(read(lines, Around(logs={PARENT: copied}))) == [("user", "injected", "From the harness")]


def test_old_events_of_a_wrapper_kind_prove_nothing():
    lines = [
        said("user", "<user_instructions>x"),
        event("user_message", message="<user_instructions>x", kind="user_instructions"),
    ]
    assert short(read([meta(), *lines])) == [("user", "injected", "<user_instructions>x")]


def test_an_event_written_before_other_items_gives_way_to_its_response_item_later():
    late = [
        event("agent_message", message="Done"),
        line("response_item", type="web_search_call", status="completed"),
    ]
    items = read([meta(), *turn("t1", *asked("Go"), *late, said("assistant", "Done"))])

    assert [role for role, _, _ in short(items)] == ["user", "tool", "assistant"]


def test_images_of_an_event_without_response_item_are_lines():
    items = read(
        [
            meta(),
            *turn("t1", event("user_message", message="What is it?", images=["data:x"], local_images=["/a"])),
        ]
    )
    assert short(items) == [("user", "human", "[image]\n[image]\nWhat is it?")]


def test_a_rollback_takes_the_last_turns_with_all_that_came_since():
    turns = [
        each for n in range(4) for each in turn(f"t{n}", *asked(f"Ask {n}"), said("assistant", f"Say {n}"))
    ]
    compacted = line("compacted", message="Summary")
    items = read(
        [meta(), *turns, compacted, event("thread_rolled_back", num_turns=2), *turn("t9", *asked("Again"))]
    )

    assert [text for _, _, text in short(items)] == ["Ask 0", "Say 0", "Ask 1", "Say 1", "Again"]


def test_a_rollback_works_where_turns_have_no_ids():
    lines = [meta(), *asked("One"), said("assistant", "1"), *asked("Two"), said("assistant", "2")]
    items = read([*lines, event("thread_rolled_back", num_turns=1), *asked("Three")])

    assert [text for _, _, text in short(items)] == ["One", "1", "Three"]


def test_equal_words_in_one_turn_are_two_records_and_a_repeated_line_is_one():
    reader = FORMAT.open(source(), Around(), b"")
    lines = [
        meta(),
        said("assistant", "Yes"),
        said("assistant", "No"),
        said("assistant", "Yes"),
        said("assistant", "Yes"),
    ]
    items = [item for each in lines for item in reader.feed(each, Span("s", sha256=each))]

    assert [text for _, _, text in short(items)] == ["Yes", "No", "Yes"]


OUTPUTS = [
    ("all fine", True),
    ("Exit code: 0\nOutput:\nok", True),
    ("Exit code: 3\nOutput:\n", False),
    ("Chunk\nProcess exited with code 137\nOutput:\n", False),
    ("Process exited with code 0\nOutput:\nProcess exited with code 5", True),
    ('{"output":"x","metadata":{"exit_code":2}}', False),
    ('{"output":"x","metadata":{"exit_code":0}}', True),
    ('{"output":"Exit code: 1"}', True),
    ({"output": "x", "metadata": {"exit_code": 3}}, False),
    ([{"type": "input_text", "text": "Exit code: 4"}], False),
    ({"content": "sorry", "success": False}, False),
    *[(f"{start} because", False) for start in _codex._FAILED],
    ("The flight was aborted", True),
    (None, True),
]


@pytest.mark.parametrize(("output", "ok"), OUTPUTS)
def test_errors_are_told_from_the_output(output, ok):
    call = line("response_item", type="function_call", name="shell", arguments="{}", call_id="c")
    result = line("response_item", type="function_call_output", call_id="c", output=output)

    assert [each["ok"] for each in fold([read([meta(), call, result])], "codex")] == [ok]


ENDS = [
    ({"type": "patch_apply_end", "success": False}, False),
    ({"type": "patch_apply_end", "success": True}, True),
    ({"type": "exec_command_end", "exit_code": 1}, False),
    ({"type": "exec_command_end", "exit_code": 0}, True),
    ({"type": "mcp_tool_call_end", "result": {"Err": "x"}}, False),
    ({"type": "mcp_tool_call_end", "result": {"Ok": {"content": []}}}, True),
]


@pytest.mark.parametrize(("end", "ok"), ENDS)
@pytest.mark.parametrize("order", ["event first", "output first", "event alone"])
def test_errors_are_told_from_events_whenever_they_come(end, ok, order):
    call = line("response_item", type="custom_tool_call", name="x", input="y", call_id="c")
    output = line("response_item", type="custom_tool_call_output", call_id="c", output="fine")
    ended = line("event_msg", call_id="c", **end)
    lines = {"event first": [ended, output], "output first": [output, ended], "event alone": [ended]}[order]

    assert [each["ok"] for each in fold([read([meta(), call, *lines])], "codex")] == [ok]


def test_a_finished_call_keeps_its_arguments_and_shows_its_result_cut_short():
    call = line("response_item", type="function_call", name="shell", arguments="字" * 5000, call_id="c")
    output = line(
        "response_item", type="function_call_output", call_id="c", output="Exit code: 1\n" + "x" * 9000
    )
    done = next(item for item in read([meta(), call, output]) if isinstance(item, Amendment))

    assert done.ok is False
    assert done.trace is not None
    assert done.trace.arguments == "字" * 682
    assert len(done.trace.error) == 2048


def test_turns_are_busy_from_start_to_end_or_abort():
    lines = [meta(), *turn("t1"), event("turn_started", turn_id="t2"), event("turn_aborted", turn_id="t2")]
    turns = [item.busy for item in read(lines) if isinstance(item, Turn)]
    assert turns == [True, False, True, False]


def test_without_its_own_first_line_a_copied_one_is_not_taken_for_it():
    name = f"rollout-2026-05-04T10-00-00-{THREAD}.jsonl"
    items = read([meta()[:50], meta(PARENT), *turn("t1", *asked("Hello"))], name=name)

    assert [item.session_id for item in items if isinstance(item, Record)] == [THREAD]
    assert Skip("damaged") in items


def test_a_lone_surrogate_and_broken_utf8_are_replaced():
    odd = said("user", "a?b").replace(b"a?b", b"a\\ud83db\xff")
    assert short(read([meta(), odd])) == [("user", "human", "a\ufffdb\ufffd")]


@pytest.mark.parametrize(
    ("name", "head", "sure"),
    [
        ("rollout-x.jsonl", meta(), CERTAIN),
        ("rollout-x.jsonl.zst", meta(), CERTAIN),
        ("renamed.jsonl", b"\xef\xbb\xbf" + meta() + b"\r\n", CERTAIN),
        ("rollout-x.jsonl", b'{"id":"a","timestamp":"2025-06-05T07:24:21Z","instructions":null}', CERTAIN),
        ("rollout-x.jsonl", b"torn\n" + said("user", "x"), CERTAIN),
        ("rollout-x.jsonl", b"", MAYBE),
        ("renamed.jsonl", b'{"id":"to\n{"record_type":"state"}', CERTAIN),
        ("other.jsonl", b'{"type":"user","message":{}}', NO),
        ("history.jsonl", meta(), NO),
        ("rollout-x.jsonl.zst.tmp", meta(), NO),
    ],
)
def test_rollouts_are_known_by_their_lines_and_side_stores_by_name(name, head, sure):
    assert FORMAT.claims(PurePath("/x") / name, head) == sure


def test_the_state_stays_small_however_long_a_thread_is():
    reader = FORMAT.open(source(), Around(), b"")
    fed(reader, [meta()])
    for n in range(1500):
        fed(reader, turn(f"turn-{n}", *(said("assistant", f"{n}.{i}") for i in range(12))))
        call = line("response_item", type="function_call", name="x", arguments="y" * 4000, call_id=f"c{n}")
        fed(reader, [said("user", f"Ask {n}"), call])

    assert len(reader.dump()) < 1 << 20
    assert FORMAT.open(source(), Around(), reader.dump()).dump() == reader.dump()


def test_a_log_of_events_alone_is_read_in_order_and_does_not_pile_up():
    reader = FORMAT.open(source(), Around(), b"")
    items = fed(
        reader, [meta(), *(event("agent_message", message=f"Part {n} " + "x" * 2000) for n in range(300))]
    )
    assert len(reader.dump()) < 100_000

    items += reader.settle()
    assert [words.split()[1] for _, _, words in short(items)] == [str(n) for n in range(300)]


def test_an_image_of_many_megabytes_is_passed_over():
    content = [
        {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 2_000_000},
        {"type": "input_text", "text": "What?"},
    ]
    items = read([meta(), line("response_item", type="message", role="user", content=content)])

    assert short(items) == [("user", "human", "[image]\nWhat?")]
    assert msgspec.json.encode(items).__len__() < 2000


@pytest.mark.parametrize(("human", "origin"), [(True, "human"), (False, "scheduled")])
def test_a_prompt_of_codex_exec_is_the_humans_unless_switched(human, origin):
    where = replace(source(), programs_are_human=human)
    exec_meta = line("session_meta", id=THREAD, cwd="/srv", source="exec")
    lines = [exec_meta, *turn("t1", *asked("list the tests"), said("assistant", "Three tests."))]
    found = fold([fed(FORMAT.open(where, Around(), b""), lines)], "codex")
    assert [each["origin"] for each in found] == [origin, origin]
