"""What a capable model makes of a day's lines reaches MEMORY.md; what it may not say does not."""

import pytest

from tests.deep_dream.conftest import House, reply

CI = "User: investigate CI test timeouts -> Reply: root cause was PostgreSQL started without a health check; added `pg_isready`, CI green in 6m12s (commit 8f3ab21, branch fix/ci-timeouts)"
SQLITE = "User: Postgres vs SQLite for the project -> Reply: recommended SQLite (single-user desktop tool, no server, one-file backups); migration possible if concurrent writers are needed"
LISBON = "User: I moved to Lisbon last week, so please use Europe/Lisbon for my reminders -> Reply: Done, all 5 reminders now use Europe/Lisbon"
BACKUP = "用户: 排查昨晚备份失败的原因 → 回复: NAS 磁盘已满所致；清理 30 天前的快照腾出 212 GB 后重跑成功"
WEEKLY = "用户: 以后周报都用表格发给我，别写长段落 → 回复: 好的，以后周报统一用表格"
DOCS = "User: CLAUDE.mdを最新化するよう依頼 -> Reply: Next.js 15.5.2・React 19.1.0に合わせて更新、存在しない`npm run type-check`を削除、ポートを3000に修正"
TODO = "User: build a TODO app with Next.js -> Reply: delivered a working app: Next.js 14, TypeScript, Tailwind CSS; state in a `useTodos` hook, persisted to localStorage; dev server on localhost:3001"


@pytest.mark.parametrize(
    ("daily", "line"),
    [
        (CI, "CI test timeouts were caused by PostgreSQL starting without a health check; fixed with `pg_isready` (commit 8f3ab21)"),
        (SQLITE, "SQLite was recommended over Postgres for the single-user desktop tool; migration is possible if concurrent writers are needed"),
        (LISBON, "The user lives in Lisbon; reminders use the Europe/Lisbon zone"),
        (TODO, "TODO app: Next.js 14, TypeScript, Tailwind CSS, `useTodos` hook persisted to localStorage, dev server on localhost:3001"),
        (BACKUP, "备份曾因 NAS 磁盘已满而失败，清理 30 天前的快照腾出 212 GB 后恢复"),
        (WEEKLY, "用户希望周报用表格，不要长段落"),
        (DOCS, "CLAUDE.mdはNext.js 15.5.2・React 19.1.0に合わせて更新済み、ポートは3000"),
    ],
)  # fmt: skip
async def test_a_good_distillation_is_written(house: House, daily: str, line: str) -> None:
    house.said(daily)
    told = await house.dream(reply(f"## Facts\n- {line} (D1)"))
    assert (house.memory, told.refused) == (f"## Facts\n\n- {line}\n", ())


@pytest.mark.parametrize(
    ("daily", "line"),
    [
        (TODO, "The TODO app was deployed to production with localStorage"),
        (TODO, "TODO app: Next.js 15, TypeScript, Tailwind CSS"),
        (SQLITE, "The user always prefers SQLite to Postgres for the project"),
        (CI, "PostgreSQL was started with a health check that the CI tests rejected"),
        (BACKUP, "NAS 磁盘已满，备份已取消"),
        (DOCS, "CLAUDE.mdのデプロイが完了し、ポートは3000"),
    ],
)
async def test_what_goes_beyond_it_is_not(house: House, daily: str, line: str) -> None:
    house.said(daily, house.record("please have a look"))
    told = await house.dream(reply(f"## Facts\n- {line} (D1)"))
    assert house.memory == ""
    assert len(told.refused) == 1
