"""What each policy gives with two real language models in one process, beside Whisper and Piper; prints a table.

Run it with `pytest -m slow -s tests/benchmarks/test_two_models.py`, on a quiet machine, once the models are pulled (see
pipelines/presets/two-models.toml). It takes a minute and a half for each row.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pulled import use_pulled

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
MODELS_ALONE = ("llm.responder=false",)
ROWS = {
    "responder, then qwen": ("llm.policy=single",),
    "qwen alone": ("llm.policy=single", *MODELS_ALONE),
    "smollm2 alone": ("llm.policy=single", "llm.roles.large=fast", *MODELS_ALONE),
    "fallback": ("llm.policy=fallback", *MODELS_ALONE),
    "race": ("llm.policy=race", *MODELS_ALONE),
    "adaptive": ("llm.policy=adaptive", *MODELS_ALONE),
}


def test_what_each_policy_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_pulled(monkeypatch, "tiny.en", "en_US-joe-medium", "qwen2.5-coder-0.5b", "smollm2-135m")
    print("\npolicy                turn p50   p95   answer p95  right  large/fast spoken  within  gaps")
    for name, overrides in ROWS.items():
        out = tmp_path / name.replace(" ", "-")
        command = [sys.executable, "-m", "pipelines.cli", "replay", "--pipeline", "two-models", "--out", str(out)]
        sets = [part for override in overrides for part in ("--set", override)]
        subprocess.run([*command, *sets], cwd=ROOT, capture_output=True, text=True, timeout=400, check=True)
        shown = subprocess.run(
            [sys.executable, "-m", "latency", "report", str(out), "--json"], cwd=ROOT, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        report = json.loads(shown.stdout)
        tiers, turn, answer = report["llm"]["tiers"], report["turn_ms"], report["answer_ms"]
        spoken = "/".join(str(tiers.get(tier, {}).get("spoken", 0)) for tier in ("large", "fast"))
        print(
            f"{name:<20} {turn['p50']:>9} {turn['p95']:>6} {answer['p95']:>11} {report['turns']['answers_ok']:>6}"
            f" {spoken:>18} {report['llm']['within']:>7} {report['quality']['gaps']:>5}"
            f" "
        )
        for tier, figures in tiers.items():
            clause = figures["first_clause_ms"]
            print(
                f"    {tier}: {figures['attempts']} requests, first clause p50 {clause['p50']}, p95 {clause['p95']} ms"
            )
        assert report["turns"]["answered"] == report["turns"]["expected"]
