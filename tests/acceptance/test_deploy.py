"""The unit under a real systemd and the image in a real container: $DREAMD_DEPLOY_LAB is the program that has both."""

import json
import os
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.acceptance.house import Home

ROOT = Path(__file__).parent.parent.parent
LAB = os.environ.get("DREAMD_DEPLOY_LAB", "")
IMAGE = "localhost/dreamd-test"

pytestmark = pytest.mark.skipif(not LAB, reason="needs $DREAMD_DEPLOY_LAB")


def lab(*arguments: str) -> str:
    done = subprocess.run([LAB, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def healthy(state: Path) -> int:
    """What the image's health check says of the daemon on this state."""
    check = [LAB, "run", IMAGE, f"--volume={state}:/state", "--network=none", "--", "status", "--running"]
    return subprocess.run(check, capture_output=True, check=False).returncode


def test_the_unit_is_ready_dreams_survives_a_kill_reloads_is_watched_and_stops() -> None:
    seen = lab("systemd", str(ROOT), str(Path(__file__).parent / "deploy" / "systemd.sh"))
    assert seen.endswith("== seen\n")
    assert "700 dreamd /var/lib/dreamd" in seen
    assert "600 dreamd /var/lib/dreamd/pool.db" in seen
    assert "runs as dreamd" in seen
    assert "exit-code 0 2" in seen  # refused once, not again and again
    assert "state    /home/anna/.local/state/dreamd" in seen
    assert seen.count("wrong    nothing") == 1
    assert '"daemon.stopped"' in seen


def test_the_container_reads_one_volume_writes_another_is_healthy_and_stops(tmp_path: Path) -> None:
    lab("build", str(ROOT), str(ROOT / "deploy" / "Containerfile"), IMAGE)
    home = Home(tmp_path)
    home.says(datetime.now(UTC) - timedelta(days=1), "How long is the bridge?", "It is 320 metres long.")
    (tmp_path / "state").mkdir()
    for folder in (tmp_path, tmp_path / "state", home.work):
        folder.chmod(0o777)
    command = [
        LAB, "run", IMAGE, "--network=none", "--memory=512m", "--user=65534:65534", "--name=dreamd-test",
        f"--volume={tmp_path / 'logs'}:/logs:ro", f"--volume={home.work}:/workspace", f"--volume={tmp_path / 'state'}:/state",
        "--env=DREAMD_AGENTS__ANNA__FORMAT=claude_code", "--env=DREAMD_AGENTS__ANNA__LOGS=/logs",
        "--env=DREAMD_AGENTS__ANNA__WORKSPACE=/workspace", "--env=DREAMD_AGENTS__ANNA__ZONE=UTC", "--",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as container:
        assert container.stdout is not None
        told = []
        for one in container.stdout:
            told.append(one)
            if '"night.finished"' in one:
                break
        assert any('"daemon.ready"' in one for one in told), "".join(told)
        assert healthy(tmp_path / "state") == 0
        container.send_signal(signal.SIGTERM)
        told += container.stdout.readlines()
        assert container.wait(10) == 0, "".join(told)
    assert healthy(tmp_path / "state") == 1
    assert json.loads(told[-1])["event"] == "daemon.stopped"
    (daily,) = (home.work / "memory").glob("*.md")
    assert "320 metres" in daily.read_text()
