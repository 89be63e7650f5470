"""What becomes of answers that are spoken over, on real calls with the embedded engines.

python -m pytest tests/benchmarks/test_overlaps.py -m slow -s
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_words_stop_answers_and_other_sounds_do_not(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    replay = [sys.executable, "-m", "pipelines.cli", "replay", "samples/overlaps", "samples/barge_in"]
    subprocess.run([*replay, "--pipeline", "embedded", "--out", run], cwd=ROOT, check=True, timeout=300)
    report = [sys.executable, "-m", "latency", "report", run, "--json"]
    found = json.loads(subprocess.run(report, cwd=ROOT, check=True, capture_output=True).stdout)["barge_in"]
    print(found)
    assert found["n"] >= 5
    assert found["missed"] == 0
    assert found["stop_p95_ms"] <= 900
    assert found["ducked_p95_ms"] <= 400
    sounds = found["sounds"].values()
    assert sum(one["went_on"] + one["resumed"] for one in sounds) >= 6
    assert sum(one["stopped"] for one in sounds) <= 1
