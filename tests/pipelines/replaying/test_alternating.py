"""`voice replay --ab`: two pipelines take turns, and their runs are compared."""

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from latency.baseline import BASELINES
from latency.record.run import Run
from pipelines.replaying.replay import run_replay
from voice.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = [str(ROOT / "samples" / "commands" / name) for name in ("01.wav", "02.wav")]
SLOWER = "embedded,vad.stop_ms=600"


def voice(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pipelines.cli", "replay", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)


def test_two_pipelines_alternate_and_each_has_a_run(tmp_path: Path) -> None:
    done = voice(SAMPLES[0], "--ab", "embedded", SLOWER, "--repeat", "2", "--out", "both", cwd=tmp_path)
    called = [line.rpartition(" (")[0] for line in done.stderr.splitlines() if line.endswith("/4)")]
    assert called == ["01-1 A", "01-1 B", "01-2 B", "01-2 A"], done.stderr
    assert [line for line in done.stderr.splitlines() if line[:3] in ("A  ", "B  ")] == ["A  embedded", "B  embedded"]
    runs = {side: Run.load(tmp_path / "both" / side) for side in "ab"}
    for run in runs.values():
        assert run.status == "complete"
        assert [turn.session for turn in run.turns] == ["01-1", "01-2"]
        assert [turn.cold for turn in run.turns] == [True, False]
    assert [run.header.pipeline["vad"]["stop_ms"] for run in runs.values()] == [200, 600]
    assert "changed       vad.stop_ms: 200 → 600" in done.stdout or done.returncode == 3
    # One turn is too few for a verdict; a run on a busy machine is refused.
    assert done.returncode == 3
    assert "Not enough to tell" not in done.stdout
    assert "`voice replay --ab`" not in done.stdout
    assert "voice: Not enough to tell: 1 turn has" in done.stderr or "are no data" in done.stderr


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Namespace]:
    monkeypatch.chdir(tmp_path)
    usual: dict[str, Any] = {
        "fixtures": SAMPLES, "all": False, "pipeline": "auto", "overrides": [], "url": None, "out": None,
        "fresh": False, "repeat": 1, "chaos": None, "ab": None, "listen": False, "check": [], "baseline": None,
        "open": False,
    }  # fmt: skip
    return lambda **changed: Namespace(**usual | changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"url": "ws://127.0.0.1:1/ws"}, "--url cannot be combined with --ab"),
        ({"pipeline": "embedded"}, "--pipeline cannot be combined with --ab"),
        ({"chaos": 1}, "--chaos cannot be combined with --ab"),
        ({"check": ["gaps == 0"]}, "--check cannot be combined with --ab"),
        ({"out": "both"}, "both/b already holds a run"),
    ],
)
def test_options_that_do_not_go_with_two_pipelines(
    arguments: Callable[..., Namespace], changed: dict[str, Any], said: str
) -> None:
    Path("both/b").mkdir(parents=True)
    Path("both/b/run.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=said):
        run_replay(arguments(ab=["embedded", "local"], **changed))


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (["embedded", "embedded,"], r"^B \(embedded\): a comma is followed by no setting; leave it out\.$"),
        (["embedded,vad", "embedded"], r'^A \(embedded\): a setting is KEY=VALUE, not "vad"\.$'),
        (["embedded", "embedded,vad.stop_ms=fast"], r"^B \(embedded\): embedded\.toml: vad\.stop_ms"),
        (["embedded", "embedded,name.x=1"], r'^B \(embedded\): name\.x=1: "name" is a value, not a table\.$'),
        (["nowhere", "embedded"], r'^A \(nowhere\): There is no pipeline "nowhere"'),
    ],
)
def test_wrong_settings_name_their_side_before_anything_starts(
    arguments: Callable[..., Namespace], sides: list[str], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        run_replay(arguments(ab=sides))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"check": ["turn p50 <= baseline"]}, '"turn p50 <= baseline" needs a baseline; name one with --baseline'),
        ({"check": ["turn p50 <= baseline"], "baseline": "x"}, 'there is no baseline "x" in baselines; there is old'),
        ({"check": ["turn p50 <= baseline"], "baseline": "a/b"}, '"a/b" cannot be the name of a baseline'),
        (
            {"check": ["turn p50 <= baseline"], "baseline": "old"},
            "baselines/old/run.json was written by a newer version",
        ),
        ({"baseline": "old"}, 'no check names the baseline "old"'),
    ],
)
def test_a_baseline_is_checked_before_anything_is_played(
    arguments: Callable[..., Namespace], changed: dict[str, Any], said: str
) -> None:
    (BASELINES / "old").mkdir(parents=True)
    (BASELINES / "old" / "run.json").write_text(json.dumps({"schema": 99}))
    with pytest.raises(ConfigurationError, match=said):
        run_replay(arguments(**changed))
