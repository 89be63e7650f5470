"""`latency turn`: one turn of a run on a time axis, with its words, its requests to language models and its audio."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latency.audio import recording
from latency.audio.recording import RATE
from latency.command_line import FINE, RUNS, Parser, complain, log_to_stderr, printing
from latency.record.run import Run, RunError, file_name, newest
from latency.record.turn import TurnRecord
from latency.report.critical_path import Period

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def main(argv: Sequence[str]) -> int:
    """Show a turn and return the exit status: 0 fine, 2 bad usage or no such turn, 3 no run."""
    parser = Parser(
        prog="latency turn",
        description="Show where one turn's time went and what was said in it, and cut its audio out of the recording.",
        usage="latency turn [RUN] [SESSION] N [options]",
        epilog="exit status: 0 fine, 2 bad usage or no such turn, 3 no run",
    )
    parser.add_argument(
        "which",
        nargs="*",
        metavar="RUN SESSION N",
        help="run folder (default: the newest in runs/), session (if the run has several), and the turn's number in "
        "the report",
    )
    parser.add_argument("--session", metavar="NAME", help="the session, if the run has several")
    audio = parser.add_mutually_exclusive_group()
    audio.add_argument(
        "--wav", type=Path, metavar="FILE", help="file to write the audio to (default: beside the recording)"
    )
    audio.add_argument("--no-wav", action="store_true", help="write no audio")
    chosen = parser.parse_args(argv)
    log_to_stderr(verbose=chosen.verbose)
    try:
        run, session, number = _which(chosen.which, chosen.session)
        return _show(run, session, number, wav=chosen.wav, wants_wav=not chosen.no_wav)
    except RunError as error:
        complain("latency", str(error))
        return error.exit_code


def _which(words: Sequence[str], session: str | None) -> tuple[Path, str | None, int]:
    """The run, the session and the turn that the arguments name."""
    if not words:
        raise RunError("name a turn by its number in the report; write `latency turn RUN N`")
    *before, last = words
    if not last.isdecimal():
        raise RunError(f'a turn has a number, as in the report, not "{last}"; write `latency turn RUN N`')
    if len(before) > 2 or (len(before) == 2 and session):
        raise RunError("too many arguments; write `latency turn RUN SESSION N`")
    if not before:
        return newest(RUNS), session, int(last)
    if len(before) == 2:
        return Path(before[0]), before[1], int(last)
    if session or os.path.exists(before[0]) or os.sep in before[0]:
        return Path(before[0]), session, int(last)
    # A word that does not name a folder names a session of the newest run.
    return newest(RUNS), before[0], int(last)


def _show(folder: Path, name: str | None, number: int, *, wav: Path | None, wants_wav: bool) -> int:
    # Imported now: numpy and the terminal library cost more than everything else here together.
    from latency.render.layout import console_for, fitted
    from latency.render.turn_view import write_turn
    from latency.report.report import build
    from latency.report.waterfall import stretch_of, waterfall

    run = Run.load(folder)
    report = build(run)
    known = {one.session.name: one for one in report.sessions}
    judged = known[_session(list(known), name, folder)]
    outcome = next((one for one in judged.outcomes if one.turn.turn == number), None)
    if outcome is None:
        numbers = ", ".join(str(one.turn.turn) for one in judged.outcomes) or "none"
        raise RunError(f"session {judged.session.name} of {folder} has no turn {number}; its turns are {numbers}")
    stereo, turn = run.recording(judged.session), outcome.turn
    others = [stretch for one in judged.outcomes if one.turn is not turn for stretch in one.turn.speech]
    following = next((one.turn.start for one in judged.outcomes if one.turn.turn > number and one.turn.start), None)
    note = "no audio: this session has no recording"
    seconds = 0.0 if stereo is None else len(stereo) / RATE
    if stereo is not None and turn.start is not None and turn.start >= seconds:
        note = f"no audio: the recording ends after {seconds:.2f} s, before this turn"
    elif stereo is not None and (stretch := stretch_of(turn, judged.spoken, following, seconds)):
        path = wav or default_path(folder, turn, several=len(known) > 1)
        note = f"audio     {path}: {stretch[0]:.2f} s to {stretch[1]:.2f} s, left the user, right the bot"
        try:
            if wants_wav:
                write_excerpt(path, stereo, stretch)
        except ExcerptError as error:
            if wav:
                raise
            # The user did not name this file, so the turn is shown all the same.
            note = f"no audio: {error}"
    with printing():
        write_turn(
            outcome,
            waterfall(outcome, judged.spoken, others),
            sys.stdout,
            run=str(folder),
            simulated=report.simulated,
            llm_budget=report.llm.budget_ms / 1000,
            notes=(*([f"latencies are refused: {report.refused}"] if report.refused else []), *report.notes),
        )
        if wants_wav:
            print(fitted(note, console_for(sys.stdout).width, indent=10))
    return FINE


def _session(names: Sequence[str], name: str | None, folder: Path) -> str:
    if name is None and len(names) == 1:
        return names[0]
    if name is None:
        raise RunError(f"{folder} has several sessions: name one of {', '.join(names)} before the turn's number")
    if name not in names:
        raise RunError(f'"{name}" is neither a run folder nor a session of {folder}, which has {", ".join(names)}')
    return name


class ExcerptError(RunError):
    """The audio was not written; the message says why and what to do."""


def default_path(run: Path, turn: TurnRecord, *, several: bool) -> Path:
    """A file in the run's folder, named after the turn, and after the session if there are several."""
    parts = [*([turn.session] if several else []), f"turn-{turn.turn}"]
    return run / f"{'-'.join(map(file_name, parts))}.wav"


def write_excerpt(path: Path, stereo: "npt.NDArray[np.int16]", stretch: Period) -> None:
    """Write a stretch of a recording as a WAV; a file with the same sound is left as it is.

    Args:
        stereo: The recording, int16, shape (samples, 2), at `RATE`.
        stretch: Seconds on the recording's clock.

    Raises:
        ExcerptError: Another file is there, or it cannot be written.
    """
    sound = stereo[round(stretch[0] * RATE) : round(stretch[1] * RATE)]
    try:
        if not path.exists():
            recording.write(path, sound)
            return
        there = recording.read(path)
        if there is not None and there.tobytes() == sound.tobytes():
            return
    except recording.RecordingError:
        pass
    except OSError as error:
        raise ExcerptError(f"the audio cannot be written to {path}: {error.strerror or error}") from error
    raise ExcerptError(f"{path} exists and holds something else; name another file with --wav")
