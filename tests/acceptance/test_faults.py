"""The faults that made others lose or invent, over whole nights: real files, SQLite, the command line, an HTTP LLM.

What a part promises is tested with the part; here is only what becomes of the files, the exit code and the money.
"""

import json
import os
import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreamd.cli import cli
from dreamd.errors import DreamdError
from tests.acceptance.house import Dreamless, honest
from tests.llm_server import Answer, Request, llm_server_beside

DAY = datetime.now(UTC).date() - timedelta(days=1)
NOON = datetime(DAY.year, DAY.month, DAY.day, 12, tzinfo=UTC)
NIGHT = ("night", "--date", DAY.isoformat())
BRIDGE = ("How long is the bridge over the Elm?", "The Elm bridge is 320 metres long.")
PORT = ("Which port does the staging server use?", "The staging server listens on port 8443.")
OLD = "## Facts\n\n" + "".join(
    f"- The {name} costs {price} euros.\n"
    for name, price in (("tea", 3), ("bread", 4), ("fish", 19), ("soup", 7))
)
Script = Callable[[Request], Answer | str]
HELD = 3  # exit code
KEY = "sk-" + "proj-4Fh8Kq2Zr7Wn1Xc6Vb3Ty9Pm5Ld0Gs"


def dreaming(text: Callable[[str], str]) -> Script:
    """Honest by day; the Deep Dream's reply made into something else."""
    return lambda request: text(honest(request)) if request.purpose == "deep-dream" else honest(request)


def lived(folder: Path, url: str, *texts: str) -> Dreamless:
    home = Dreamless(folder, url)
    home.configure("attempts = 1\nread_timeout_s = 1.0\ndeadline_s = 2.0")
    home.memory.write_text(OLD)
    home.says(NOON, *(texts or (*BRIDGE, *PORT)))
    return home


def run(home: Dreamless, *words: str) -> tuple[int, str]:
    """What the command line answers: the exit code, and what it says."""
    result = CliRunner().invoke(cli, ["--config", str(home.config), *words], standalone_mode=False)
    if isinstance(result.exception, DreamdError):
        return result.exception.exit_code, str(result.exception)
    if result.exception is not None:
        raise result.exception
    return result.return_value or 0, result.output


