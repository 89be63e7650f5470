"""Reading any recording libsndfile knows as 16 kHz mono int16; what had to be converted is told."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from voice.client.pcm import RATE, Pcm, to_int16
from voice.errors import FixtureError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AudioFile:
    """A recording in memory."""

    samples: Pcm
    """16 kHz mono."""
    sha256: str
    """Of the file's bytes, hexadecimal."""
    notice: str | None
    """One sentence when the file had to be converted."""


def read_audio(path: Path) -> AudioFile:
    """Read a recording; 16-bit 16 kHz mono comes through bit for bit.

    Raises:
        FixtureError: the file is missing, not audio, empty, or holds samples that are not numbers.
    """
    if not path.is_file():
        raise FixtureError(f"{path}: there is no such recording.")
    try:
        with soundfile.SoundFile(path) as file:
            rate, channels, is_int16 = file.samplerate, file.channels, file.subtype == "PCM_16"
            as_is = rate == RATE and channels == 1 and is_int16
            read = file.read(dtype="int16") if as_is else file.read(dtype="float32", always_2d=True)
    except soundfile.SoundFileError as error:
        raise FixtureError(f"{path}: not audio that libsndfile can read (WAV, FLAC, OGG, MP3, ...).") from error
    if not len(read):
        raise FixtureError(f"{path}: the recording is empty.")
    if not np.isfinite(read).all():
        raise FixtureError(f"{path}: the recording holds samples that are not numbers; export it again as 16-bit WAV.")
    samples = read if as_is else to_int16(soxr.resample(read.mean(axis=1), rate, RATE))
    samples.flags.writeable = False
    told = None if (rate, channels) == (RATE, 1) else f"{path.name}: {_format(rate, channels)} converted to 16 kHz mono"
    return AudioFile(samples=samples, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), notice=told)


def _format(rate: int, channels: int) -> str:
    return f"{rate / 1000:g} kHz {({1: 'mono', 2: 'stereo'}).get(channels, f'{channels} channels')}"
