"""Claude Code's log, rule by rule (FORMATS sections 1 and 3): a few lines in, the items that come of them."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath

import pytest
from msgspec.structs import replace

from dreamd.formats.base import CERTAIN, LIKELY, NO
from dreamd.formats.claude_code import FORMAT
from dreamd.records import Amendment, Item, Record, Skip, Span, Turn
from tests.formats.folding import Beside, Folded, expected, fold, items_of, items_of_folder, source_of

SESSION = "0a0a0a0a-0000-4000-8000-000000000001"


class Log:
    """Writes a log line by line, each record on the one before it unless told otherwise."""

    def __init__(self, name: str = f"{SESSION}.jsonl", session: str = SESSION) -> None:
        self.name, self.session = name, session
        self.lines: list[bytes] = []
        self.last: str | None = None

    def add(self, type_: str, **fields: object) -> str:
        uuid = str(fields.pop("uuid", f"{self.name}-{len(self.lines)}"))
        record = {
            "parentUuid": fields.pop("parent", self.last),
            "isSidechain": False,
            "sessionId": self.session,
            "cwd": "/home/mei/garden",
            "type": type_,
            **fields,
            "uuid": uuid,
            "timestamp": f"2026-04-05T06:07:{len(self.lines) % 60:02d}.000Z",
        }
        self.lines.append(json.dumps(record, ensure_ascii=False).encode())
        self.last = uuid
        return uuid

    def user(self, content: object, **fields: object) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def result(self, call: str, content: object = "done", **fields: object) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content} | fields
        return self.user([block])

    def assistant(
        self, message_id: str | None, *blocks: object, stop: str | None = None, **fields: object
    ) -> str:
        message = {"role": "assistant", "model": fields.pop("model", "claude-x"), "content": list(blocks)}
        return self.add("assistant", message=message | {"id": message_id, "stop_reason": stop}, **fields)

    def answer(self, text: str, **fields: object) -> str:
        return self.assistant(f"msg-{self.name}-{len(self.lines)}", said(text), stop="end_turn", **fields)

    def queued(self, prompt: object, **fields: object) -> str:
        return self.add("attachment", attachment={"type": "queued_command", "prompt": prompt} | fields)

    def items(self) -> list[Item]:
        return items(self.lines, self.name)


def said(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def call(call_id: str, name: str = "Bash", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def items(lines: Iterable[bytes], name: str = f"{SESSION}.jsonl") -> list[Item]:
    reader = FORMAT.open(source_of(Path(name)), Beside(Path(name), Path(name)), b"")
    return [item for line in lines for item in reader.feed(line, Span(source_id=name))]


def read(*logs: Log) -> list[Folded]:
    return fold([log.items() for log in logs], "claude_code")


def brief(*logs: Log) -> list[tuple[object, ...]]:
    """Role, origin, and text or (tool, ok)."""
    return [
        (i["role"], i["origin"], *([i["tool"], i["ok"]] if "tool" in i else [i["text"]])) for i in read(*logs)
    ]


def only(write: Callable[[Log], object]) -> tuple[object, ...] | None:
    """The one item of a log of one record."""
    log = Log()
    write(log)
    found = brief(log)
    assert len(found) <= 1
    return found[0] if found else None


# Whose words


@pytest.mark.parametrize(
    ("content", "fields", "item"),
    [
        ("Prune it", {}, ("user", "human", "Prune it")),
        ("Prune it", {"promptSource": "typed"}, ("user", "human", "Prune it")),
        ("Prune it", {"promptSource": "sdk", "entrypoint": "sdk-py"}, ("user", "human", "Prune it")),
        ("Prune it", {"origin": {"kind": "human"}}, ("user", "human", "Prune it")),
        ("Prune it", {"promptSource": "system"}, ("user", "injected", "Prune it")),
        ("Prune it", {"isMeta": True}, ("user", "injected", "Prune it")),
        ("Prune it", {"origin": {"kind": "channel"}}, ("user", "injected", "Prune it")),
        ("Prune it", {"origin": {"kind": "coordinator"}}, ("user", "injected", "Prune it")),
        ("  \n ", {}, None),
        (None, {}, None),
        ([], {}, None),
        ([{"type": "document", "source": {}}], {}, None),
        ([said(" a "), said(" "), {"type": "image"}, said("b")], {}, ("user", "human", "a\n[image]\nb")),
        ("<system-reminder>x</system-reminder>\nPrune it", {}, ("user", "human", "Prune it")),
        ("Prune <system-reminder>x</system-reminder>it", {}, ("user", "human", "Prune it")),
        (
            "<system-reminder>x</system-reminder>",
            {},
            ("user", "injected", "<system-reminder>x</system-reminder>"),
        ),
        (
            [said("<ide_opened_file>x</ide_opened_file>")],
            {},
            ("user", "injected", "<ide_opened_file>x</ide_opened_file>"),
        ),
        (
            [said("<ide_selection>x</ide_selection>"), {"type": "image"}],
            {},
            ("user", "human", "[image]"),
        ),
        ("<system-reminder>never closed", {}, ("user", "human", "<system-reminder>never closed")),
        ("a < b and b > c", {}, ("user", "human", "a < b and b > c")),
        ("Stop hook feedback:\nx", {}, ("user", "injected", "Stop hook feedback:\nx")),
        ("[Request interrupted by user]", {}, ("user", "injected", "[Request interrupted by user]")),
        (
            "<task-notification>x</task-notification>",
            {},
            ("user", "injected", "<task-notification>x</task-notification>"),
        ),
        (
            "<task-notification>x</task-notification>",
            {"promptSource": "typed"},
            ("user", "human", "<task-notification>x</task-notification>"),
        ),
        (
            '<teammate-message teammate_id="a">\nx\n</teammate-message>\n<teammate-message teammate_id="b">y</teammate-message>',
            {},
            ("user", "subagent", "x\ny"),
        ),
        (
            "This session is being continued from a previous conversation that ran out",
            {},
            ("system", "injected", "This session is being continued from a previous conversation that ran out"),
        ),
        ("Pears.", {"isCompactSummary": True}, ("system", "injected", "Pears.")),
        ("每天浇水", {"origin": {"kind": "task-notification", "subkind": "scheduled-trigger"}}, ("user", "scheduled", "每天浇水")),
        ('<scheduled-task id="1">x</scheduled-task>', {}, ("user", "scheduled", '<scheduled-task id="1">x</scheduled-task>')),
    ],
)  # fmt: skip
def test_a_users_record_is_read_by_its_marks_then_by_its_text(content, fields, item):
    assert only(lambda log: log.user(content, **fields)) == item


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("<command-name>/clear</command-name>", "/clear"),
        ("<command-message>x is running</command-message>\n<command-name>x</command-name>", "/x"),
        ("<command-name>/x</command-name>\n<command-args> a  b\n</command-args>", "/x a  b"),
        ("<command-message>review</command-message>", "/review"),
        ("<bash-input> ls -l </bash-input>", "! ls -l"),
        (
            "<local-command-caveat>c</local-command-caveat>\n<command-name>/x</command-name>\n<command-args></command-args>",
            "/x",
        ),
    ],
)
def test_a_command_is_the_humans(text, item):
    assert only(lambda log: log.user(text)) == ("user", "human", item)


def test_a_command_on_a_system_line_is_the_humans_too():
    for fields in ({"subtype": "local_command"}, {}):
        log = Log()
        log.add(
            "system",
            content="<command-name>/model</command-name>\n<command-args>opus</command-args>",
            **fields,
        )
        log.add(
            "system",
            content="<local-command-stdout>Set to \x1b[1mopus\x1b[0m</local-command-stdout>",
            **fields,
        )
        log.add("system", content="Conversation compacted", level="info", **fields)

        assert brief(log) == [("user", "human", "/model opus"), ("system", "injected", "Set to opus")]


def test_text_beside_a_commands_tags_makes_it_plain_text():
    text = "<command-name>/x</command-name> is what I typed"
    assert only(lambda log: log.user(text)) == ("user", "human", text)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("<bash-stdout>a\n</bash-stdout><bash-stderr>b</bash-stderr>", ("user", "injected", "a\nb")),
        ("<local-command-stdout>\x1b[31mred\x1b[39m</local-command-stdout>", ("user", "injected", "red")),
        ("<local-command-stderr>bad</local-command-stderr>", ("user", "injected", "bad")),
        ("<local-command-stdout></local-command-stdout>", None),
        ("<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", None),
        ("<local-command-caveat>c</local-command-caveat>", None),
    ],
)
def test_what_a_command_printed_is_unwrapped(text, item):
    assert only(lambda log: log.user(text)) == item
    if "caveat" in text:
        assert only(lambda log: log.user(text, isMeta=True)) == item


@pytest.mark.parametrize(
    ("fields", "origin"),
    [
        ({}, "human"),
        ({"commandMode": "prompt"}, "human"),
        ({"commandMode": "prompt", "origin": {"kind": "human"}}, "human"),
        ({"commandMode": "task-notification"}, "injected"),
        ({"commandMode": "bash"}, "injected"),
        ({"commandMode": "prompt", "isMeta": True}, "injected"),
        ({"commandMode": "prompt", "origin": {"kind": "task-notification"}}, "injected"),
        ({"origin": {"kind": "task-notification", "subkind": "scheduled-trigger"}}, "scheduled"),
    ],
)
def test_a_prompt_queued_while_the_agent_works_is_placed_at_its_attachment(fields, origin):
    log = Log()
    log.add("queue-operation", operation="enqueue", content="Faster")
    log.queued([said("Faster")], **fields)
    log.add("attachment", attachment={"type": "todo_reminder", "content": "x"})

    assert brief(log) == [("user", origin, "Faster")]


def test_a_notice_read_in_the_middle_of_a_turn_leaves_the_turn_the_humans():
    log = Log()
    log.user("Prune it")
    log.queued("<task-notification>x</task-notification>", commandMode="task-notification")
    log.answer("Pruned.")

    assert brief(log)[-1] == ("assistant", "human", "Pruned.")


# Turns: whose, and whether one is under way


@pytest.mark.parametrize(
    ("content", "fields", "origin"),
    [
        ("Prune it", {}, "human"),
        ("<scheduled-task>x</scheduled-task>", {}, "scheduled"),
        ("<teammate-message>x</teammate-message>", {}, "subagent"),
        ("<task-notification>x</task-notification>", {}, "injected"),
        ("x", {"origin": {"kind": "channel"}}, "injected"),
        ("<channel>x</channel>", {}, "injected"),
    ],
)
def test_an_answer_has_the_origin_of_the_turn_it_answers(content, fields, origin):
    log = Log()
    log.user(content, **fields)
    log.answer("one")
    for filler in (
        "Stop hook feedback:\nx",
        "[Request interrupted by user]",
        "<system-reminder>x</system-reminder>",
    ):
        log.user(filler)
    log.user("skill body", isMeta=True)
    log.answer("two")

    assert [i for i in brief(log) if i[0] == "assistant"] == [
        ("assistant", origin, "one"),
        ("assistant", origin, "two"),
    ]


def test_the_first_meta_record_after_a_scheduled_fire_is_the_scheduled_prompt():
    log = Log()
    log.add("system", subtype="scheduled_task_fire", content="Running scheduled task")
    log.add("attachment", attachment={"type": "skill_listing"})
    log.user("Look for frost", isMeta=True)
    log.user("context", isMeta=True)
    log.answer("None.")
    log.user("more context", isMeta=True)

    assert [item[1] for item in brief(log)] == ["scheduled", "injected", "scheduled", "injected"]


def test_a_side_chain_inside_the_file_keeps_its_own_turns():
    log = Log()
    log.user("Count the beds")
    log.user("Look north", isSidechain=True, parent=None)
    log.answer("Two beds.", isSidechain=True)
    log.answer("Two.")

    assert brief(log) == [
        ("user", "human", "Count the beds"),
        ("user", "subagent", "Look north"),
        ("assistant", "subagent", "Two beds."),
        ("assistant", "human", "Two."),
    ]
    assert {item["session_id"] for item in read(log)} == {SESSION}


def test_a_subagents_records_are_a_session_of_their_own():
    log = Log("agent-77.jsonl")
    log.user("Look north", isSidechain=True, agentId="77")
    log.user("<system-reminder>x</system-reminder>", isSidechain=True, agentId="77")
    log.answer("Two beds.", isSidechain=True, agentId="77")
    log.answer("Done.", isSidechain=True)

    assert {item["session_id"] for item in read(log)} == {"agent-77"}
    assert [item[1] for item in brief(log)] == ["subagent", "injected", "subagent", "subagent"]


def turns(log: Log) -> list[tuple[str, bool]]:
    return [(item.session_id, item.busy) for item in log.items() if isinstance(item, Turn)]


def test_a_turn_is_told_when_it_begins_and_when_it_ends():
    log = Log()
    log.user("Prune it")
    log.assistant("m", said("I will."))
    log.assistant("m", call("t"), stop="tool_use")
    log.result("t")
    log.answer("Pruned.")
    log.add("system", subtype="stop_hook_summary")
    log.add("system", subtype="turn_duration")
    log.user("Stop hook feedback:\nagain", isMeta=True)
    log.user("[Request interrupted by user]")

    assert turns(log) == [(SESSION, True), (SESSION, False), (SESSION, True), (SESSION, False)]


def test_commands_that_call_no_model_start_no_turn():
    log = Log()
    log.add("system", subtype="local_command", content="<command-name>/cost</command-name>")
    log.user("<bash-input>ls</bash-input>")
    log.user("<bash-stdout>x</bash-stdout>")
    log.user("<local-command-caveat>x</local-command-caveat>", isMeta=True)

    assert turns(log) == []


def test_the_end_of_a_side_chain_does_not_end_the_turn():
    log = Log()
    log.user("Count")
    log.answer("Two beds.", isSidechain=True, parent=None)

    assert turns(log) == [(SESSION, True)]


# Answers and calls


def test_a_split_message_is_read_line_by_line_with_its_calls_in_place():
    log = Log()
    log.assistant("m", {"type": "thinking", "thinking": "hm"})
    log.assistant("m", said("I look."))
    first = log.assistant("m", call("t1", "Read"))
    log.result("t1")
    log.assistant("m", call("t2", "Bash"), parent=first)
    log.result("t2", is_error=True)

    assert brief(log) == [
        ("assistant", "human", "I look."),
        ("tool", "tool", "Read", True),
        ("tool", "tool", "Bash", False),
    ]


def test_a_cumulative_snapshot_amends_the_text_and_keeps_its_place():
    log = Log()
    log.assistant("m", said("The pear"))
    log.assistant("m", said("The pear is"))
    log.assistant("m", said("The pear is pruned."))
    log.assistant("m", said("The pear"))

    assert brief(log) == [("assistant", "human", "The pear is pruned.")]
    assert read(log)[0]["timestamp"] == "2026-04-05T06:07:00.000Z"


def test_a_cumulative_snapshot_of_the_whole_message_repeats_its_calls():
    log = Log()
    log.assistant("m", said("I look"))
    log.assistant("m", said("I look."), call("t"))
    log.assistant("m", said("I look."), call("t"), said("Done."))

    assert brief(log) == [("assistant", "human", "I look.\nDone."), ("tool", "tool", "Bash", None)]


def test_what_follows_a_call_is_a_text_of_its_own():
    log = Log()
    log.assistant("m", said("OK"))
    log.assistant("m", call("t"))
    log.assistant("m", said("OK, done."))

    assert [item[2] for item in brief(log)] == ["OK", "Bash", "OK, done."]


@pytest.mark.parametrize(
    ("result", "fields", "ok"),
    [
        ("fine", {}, True),
        ("fine", {"is_error": False}, True),
        ([said("fine")], {"is_error": None}, True),
        ("bad", {"is_error": True}, False),
        ("The user doesn't want to proceed with this tool use. STOP", {}, False),
        (None, {}, True),
    ],
)
def test_a_call_went_well_unless_flagged_refused_or_cancelled(result, fields, ok):
    log = Log()
    log.assistant("m", call("t", command="x"))
    log.result("t", result, **fields)

    assert brief(log) == [("tool", "tool", "Bash", ok)]


def test_a_cancelled_command_did_not_go_well():
    log = Log()
    log.assistant("m", call("t"))
    block = {"type": "tool_result", "tool_use_id": "t", "content": "half"}
    log.user([block], toolUseResult={"stdout": "half", "interrupted": True})
    log.assistant("m", call("u"))
    log.user(
        [block | {"tool_use_id": "u"}],
        toolUseResult={"stdout": '{"interrupted": true}', "interrupted": False},
    )

    assert [item[-1] for item in brief(log)] == [False, True]


def test_a_call_without_result_stays_open():
    log = Log()
    log.assistant("m", call("t"))

    assert brief(log) == [("tool", "tool", "Bash", None)]


def test_the_trace_holds_arguments_then_the_result_cut_to_its_bound():
    log = Log()
    log.assistant("m", call("t", command="浇" * 3000))
    log.result("t", "水" * 300_000)
    log.assistant("m2", call("u", command="ls"))
    log.result("u", "no such bed", is_error=True)
    first, second = [item for item in log.items() if isinstance(item, Amendment)]

    assert first.trace.arguments.startswith('{"command": "浇')
    assert set(first.trace.result) == {"水"}
    assert 2000 < len(first.trace.result.encode()) <= 2048
    assert 2000 < len(first.trace.arguments.encode()) <= 2048
    assert (second.trace.arguments, second.trace.error, second.trace.result) == (
        '{"command": "ls"}',
        "no such bed",
        "",
    )


def test_server_side_calls_find_their_results_in_the_answer():
    log = Log()
    log.assistant(
        "m",
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result"}]},
        said("Found."),
    )

    assert brief(log) == [("tool", "tool", "web_search", True), ("assistant", "human", "Found.")]


def test_a_server_side_call_that_answers_with_an_error_failed():
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    log = Log()
    log.assistant(
        "m",
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": error},
    )

    assert brief(log) == [("tool", "tool", "web_search", False)]


def test_synthetic_answers_are_the_harness_speaking():
    log = Log()
    log.assistant("a", said("API Error: 529"), model="<synthetic>", isApiErrorMessage=True)
    log.assistant("b", said("No response requested."), model="<synthetic>")

    assert brief(log) == [("system", "injected", "API Error: 529")]


def test_records_that_are_no_conversation_leave_no_item():
    log = Log()
    for subtype in ("api_error", "away_summary", "informational", "compact_boundary", "memory_saved"):
        log.add("system", subtype=subtype, content="x")
    for type_ in (
        "progress",
        "summary",
        "ai-title",
        "last-prompt",
        "atis-latch",
        "cost-state",
        "tools-used",
        "brand-new",
    ):
        log.add(type_, content="x", message={"role": "user", "content": "x"})

    assert brief(log) == []
    assert [item.kind for item in log.items() if isinstance(item, Skip)].count("unknown type") == 1


def test_what_was_sent_to_the_api_is_no_second_telling_of_it():
    log = Log()
    for type_ in ("api-request-shape", "api-request-blob", "api-request"):
        log.add(type_, message={"role": "user", "content": [{"type": "text", "text": "Remember the kettle"}]})

    assert brief(log) == []
    assert set(log.items()) == {Skip("metadata")}


def test_an_unknown_block_is_counted_and_the_rest_kept():
    log = Log()
    log.assistant("m", {"type": "container_upload", "file_id": "f"}, said("Kept."))

    assert brief(log) == [("assistant", "human", "Kept.")]
    assert Skip("unknown block") in log.items()


def test_an_answer_whose_content_is_no_list_of_blocks_harms_nothing():
    log = Log()
    log.add("assistant", message={"id": "m", "content": {"0": "h", "1": "i"}})
    log.add("assistant", message="odd")
    log.add("assistant", message={"id": "n", "content": "plain"})

    assert brief(log) == [("assistant", "human", "plain")]


# Damage


def test_a_cut_record_with_the_next_one_on_its_line_costs_only_itself():
    log = Log()
    log.user("lost")
    log.user("kept")
    spliced = log.lines[0][:-40] + log.lines[1]
    found = items([spliced, log.lines[1] + log.lines[0]])

    assert [item.text for item in found if isinstance(item, Record)] == ["kept", "lost"]
    assert [item for item in found if isinstance(item, Skip)] == [Skip("damaged"), Skip("repeated")]


def test_a_record_without_time_has_none_and_one_without_id_still_counts_once():
    line = json.dumps({"type": "user", "sessionId": "s", "message": {"content": "hi"}}).encode()
    found = fold([items([line, line])], "claude_code")

    assert [(item["text"], item["timestamp"]) for item in found] == [("hi", None)]


def test_a_session_without_id_is_named_by_its_file():
    line = json.dumps({"type": "user", "uuid": "u", "message": {"content": "hi"}}).encode()
    assert fold([items([line], "notes.jsonl")], "c")[0]["session_id"] == "notes"


# Rewinds


def test_going_back_withdraws_the_older_prompt_and_all_that_grew_from_it():
    log = Log()
    log.user("Start")
    base = log.answer("Where?")
    log.user("North")
    log.assistant("m", said("North it is."), call("t"))
    log.result("t")
    log.user("And deeper")
    late = log.answer("Dug.")
    log.user("South", parent=base)
    log.answer("South it is.")
    log.answer("late comer", parent=late)

    assert [item[2] for item in brief(log)] == ["Start", "Where?", "South", "South it is."]


def test_progress_between_a_prompt_and_its_parent_is_looked_through():
    log = Log()
    base = log.answer("Where?")
    log.add("progress", data={"type": "hook_progress"})
    log.add("progress", data={"type": "hook_progress"})
    log.user("North")
    log.user("South", parent=base)

    assert [item[2] for item in brief(log)] == ["Where?", "South"]


def test_going_back_twice_leaves_the_last():
    log = Log()
    base = log.answer("Where?")
    for place in ("North", "South", "East"):
        log.user(place, parent=base)
        log.answer(f"{place}!")

    assert [item[2] for item in brief(log)] == ["Where?", "East", "East!"]


def test_only_two_humans_on_one_parent_are_a_rewind():
    log = Log()
    log.user("one", parent=None)
    log.user("two", parent=None)
    base = log.assistant("m", call("t1"), call("t2"))
    for name in ("t1", "t2"):
        log.user([{"type": "tool_result", "tool_use_id": name, "content": "x"}], parent=base)
    log.user("context", isMeta=True, parent=base)
    log.user("<task-notification>x</task-notification>", parent=base)
    log.queued("three", commandMode="prompt")
    log.user("four", parent=base)

    assert [item[2] for item in brief(log) if item[1] == "human"] == ["one", "two", "three", "four"]
    assert len(brief(log)) == 8


def test_a_queued_prompt_seen_twice_keeps_what_grew_from_it():
    log = Log()
    base = log.answer("Where?")
    log.queued("North")
    log.lines.append(log.lines[-1])
    log.answer("North it is.")
    log.user("South", parent=base)

    assert [item[2] for item in brief(log)] == ["Where?", "South"]
    assert items([b'{"type":"user","uuid":"u","message":{"content":""}}']) == [Skip("blank")]


def test_a_line_seen_twice_is_no_rewind():
    log = Log()
    base = log.answer("Where?")
    log.user("North", parent=base)
    log.lines.append(log.lines[-1])

    assert [item[2] for item in brief(log)] == ["Where?", "North"]


# Forks and files


def test_history_copied_with_the_same_ids_counts_once():
    original, fork = Log("a.jsonl"), Log("b.jsonl", session="fork")
    original.user("Where?", uuid="u1")
    original.assistant("m1", said("Here."), call("t1"), uuid="u2")
    fork.user("Where?", uuid="u1", sessionKind="bg")
    fork.assistant("m1", said("Here."), call("t1"), uuid="u2", sessionKind="bg")
    fork.user("And then?", sessionKind="bg")

    assert [(item["session_id"], item.get("text")) for item in read(original, fork)] == [
        (SESSION, "Where?"),
        (SESSION, "Here."),
        (SESSION, None),
        ("fork", "And then?"),
    ]


def test_history_copied_with_new_ids_names_the_originals():
    original, fork = Log("a.jsonl"), Log("b.jsonl", session="fork")
    original.user("Where?", uuid="u1")
    original.assistant("m1", said("Here."), uuid="u2")
    fork.user("Where?", uuid="n1", forkedFrom={"sessionId": SESSION, "messageUuid": "u1"})
    fork.assistant("m1", said("Here."), uuid="n2", forkedFrom={"sessionId": SESSION, "messageUuid": "u2"})
    fork.user("And then?")

    assert [item["session_id"] for item in read(original, fork)] == [SESSION, SESSION, "fork"]
    assert [item["session_id"] for item in read(fork)] == ["fork"] * 3


def test_shared_history_belongs_to_the_original_then_to_the_one_that_ends_first():
    def order(*marks: dict[str, object], end: int) -> tuple[object, ...]:
        log = Log()
        log.lines = [b"{}"] * end
        log.user("x", **{key: value for mark in marks for key, value in mark.items()})
        data = b"\n".join(log.lines)
        return FORMAT.order(PurePath("x.jsonl"), data, data)

    copied, background = {"forkedFrom": {"messageUuid": "u"}}, {"sessionKind": "bg"}
    assert (
        order(end=3)
        < order(end=9)
        < order(background, end=1)
        < order(copied, end=1)
        < order(copied, background, end=1)
    )


def test_a_file_is_claimed_by_its_envelope():
    log = Log()
    log.user("x")
    line = log.lines[0]
    path = PurePath("x.jsonl")

    assert FORMAT.claims(path, line) == CERTAIN
    assert (
        FORMAT.claims(path, b"\xef\xbb\xbf" + b'{"type":"summary","summary":"x","leafUuid":"y"}\n') == LIKELY
    )
    long_snapshot = (
        b'{"type":"file-history-snapshot","snapshot":{"trackedFileBackups":{"a":"longer than the head'
    )
    assert FORMAT.claims(path, b"\0\0\n" + long_snapshot) == LIKELY
    assert FORMAT.claims(path, b'{"display":"x","timestamp":1,"project":"/x"}') == NO
    assert FORMAT.claims(path, b'{"uuid":"a","parentUuid":null,"sessionId":"s","message":{"parts":[]}}') == NO
    assert FORMAT.claims(path, b"") == NO
    for name in ("agent-1.meta.json", "x.jsonl.lock", "x.txt"):
        assert FORMAT.claims(PurePath(name), line) == NO


# Bounds


def test_the_state_stays_small_however_long_the_log(monkeypatch):
    log = Log()
    reader = FORMAT.open(source_of(Path("x.jsonl")), Beside(Path("x"), Path("x")), b"")
    for number in range(3000):
        log.lines.clear()
        log.user(f"{number}", uuid=f"u{number}")
        log.assistant(f"m{number}", said("x"), call(f"t{number}", command="x" * 1500), uuid=f"a{number}")
        for line in log.lines:
            reader.feed(line, Span(source_id="x"))

    assert len(reader.dump()) < 400_000


# The samples beside the checkout


@pytest.mark.shared
@pytest.mark.parametrize("case", ["01_main", "02_compact_schedule"])
def test_the_shared_samples_read_as_expected(shared, case):
    folder = shared / "samples/claude_code"
    assert fold([items_of(FORMAT, folder / f"{case}.jsonl")], "claude_code") == expected(
        folder / f"{case}.expected.json"
    )


@pytest.mark.shared
def test_the_shared_folder_of_forks_reads_as_expected(shared):
    folder = shared / "samples/claude_code"
    logs = items_of_folder(FORMAT, folder / "03_fork_subagents")
    assert fold(logs, "claude_code") == expected(folder / "03_fork_subagents.expected.json")


@pytest.mark.shared
def test_real_sessions_hold_what_their_people_typed(shared):
    folder = shared / "data/sessions/claude-code"
    typed = [
        item["text"]
        for path in sorted(folder.glob("*.jsonl"))
        for item in fold([items_of(FORMAT, path)], "claude_code")
        if item["origin"] == "human" and item["role"] == "user"
    ]
    assert typed == [
        "/init",
        "/orchestrator @CLAUDE.md を最新の状態にアップデートしてください",
        "/orchestrator create TODO app by Next.js",
        "Thanks! Please update CLAUDE.md for current changes",
    ]


@pytest.mark.parametrize("mark", [{"promptSource": "sdk"}, {"entrypoint": "sdk-py"}])
@pytest.mark.parametrize(("human", "origin"), [(True, "human"), (False, "scheduled")])
def test_a_programs_prompt_is_the_humans_unless_switched(
    mark: dict[str, str], human: bool, origin: str
) -> None:
    log = Log()
    log.user("Summarise the news", **mark)
    log.answer("Done.")
    where = replace(source_of(Path(log.name)), programs_are_human=human)
    reader = FORMAT.open(where, Beside(Path(log.name), Path(log.name)), b"")
    found = [item for line in log.lines for item in reader.feed(line, Span(source_id="s"))]
    assert [item.origin for item in found if isinstance(item, Record)] == [origin, origin]
