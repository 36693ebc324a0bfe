"""What a capable model writes survives the audit, word for word; what reads as well and is not so does not."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from dreamd.daily.ask import summary
from dreamd.daily.prompt import Day
from dreamd.pool.language import Tongue
from dreamd.providers.scripted import ScriptedProvider
from tests.daily.test_audit import event

CI = (
    "the tests on CI keep timing out, can you have a look?",
    "I'll look at the workflow first.",
    (
        "Found it: the integration job starts PostgreSQL without a health check, so the first 40 tests hit a closed port. "
        "I added `pg_isready` to the service and the run went green in 6m12s. Commit 8f3ab21 is on branch fix/ci-timeouts."
    ),
)
RENAME = (
    "Can you rename getUser to fetchUser everywhere?",
    (
        "Renamed in 14 files; the type checker passes. I left the deprecated alias in src/api/legacy.ts because the mobile "
        "app still imports it."
    ),
)
LISBON = (
    "I moved to Lisbon last week, so please use Europe/Lisbon for my reminders",
    "Done, all 5 reminders now use Europe/Lisbon.",
)
SQLITE = (
    "what do you think, Postgres or SQLite for this?",
    (
        "For a single-user desktop tool I'd go with SQLite: no server to run, one file to back up. If you later need "
        "concurrent writers, we can migrate."
    ),
)
TODO = (
    "/orchestrator create TODO app by Next.js",
    "Now I'll execute the subtasks.",
    (
        "I've successfully created a fully functional TODO app using Next.js through parallel task execution.\n"
        "- **Next.js 14** with TypeScript, Tailwind CSS, and ESLint\n- Clean development environment on localhost:3001\n"
        "- localStorage persistence across sessions\n- Custom `useTodos` hook with `useReducer`"
    ),
)
BACKUP = (
    "帮我看看为什么昨晚的备份失败了",
    "我先看日志。",
    "备份失败的原因是 /mnt/nas 的磁盘满了（使用率 100%）。我删除了 30 天以前的快照，释放了 212 GB，并重新跑了一遍备份，现在成功了。",
)
NGINX = ("把 nginx 的超时改成 120 秒", "已将 proxy_read_timeout 改为 120s 并 reload，配置测试通过。")
BUILD = ("Why is the build slow?", "构建慢是因为每次都重新下载依赖。加上缓存后从 8 分钟降到 2 分钟。")
DOCS = (
    "/orchestrator @CLAUDE.md を最新の状態にアップデートしてください",
    "I'll help you update the CLAUDE.md file to the latest state.",
    (
        "CLAUDE.mdファイルを最新の状態にアップデートしました。主な更新内容：\n- Next.js 15.5.2 (14から更新)\n- React 19.1.0 (新規追加)\n"
        "- Tailwind CSS v4 (v3から更新)\n- `npm run type-check`を削除（実際には存在しない）\n- デフォルトポート3000に修正"
    ),
)
TESTS = ("テストが遅いので速くできますか？", "並列実行を有効にしました。42秒から11秒に短縮されました。")
PHOTOS = (
    "Can you set up the nightly backup of the photo library?",
    "Done. A systemd timer runs rsync to the NAS at 03:00; the first run copied 1,240 files.",
)
THANKS = (
    "Thanks! Please update CLAUDE.md for current changes",
    (
        "CLAUDE.md has been created with comprehensive documentation of the TODO app project, including structure, tech "
        "stack, features, development commands, and architecture details."
    ),
)


async def written(said: tuple[str, ...], line: str, language: Tongue) -> tuple[str, bool]:
    """The line that is written of the event, and whether the rule wrote it."""
    day = Day(date(2026, 3, 2), ZoneInfo("UTC"), "UTC+00:00", language, 6000, 500)
    provider = ScriptedProvider([f"- [E1] {line}"])
    (entry,) = (await summary(provider, [event(1, *said)], day, last_attempt=False)).entries
    return entry.text, entry.by_rule


@pytest.mark.parametrize(
    ("said", "language", "line"),
    [
        (CI, "en", "User: investigate CI test timeouts -> Reply: root cause was PostgreSQL started without a health check; added `pg_isready`, CI green in 6m12s (commit 8f3ab21, branch fix/ci-timeouts)"),
        (RENAME, "en", "User: rename `getUser` to `fetchUser` across the codebase -> Reply: done in 14 files, type check passes; deprecated alias kept in src/api/legacy.ts for the mobile app"),
        (LISBON, "en", "User: moved to Lisbon, wants reminders in Europe/Lisbon -> Reply: all 5 reminders switched over"),
        (SQLITE, "en", "User: Postgres vs SQLite for the project -> Reply: recommended SQLite (single-user desktop tool, no server, one-file backups); migration possible if concurrent writers are needed"),
        (TODO, "en", "User: build a TODO app with Next.js via /orchestrator -> Reply: delivered a working app: Next.js 14, TypeScript, Tailwind CSS, ESLint; state in a `useTodos` hook (`useReducer`), persisted to localStorage; dev server on localhost:3001"),
        (BACKUP, "zh", "用户: 排查昨晚备份失败的原因 → 回复: NAS 磁盘已满所致；清理 30 天前的快照腾出 212 GB 后重跑成功"),
        (NGINX, "zh", "用户: 调大 nginx 超时到 120 秒 → 回复: proxy_read_timeout 设为 120s，reload 后检查无误"),
        (BUILD, "zh", "用户: 构建为什么慢 → 回复: 每次都重新下载依赖；加缓存后 8 分钟降至 2 分钟"),
        (DOCS, "en", "User: CLAUDE.mdを最新化するよう依頼 -> Reply: Next.js 15.5.2・React 19.1.0・Tailwind CSS v4に合わせて更新、存在しない`npm run type-check`を削除、ポートを3000に修正"),
        (DOCS, "en", "User: bring CLAUDE.md up to date -> Reply: updated for Next.js 15.5.2 (from 14), React 19.1.0 and Tailwind CSS v4; removed `npm run type-check`, port is 3000"),
        (TESTS, "en", "User: テストの高速化を依頼 -> Reply: 並列実行を有効にし、42秒から11秒に短縮"),
        (TESTS, "en", "User: asked to speed up the tests -> Reply: enabled parallel execution, 42 s down to 11 s"),
    ],
)  # fmt: skip
async def test_a_good_paraphrase_stands(said: tuple[str, ...], language: Tongue, line: str) -> None:
    assert await written(said, line, language) == (line, False)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (PHOTOS, "User: set up the nightly backup -> Reply: the backup failed because the disk was full"),
        (PHOTOS, "User: set up the nightly backup -> Reply: uploads the photos to the cloud every hour"),
        (PHOTOS, "User: delete the photo library -> Reply: deleted, 1,240 files removed"),
        (PHOTOS, "User: set up the nightly backup -> Reply: the systemd timer does not run rsync"),
        (TODO, "User: create a TODO app -> Reply: app created with dark mode, user accounts and end-to-end tests"),
        (TODO, "User: deploy the TODO app -> Reply: the app was deployed to production"),
        (THANKS, "User: update CLAUDE.md -> Reply: CLAUDE.md was updated and pushed to the main branch"),
        (BACKUP, "用户: 排查昨晚备份失败 → 回复: 网络中断导致，已联系运营商修复"),
        (BACKUP, "User: asked for a recipe -> Reply: suggested a tomato soup"),
        (TESTS, "User: 天気を質問 -> Reply: 明日は晴れと回答"),
        (TESTS, "User: asked for the weather -> Reply: said it will rain tomorrow"),
    ],
)  # fmt: skip
async def test_what_reads_as_well_and_is_not_so_gives_way_to_the_rules_line(
    said: tuple[str, ...], line: str
) -> None:
    text, by_rule = await written(said, line, "en")
    assert by_rule
    assert said[0][:20] in text
