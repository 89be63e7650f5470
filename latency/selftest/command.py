"""`latency selftest`: hide known figures in synthetic calls, report them as any run, and compare.

The calls are synthesised, written as a run folder and reported by the code that reports every run. That code sees only
the folder; afterwards its report is compared with the hidden figures.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from latency.command_line import FAILED, FINE, Parser, folded, log_to_stderr, printing, seed
from latency.judge.session import SessionOutcome
from latency.record.run import Run, RunHeader
from latency.record.run_writer import RunWriter
from latency.record.session import Session
from latency.report.report import build
from latency.selftest.planted import Call, HiddenFigure, calls

RECOVERY_TOLERANCE = 0.01
"""Seconds: one frame of the measurement."""
CREATED = "1970-01-01T00:00:00+00:00"
ESTIMATES = ("no labels, noise 10 dB",)
"""Calls without labels whose noise is so loud that it covers the user's last sounds."""
FIGURE_NAMES = {
    "latency": "first audio",
    "answer": "answer",
    "cut_off": "cut-off",
    "talk_over": "talk-over",
    "barge_in_stop": "barge-in stop",
    "gap": "drop-out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredFigure:
    """A figure that was hidden in a turn, and the one in the report; seconds."""

    is_promised: bool = True
    """Whether it must be found to a frame; the estimate of an end covered by noise is shown but not judged."""
    call: str
    turn: int
    figure: str
    hidden: float | None
    """None if there is nothing to find."""
    found: float | None

    @property
    def is_right(self) -> bool:
        """Whether it was found to a frame."""
        if self.hidden is None or self.found is None:
            return self.hidden is self.found
        return abs(self.found - self.hidden) <= RECOVERY_TOLERANCE


def main(argv: Sequence[str] | None = None) -> int:
    """Run `latency selftest`; returns 0 when everything was found, else 1."""
    parser = Parser(
        prog="latency selftest",
        description="Hide gaps in recordings and recover them from a run folder, each within one 10 ms frame.",
        epilog="exit status: 0 every gap was found, 1 one was not, 2 bad usage",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="draw other gaps and voices (0)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the run folder in DIR")
    chosen = parser.parse_args(argv)
    log_to_stderr(verbose=chosen.verbose)
    if chosen.keep and (chosen.keep / "run.json").exists():
        parser.error(f"{chosen.keep} already holds a run; name another folder")
    with tempfile.TemporaryDirectory() as folder:
        findings = list(judged(chosen.keep or Path(folder) / "run", chosen.seed))
    with printing():
        print("\n".join(table(findings)))
    return FINE if all(finding.is_right or not finding.is_promised for finding in findings) else FAILED


def judged(folder: Path, seed: int) -> Iterator[RecoveredFigure]:
    """Write the planted calls to a folder without a run, report it, and compare."""
    hidden = {call.name: list(call.hidden) for call in _written(folder, seed)}
    for session in build(Run.load(folder)).sessions:
        yield from _compared(session, hidden[session.session.name])


def table(findings: Sequence[RecoveredFigure]) -> Iterator[str]:
    """The findings as lines of text, and a sentence that sums them up."""
    width = max(len(finding.call) for finding in findings)
    yield f"{'call':<{width}}  turn  {'figure':<13}  {'hidden':>9}  {'found':>9}  {'error':>8}"
    for finding in findings:
        error = "" if finding.found is None or finding.hidden is None else _ms((finding.found - finding.hidden), "+")
        yield (
            f"{finding.call:<{width}}  {finding.turn:>4}  {FIGURE_NAMES[finding.figure]:<13}  "
            f"{_shown(finding, finding.hidden):>9}  {_shown(finding, finding.found):>9}  {error:>8}  "
            f"{'ok' if finding.is_right else 'WRONG' if finding.is_promised else 'an estimate'}"
        )
    promised = [finding for finding in findings if finding.is_promised]
    right = sum(finding.is_right for finding in promised)
    errors = [abs(f.found - f.hidden) for f in promised if f.found is not None and f.hidden is not None]
    yield ""
    yield folded(
        f"{right} of {len(promised)} found to {RECOVERY_TOLERANCE * 1000:.0f} ms; "
        f"the largest error is {max(errors, default=0.0) * 1000:.1f} ms; {len(findings) - len(promised)} estimates of "
        "an end of speech that noise covers are shown and not judged"
    )


def _written(folder: Path, seed: int) -> Iterator[Call]:
    header = RunHeader(
        created=CREATED,
        command=["latency", "selftest", "--seed", str(seed)],
        pipeline={"name": "selftest"},
        simulated=["sim:both voices"],
    )
    writer = RunWriter(folder, header=header)
    for call in calls(seed):
        wav = writer.write_session_wav(call.name, call.samples)
        writer.add_turns(call.turns)
        writer.add_session(
            Session(name=call.name, wav=wav, seconds=call.seconds, flushes=tuple(call.flushes)),
        )
        yield call
    writer.finish("complete")


def _compared(session: SessionOutcome, hidden: Sequence[HiddenFigure]) -> Iterator[RecoveredFigure]:
    name = session.session.name
    for one in hidden:
        if one.figure == "gap":
            lengths = [gap.end - gap.start for gap in session.gaps]
            found = lengths[0] if len(lengths) == 1 else None
        else:
            value = getattr(session.outcomes[one.turn], one.figure)
            found = None if value is None else float(value)
        yield RecoveredFigure(
            call=name,
            turn=one.turn,
            figure=one.figure,
            hidden=one.seconds,
            found=found,
            is_promised=name not in ESTIMATES,
        )
    planted = {(one.turn, one.figure) for one in hidden}
    # A figure that was not hidden must not be found.
    unhidden: list[tuple[int, str, float | None]] = []
    for outcome in session.outcomes:
        if outcome.cut_off:
            unhidden.append((outcome.turn.turn, "cut_off", 1.0))
        if outcome.turn.barge_in:
            unhidden.append((outcome.turn.turn, "barge_in_stop", outcome.barge_in_stop))
    if session.gaps and not any(figure == "gap" for _, figure in planted):
        unhidden.append((0, "gap", session.gaps[0].end - session.gaps[0].start))
    for number, figure, value in unhidden:
        if (number, figure) not in planted:
            yield RecoveredFigure(call=name, turn=number, figure=figure, hidden=None, found=value)


def _shown(finding: RecoveredFigure, value: float | None) -> str:
    if value is None:
        return "none"
    return ("yes" if value else "no") if finding.figure == "cut_off" else _ms(value)


def _ms(seconds: float, sign: str = "") -> str:
    return f"{seconds * 1000:{sign}.1f} ms"