UNUSABLE = {
    "no [MEMORY]": lambda reply: reply.replace("[MEMORY]", "Memory:"),
    "two [MEMORY]": lambda reply: reply.replace("[RETIRED]", "[MEMORY]\n- (M1)\n[RETIRED]"),
    "an emptied file": lambda _reply: "[MEMORY]\n\n[RETIRED]\n[DREAM]\nAll is well.\n[END]",
    "a web page": lambda _reply: "<html><body>Please sign in</body></html>",
    "nothing": lambda _reply: "",
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_a_reply_that_is_no_proposal_changes_no_byte_and_fails(tmp_path: Path, fault: str) -> None:
    with llm_server_beside(dreaming(UNUSABLE[fault])) as server:
        home = lived(tmp_path, server.base_url)
        assert run(home, *NIGHT)[0] == 1
    assert home.memory.read_text() == OLD
    assert not (home.work / "memory" / "dreams").exists()


def test_a_cut_off_reply_changes_no_byte_and_fails(tmp_path: Path) -> None:
    def cut(request: Request) -> Answer:
        return Answer(text=honest(request), stop="length" if request.purpose == "deep-dream" else "end")

    with llm_server_beside(cut) as server:
        home = lived(tmp_path, server.base_url)
        assert run(home, *NIGHT)[0] == 1
    assert home.memory.read_text() == OLD


REFUSED = {
    "a fabricated line": ("- The shop sells 12 kinds of cheese (D1)", "cheese"),
    "an altered number": ("- The Elm bridge is 340 metres long (D1)", "340"),
    "a source that does not exist": ("- The Elm bridge is 320 metres long (D77)", "Elm"),
    "a line without a source": ("- The Elm bridge is 320 metres long", "Elm"),
    "a secret": (f"- The Elm bridge is 320 metres long, key {KEY} (D1)", KEY),
    "a comment that hides the rest": ("- The Elm bridge is 320 metres long <!-- (D1)", "long <!--"),
    "a pin": ("- The Elm bridge is 320 metres long [pinned] (D1)", "[pinned]"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_line_that_its_sources_do_not_bear_out_is_not_written(tmp_path: Path, fault: str) -> None:
    line, sign = REFUSED[fault]
    kept = "".join(f"- (M{number})\n" for number in range(1, 5))
    reply = f"[MEMORY]\n## Facts\n{kept}{line}\n[RETIRED]\n[DREAM]\nA quiet night.\n[END]"
    with llm_server_beside(dreaming(lambda _honest: reply)) as server:
        home = lived(tmp_path, server.base_url)
        code, told = run(home, *NIGHT)
    assert code == 0
    assert home.memory.read_text() == OLD
    assert "refused: 1 x" in told
    diary = (home.work / "memory" / "dreams" / f"{DAY}.md").read_text()
    assert sign not in diary
    assert "Refused" in diary


RETIRING = "[MEMORY]\n- The Elm bridge is 320 metres long. (D1)\n[RETIRED]\n{}\n[DREAM]\nQuiet.\n[END]"


@pytest.mark.parametrize("retired", ["", "".join(f"M{number}: out of date\n" for number in range(1, 5))])
def test_dropped_and_retired_entries_of_a_person_stay(tmp_path: Path, retired: str) -> None:
    with llm_server_beside(dreaming(lambda _reply: RETIRING.format(retired))) as server:
        home = lived(tmp_path, server.base_url)
        assert run(home, *NIGHT)[0] == 0
    assert set(OLD.splitlines()) < set(home.memory.read_text().splitlines())


def test_a_night_that_would_empty_the_file_waits_for_a_person_who_can_accept_and_undo(tmp_path: Path) -> None:
    kept = honest

    def answer(request: Request) -> str:
        return kept(request)

    with llm_server_beside(answer) as server:
        home = lived(tmp_path, server.base_url)
        home.memory.unlink()
        before = [
            f"{word} {n} {end}"
            for n in range(6)
            for word, end in (("How long is bridge", "?"), ("Bridge", "is long."))
        ]
        home.says(NOON - timedelta(days=1), *before, session="s0")
        assert run(home, "night", "--date", (DAY - timedelta(days=1)).isoformat())[0] == 0
        written = home.memory.read_text()
        retired = "".join(f"M{number}: out of date\n" for number in range(1, 7))
        kept = dreaming(lambda _reply: RETIRING.format(retired))
        assert run(home, *NIGHT)[0] == HELD
        assert home.memory.read_text() == written
        assert run(home, "held", "accept", "1")[0] == 0
        assert "Elm" in home.memory.read_text()
        assert run(home, "undo")[0] == 0
    assert home.memory.read_text() == written


def test_undo_after_a_night_that_changed_nothing_keeps_the_file(tmp_path: Path) -> None:
    with llm_server_beside(dreaming(lambda _reply: "[MEMORY]\n- (M1)\n[RETIRED]\n[DREAM]\n[END]")) as server:
        home = lived(tmp_path, server.base_url)
        assert run(home, *NIGHT)[0] == 0
        assert run(home, "undo")[0] != 0
    assert home.memory.read_text() == OLD


OUTAGES = {
    "a hanging LLM": Answer(silent=True),
    "an LLM that says wait a day": Answer(
        status=429, headers={"retry-after": "99999"}, error=("rate_limit", "slow")
    ),
    "a refused key": Answer(status=401, error=("invalid_api_key", f"wrong key {KEY}")),
    "a broken server": Answer(status=500, error=("server_error", "oops")),
    "a connection that is reset": Answer(reset_at=10),
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_llm_that_is_out_costs_no_byte_and_no_record(tmp_path: Path, outage: str) -> None:
    out = True
    with llm_server_beside(lambda request: OUTAGES[outage] if out else honest(request)) as server:
        home = lived(tmp_path, server.base_url)
        code, said = run(home, *NIGHT)
        assert code == 1
        assert home.memory.read_text() == OLD
        out = False
        assert run(home, *NIGHT)[0] == 0
    lines = Counter(re.findall(r"^- .*", (home.work / "memory" / f"{DAY}.md").read_text(), re.MULTILINE))
    assert len(lines) == len((BRIDGE, PORT))
    assert max(lines.values()) == 1
    assert "- The Elm bridge is 320 metres long." in home.memory.read_text()
    stored = (path.read_bytes().decode("latin-1") for path in tmp_path.rglob("pool.db*"))
    assert not any(KEY in text for text in (said, *stored))


def test_what_nobody_sees_reaches_no_file(tmp_path: Path) -> None:
    unseen = "\x00\x1b[31m\x07\u202e\u2066\u200b\u2028\x85"
    with llm_server_beside(
        lambda request: honest(request).replace("bridge is", f"bridge{unseen} is")
    ) as server:
        home = lived(tmp_path, server.base_url, *BRIDGE, f"Which{unseen} port?", f"Port {unseen}8443.")
        assert run(home, *NIGHT)[0] == 0
    texts = [content.decode() for content in home.files().values()]
    assert "- The Elm bridge is 320 metres long." in " ".join(home.memory.read_text().split())
    assert not {c for text in texts for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl")} - {"\n"}


SPOILT: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a symlink to itself": lambda path: path.symlink_to(path.name),
    "a symlink that leads outside": lambda path: path.symlink_to("/etc/hostname"),
    "no UTF-8": lambda path: path.write_bytes(b"- caf\xe9\n"),
    "far too long": lambda path: path.write_text("- a line as any other\n" * 50_000),
    "read-only": lambda path: (path.write_text(OLD), path.chmod(0o444)),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_a_memory_file_that_cannot_be_dreamt_of_is_left_alone_and_the_daily_is_written(
    tmp_path: Path, kind: str
) -> None:
    with llm_server_beside(honest) as server:
        home = lived(tmp_path, server.base_url)
        home.memory.unlink()
        SPOILT[kind](home.memory)
        before = home.memory.lstat()
        code, told = run(home, *NIGHT)
    assert code == 1
    assert "deep dream failed" in told
    assert (home.memory.lstat().st_ino, home.memory.lstat().st_size) == (before.st_ino, before.st_size)
    assert (home.work / "memory" / f"{DAY}.md").exists()


@pytest.mark.parametrize("purpose", ["daily-summary", "deep-dream"])
def test_a_workspace_that_goes_away_during_the_call_is_not_made_anew_and_nothing_is_paid_twice(
    tmp_path: Path, purpose: str
) -> None:
    def takes_away(request: Request) -> str:
        if request.purpose == purpose and not (tmp_path / "away").exists():
            shutil.move(home.work, tmp_path / "away")
        return honest(request)

    with llm_server_beside(takes_away) as server:
        home = lived(tmp_path, server.base_url)
        assert run(home, *NIGHT)[0] == 1
        assert not home.work.exists()
        shutil.move(tmp_path / "away", home.work)
        (tmp_path / "away").mkdir()
        assert run(home, *NIGHT)[0] == 0
        assert max(Counter(request.body for request in server.requests).values()) == 1
    assert "- The Elm bridge is 320 metres long." in home.memory.read_text()


def test_every_line_of_every_file_is_explained(tmp_path: Path) -> None:
    with llm_server_beside(honest) as server:
        home = lived(tmp_path, server.base_url)
        run(home, *NIGHT)
    for path in home.files():
        for number, line in enumerate(Path(path).read_text().split("\n"), 1):
            if line.startswith("- "):
                code, told = run(home, "why", f"{path}:{number}", "--json")
                assert code == 0
                node = json.loads(told)
                assert node.get("rests_on") or node.get("note")
