"""A whole night against a real model: whatever it says, nothing false is written and nothing is torn or paid twice.

$DREAMD_REAL_LLM is the address of a server that speaks both protocols, such as http://127.0.0.1:8080; without it the
tests are skipped. What a small model does well is not asserted, only what the guards make of it.
"""

import os
from datetime import UTC, date, datetime

import pytest

from dreamd.pool.claims import unspoken
from dreamd.pool.support import unsupported
from tests.acceptance.house import Home

URL = os.environ.get("DREAMD_REAL_LLM", "").rstrip("/").removesuffix("/v1")
pytestmark = pytest.mark.skipif(not URL, reason="needs a model server at $DREAMD_REAL_LLM")

DAY = date(2026, 3, 2)
MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
ENGLISH = (
    "The tests on CI keep timing out, can you have a look?",
    "The integration job starts PostgreSQL without a health check. I added pg_isready; the run takes 6 minutes now.",
    "Please remember: my staging server is elm01 and it listens on port 8443.",
    "I will remember that: staging is elm01, port 8443.",
)
CHINESE = (
    "帮我看看为什么昨晚的备份失败了",
    "磁盘 /mnt/nas 满了。我删除了 30 天以前的快照，释放了 212 GB，重新备份成功。",
    "记住，以后周报都用表格，不要长段落。",
    "好的，以后周报统一用表格。",
)
JAPANESE = (
    "テストが遅いので速くできますか？",
    "並列実行を有効にしました。42秒から11秒に短縮されました。",
)
OLD = "# Memory\n\nfree words\n\n## Facts\n\n- The wiki runs on oak02\n- The lease ends on 2027-06-30 <!-- pin -->\n"


def home_of(tmp_path, protocol: str, said: tuple[str, ...]) -> Home:
    home = Home(tmp_path)
    address = f"{URL}/v1" if protocol == "openai" else URL
    home.configure(
        f'[llm]\nprovider = "{protocol}"\nbase_url = "{address}"\nmodel = "m"\napi_key_env = "DREAMD_REAL_LLM"\n'
        "read_timeout_s = 600.0\ndeadline_s = 1800.0\n"
    )
    home.memory.write_text(OLD)
    home.says(MORNING, *said)
    return home


def lines_of(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("said", [ENGLISH, CHINESE, JAPANESE], ids=["en", "zh", "ja"])
def test_a_night_writes_nothing_that_was_not_said(tmp_path, protocol: str, said: tuple[str, ...]) -> None:
    home = home_of(tmp_path, protocol, said)
    night = home.run("night", "--date", DAY.isoformat())
    assert night.returncode in {0, 1, 3}, night.stderr
    assert "Traceback" not in night.stdout + night.stderr

    daily = (home.work / "memory" / f"{DAY.isoformat()}.md").read_text(encoding="utf-8")
    assert daily.startswith("<!-- dreamd daily ")
    assert daily.endswith("<!-- /dreamd -->\n")
    assert lines_of(daily)

    memory = home.memory.read_text(encoding="utf-8")
    assert memory.startswith("# Memory\n\nfree words\n\n## Facts\n")
    assert "- The lease ends on 2027-06-30 <!-- pin -->\n" in memory

    known = [*said, OLD, DAY.isoformat()]
    told = [*lines_of(daily), *lines_of(memory)]
    assert [line for line in told if unsupported(line, known) or unspoken(line, known)] == []

    files = home.files()
    again = home.json("night", "--date", DAY.isoformat())
    done = [
        outcome for outcome in again["outcomes"] if outcome["row"]["state"] in {"done", "held", "skipped"}
    ]
    assert all(outcome.get("new") is False for outcome in done)
    assert again["totals"]["calls"] == 0 or len(done) < len(again["outcomes"])
    assert len(done) < len(again["outcomes"]) or home.files() == files
