"""The stereo recording of a session, a 16-bit WAV at 16 kHz: written atomically, read even if it was cut short."""

import os
import wave
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RATE = 16000
"""Sample rate of the recordings, Hz."""
CHANNELS, BYTES = 2, 2
"""Left is the user, right the bot; bytes of a sample."""
HEADER = 44
"""Bytes before the first sample in files that a run writes."""


class RecordingError(ValueError):
    """A file that is not a recording of a run; the message names it."""


class RecordedTime(NamedTuple):
    """The existing seconds of a recording, and the seconds in its header."""

    there: float
    whole: float

    @property
    def is_cut(self) -> bool:
        """Whether its end is missing."""
        return self.there < self.whole


def write(path: Path, stereo: "npt.NDArray[np.int16]") -> None:
    """Write a recording, int16 of shape (samples, 2); the file appears only when it is complete.

    Raises:
        ValueError: The array has another type or shape.
        OSError: It cannot be written.
    """
    if stereo.dtype != "int16" or stereo.ndim != 2 or stereo.shape[1] != CHANNELS:
        raise ValueError(f"a recording is int16 of shape (samples, 2), not {stereo.dtype} of {stereo.shape}")
    _write(path, stereo.astype("<i2").tobytes(), CHANNELS)


def write_mono(path: Path, samples: "npt.NDArray[np.int16]") -> None:
    """Write one side of a recording, int16 at `RATE`; the file appears only when it is complete.

    Raises:
        OSError: It cannot be written.
    """
    _write(path, samples.astype("<i2").tobytes(), 1)


def _write(path: Path, samples: bytes, channels: int) -> None:
    part = path.with_suffix(".wav.part")
    with part.open("wb") as raw:
        with wave.open(raw, "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(BYTES)
            file.setframerate(RATE)
            file.writeframes(samples)
        os.fsync(raw.fileno())
    os.replace(part, path)


def extent(path: Path) -> RecordedTime | None:
    """The existing and the promised length of a recording; None when it ends before its first sample.

    Raises:
        RecordingError: It is no WAV, or of another format.
        OSError: It cannot be read.
    """
    found = _layout(path)
    return None if found is None else RecordedTime(found[1] / RATE, found[2] / RATE)


def read(path: Path) -> "npt.NDArray[np.int16] | None":
    """Read the existing part of a recording: int16, shape (samples, 2); None when it ends before its first sample.

    Raises:
        RecordingError, OSError: See `extent`.
    """
    import numpy as np

    found = _layout(path)
    if found is None:
        return None
    first, there, _ = found
    with path.open("rb") as raw:
        raw.seek(first)
        data = raw.read(there * CHANNELS * BYTES)
    return np.frombuffer(data, "<i2").reshape(-1, CHANNELS)


def _layout(path: Path) -> tuple[int, int, int] | None:
    """The first sample's position in bytes, and the existing and the promised number of samples in each channel."""
    size = path.stat().st_size
    if size < HEADER:
        return None
    try:
        with path.open("rb") as raw, wave.open(raw, "rb") as file:
            shape, frames = (file.getnchannels(), file.getsampwidth() * 8, file.getframerate()), file.getnframes()
            first = raw.tell()
    except (wave.Error, EOFError) as error:
        raise RecordingError(f"{path} is not a readable recording ({error})") from error
    if shape != (CHANNELS, BYTES * 8, RATE):
        raise RecordingError(
            f"{path} has {shape[0]} channel(s), {shape[1]} bit, {shape[2]} Hz; the recording of a run has "
            f"{CHANNELS}, {BYTES * 8}, {RATE}: left the user, right the bot"
        )
    there = (size - first) // (CHANNELS * BYTES)
    # Without a size, its recorder was stopped before it knew one.
    return first, min(there, frames or there), frames or there
