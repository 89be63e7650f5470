"""A replay that is killed leaves the turns that were over, those of the conversation under way included."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_a_killed_replay_leaves_the_finished_turns_of_the_call_under_way(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "pipelines.cli", "replay", "samples/arithmetic", "--out", str(out)]
    replay = subprocess.Popen([*command, "--pipeline", "embedded"], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not (out / "under_way.json").exists() and time.monotonic() < until:
            assert replay.poll() is None
            time.sleep(0.02)
    finally:
        replay.send_signal(signal.SIGKILL)
        replay.wait()
    done = subprocess.run(
        [sys.executable, "-m", "latency", "report", str(out), "--json"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["turns"]["total"], report["turns"]["answered"]) == (1, 1)
    assert "session 'arithmetic' was under way: its last turns are not counted" in report["method"]["notes"]
