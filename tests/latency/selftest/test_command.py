import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from latency.audio.onset import Span
from latency.judge import session
from latency.record.run import Run
from latency.selftest import command as selftest
from latency.selftest.command import RecoveredFigure, judged, main, table
from latency.selftest.planted import LINES, calls


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the calls: enough for what is not about what was found in them."""
    monkeypatch.setattr(selftest, "calls", lambda seed: islice(calls(seed), 2))


@pytest.mark.usefixtures("few")
def test_the_calls_are_a_run_like_any_other(tmp_path: Path) -> None:
    findings = list(judged(tmp_path / "run", 1))
    run = Run.load(tmp_path / "run")
    assert run.status == "complete"
    assert run.header.simulated
    assert {session.name for session in run.sessions} == {finding.call for finding in findings}
    with pytest.raises(SystemExit) as refused:
        main(["--keep", str(tmp_path / "run")])
    assert refused.value.code == 2


@pytest.mark.usefixtures("few")
def test_a_measurement_that_is_off_by_more_than_a_frame_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = session.utterances
    late = lambda *values: [Span(one.start + 0.015, one.end) for one in real(*values)]  # noqa: E731
    monkeypatch.setattr(session, "utterances", late)
    assert main([]) == 1
    assert "WRONG" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("hidden", "found", "right"),
    [(0.5, 0.5095, True), (0.5, 0.5105, False), (0.5, None, False), (None, 0.5, False), (None, None, True)],
)
def test_a_finding_is_right_within_a_frame_or_if_nothing_was_hidden_and_nothing_found(
    hidden: float | None, found: float | None, right: bool
) -> None:
    finding = RecoveredFigure(call="clean", turn=0, figure="latency", hidden=hidden, found=found)
    assert finding.is_right is right
    assert ("WRONG" in "".join(table([finding]))) is not right


def test_every_hidden_figure_is_recovered_to_a_frame_with_numpy_alone(
    tmp_path: Path,
) -> None:
    code = (
        "import sys; from latency.selftest.command import main; status = main(['--seed', '0']); "
        "found = {name.split('.')[0] for name in sys.modules} & {'pipecat', 'voice', 'pipelines', 'rich', 'scipy'}; "
        "print(sorted(found), file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "[]"), done.stdout
    assert "WRONG" not in done.stdout
    assert all(name in done.stdout for name in LINES)


def test_a_seed_below_zero_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["--seed", "-1"])
    assert refused.value.code == 2
    assert "0 or more" in capsys.readouterr().err


def test_errors_are_shown_in_milliseconds() -> None:
    finding = RecoveredFigure(call="clean", turn=0, figure="latency", hidden=0.25, found=float(np.float64(0.2537)))
    assert "250.0 ms   253.7 ms   +3.7 ms  ok" in "\n".join(table([finding]))
    assert set(selftest.FIGURE_NAMES) >= {"latency", "answer", "barge_in_stop", "gap"}
