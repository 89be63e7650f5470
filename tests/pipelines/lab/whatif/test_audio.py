import json
import sys
from pathlib import Path

import pytest

from pipelines.lab.whatif.command import main

SAMPLES = Path(__file__).resolve().parents[4] / "samples"


@pytest.mark.slow
def test_what_is_heard_agrees_with_the_virtual_clock(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every turn's latency within 30 ms at the median, with requests that take as long; half a minute."""
    argv = [str(SAMPLES / "arithmetic"), "--tiers", "groq-fast", "--policies", "single", "--out", str(tmp_path / "out")]
    code = main([*argv, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0, sys.stderr
    assert found["mode"] == "audio"
    [row] = found["rows"]
    assert row["turns"] >= 3
    assert row["same_luck_p50_ms"] == pytest.approx(row["turn_p50_ms"], abs=30)


def test_options_of_the_other_mode_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--turns", "5"]) == 2
    assert "--turns can be used with --fast only." in capsys.readouterr().err
    assert main(["--fast", "--rounds", "2"]) == 2
    assert "--rounds can be used without --fast only." in capsys.readouterr().err
    assert main(["--run", "runs/x"]) == 2
    assert "--run works without audio only; add --fast" in capsys.readouterr().err
