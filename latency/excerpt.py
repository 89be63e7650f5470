"""Cuts a turn's audio out of its session's recording: the user on the left, the bot on the right."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latency.audio import recording
from latency.audio.recording import RATE
from latency.record.turn import TurnRecord
from latency.report.critical_path import Period

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EXCERPT_MARGIN = 0.5
"""Seconds of sound before the turn and after its answer."""


class ExcerptError(Exception):
    """The audio was not written; the message says why and what to do."""


def stretch_of(turn: TurnRecord, spoken: Sequence[Period], following: float | None, seconds: float) -> Period | None:
    """From the user's onset to the end of the answer, with a margin; None for a turn without speech.

    Args:
        turn: The turn.
        spoken: When the bot was audible in the session, seconds on the recording's clock.
        following: When the user began the next turn; None for the last.
        seconds: Length of the recording.
    """
    if turn.start is None or turn.end is None:
        return None
    last = seconds if following is None else following
    answer = [end for start, end in spoken if start < last and end > turn.start]
    end = max([turn.end, *answer])
    return max(0.0, turn.start - EXCERPT_MARGIN), min(seconds, end + EXCERPT_MARGIN)


def default_path(run: Path, turn: TurnRecord, *, several: bool) -> Path:
    """A file in the run's folder, named after the turn, and after the session if there are several."""
    parts = [*([turn.session] if several else []), f"turn-{turn.turn}"]
    return run / ("-".join(re.sub(r"[^\w.-]+", "-", part).strip("-.") for part in parts) + ".wav")


def write_excerpt(path: Path, stereo: "npt.NDArray[np.int16]", stretch: Period) -> None:
    """Write a stretch of a recording as a WAV; a file with the same sound is left as it is.

    Args:
        path: The file.
        stereo: The recording, int16, shape (samples, 2), at `RATE`.
        stretch: Seconds on the recording's clock.

    Raises:
        ExcerptError: Another file is there, or it cannot be written.
    """
    sound = stereo[round(stretch[0] * RATE) : round(stretch[1] * RATE)]
    try:
        if not path.exists():
            recording.write(path, sound)
        elif not _holds(path, sound):
            raise ExcerptError(f"{path} exists and holds something else; name another file with --wav")
    except OSError as error:
        raise ExcerptError(f"the audio cannot be written to {path}: {error.strerror or error}") from error


def _holds(path: Path, sound: "npt.NDArray[np.int16]") -> bool:
    try:
        there = recording.read(path)
    except recording.RecordingError:
        return False
    return there is not None and there.tobytes() == sound.tobytes()
