"""An agent with a log, a daily and a scripted model on disk, for commands to be run on."""

import hashlib
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from dreamd.cli import cli
from dreamd.memories import Memory, derived_id, raw_id
from dreamd.records import Span, Trust
from dreamd.stores.base import Changes, Cursor, LedgerRow
from dreamd.stores.sqlite import OPEN

DAY = date(2026, 3, 2)
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = "remember: the shop moved to Berlin on 2026-03-01"
LINE = "User: the shop moved to Berlin on 2026-03-01 -> Reply: noted"


class Dreamer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.log = folder / "log.jsonl"
        self.script = folder / "script.json"
        self.memory = self.workspace / "MEMORY.md"
        self.daily = self.workspace / "memory" / "2026-03-02.md"
        self.daily.parent.mkdir(parents=True)
        self.config = folder / "config.toml"
        self.config.write_text(
            f'[state]\ndir = "{folder / "state"}"\n'
            f'[llm]\nprovider = "scripted"\nscript = "{self.script}"\n'
            f'[agents.cat]\nworkspace = "{self.workspace}"\nlogs = ["{self.log}"]\nzone = "UTC"\nlanguage = "en"\n'
        )
        (folder / "state").mkdir()
        self._live()

    def _live(self) -> None:
        """A day of the agent: one record in the log and in the pool, and the daily line that rests on it."""
        first, record = b'{"x": 1}\n', json.dumps({"role": "user", "content": SAID}).encode()
        self.log.write_bytes(first + record + b"\n")
        span = Span("log-1", len(first), len(record), hashlib.sha256(record).digest())
        raw = Memory(
            memory_id=raw_id("cat", "1"), type="raw", content=SAID, agent="cat", window=DAY, received_at=AT,
            timestamp=AT, session_id="s", role="user", origin="human", trust=Trust.HUMAN, span=span,
        )  # fmt: skip
        summary = Memory(
            memory_id=derived_id("summary", "cat", LINE, (raw.memory_id,)), type="summary", content=LINE, agent="cat",
            window=DAY, received_at=AT, ref_ids=(raw.memory_id,),
        )  # fmt: skip
        cursor = Cursor(source_id="log-1", agent="cat", path=str(self.log), format="openai_chat")
        row = LedgerRow(agent="cat", day=DAY, phase="daily", state="done", finished_at=AT)
        store = OPEN(self.folder / "state")
        store.write(Changes(memories=(raw, summary), cursor=cursor, ledger=(row,)))
        store.close()
        self.daily.write_text(f"## Daily summary 2026-03-02\n\n- {LINE}\n")

    def replies(self, *texts: str) -> None:
        self.script.write_text(json.dumps(texts))

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--config", str(self.config), *arguments], standalone_mode=False)

    def json(self, *arguments: str) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exception is None, result.exception
        return json.loads(result.stdout)

    def dreamt(self) -> None:
        """One night in which MEMORY.md got its line."""
        self.memory.write_text("# Memory\n\n- The shop sells tea\n")
        self.replies(reply("- (M1)\n- The shop moved to Berlin on 2026-03-01 (D1)"))
        assert self.run("deep-dream").exception is None


def reply(memory: str, retired: str = "") -> str:
    return f"[MEMORY]\n{memory}\n[RETIRED]\n{retired}\n[DREAM]\n[END]"
