"""Decides whether a sound that is loud enough to be heard is a voice.

A voice is periodic; a breath, a click and a hiss are not. The strength of the period is the highest peak of the
autocorrelation of 40 ms under a Hann window, divided by the window's own (P. Boersma, "Accurate short-term analysis of
the fundamental frequency and the harmonics-to-noise ratio of a sampled sound", IFA Proceedings 17, 1993): 1 for a
periodic sound, mostly below 0.5 for noise of any colour. It is independent of the level, and so are its errors.

Other sounds with a pitch, such as music or a dial tone, pass; a whisper does not.
"""

import numpy as np
import numpy.typing as npt

from latency.audio.loudness import Floats, Ranges

VOICING_FRAME = 0.04
"""Seconds: 2.6 periods of the deepest voice."""
LOWEST, HIGHEST = 65.0, 500.0
"""Pitch of voices, Hz."""
PITCH_RATE = 8000
"""Sample rate that suffices to find a pitch, Hz."""
RUMBLE = 60.0
"""Hz; hum and wind are below."""
VOICED = 0.6
"""Strength of the period from which a frame is voiced: most of the sound repeats itself."""
PART = 40
"""Frames (0.4 s) of a sound that are examined together: a phrase whose loudest frames are all sibilants has vowels
elsewhere."""
EXAMINED, NEEDED = 8, 3
"""The number of a part's loudest frames to examine, and how many must be voiced."""
SHARE = 3
"""One part in so many must be voiced."""


def is_voice(samples: Floats, rate: int, frames: Floats, sounds: Ranges) -> npt.NDArray[np.bool_]:
    """Which sounds of a channel (ranges of its samples) are voices; `frames` are the levels of its 10 ms frames."""
    places, owners, needed = [], [], []
    for owner, (first, end) in enumerate(sounds.tolist()):
        begin, over = first * 100 // rate, -(-end * 100 // rate)
        for start in range(begin, max(begin + 1, over - PART // 2), PART):
            # The last part takes the rest.
            stop = start + PART if start + PART < over - PART // 2 else over
            places.append(start + np.argsort(frames[start:stop])[::-1][:EXAMINED])
            owners.append(owner)
            needed.append(min(NEEDED, len(places[-1])))
    if not places:
        return np.zeros(0, np.bool_)
    strength = periodicity(samples, rate, np.concatenate(places))
    part = np.repeat(np.arange(len(places)), [len(place) for place in places])
    voiced = np.bincount(part[strength >= VOICED], minlength=len(places)) >= np.array(needed)
    parts = np.bincount(owners, minlength=len(sounds))
    found: npt.NDArray[np.bool_] = SHARE * np.bincount(np.array(owners)[voiced], minlength=len(sounds)) >= parts
    return found


def periodicity(samples: Floats, rate: int, frames: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """How strongly the sound around each of some 10 ms frames repeats at a voice's pitch, 0 to 1."""
    # A pitch needs no more than 8 kHz, and computing the spectra takes the most time.
    thinned = rate // PITCH_RATE
    size, step = round(VOICING_FRAME * rate / thinned), rate // 100
    taken = size * thinned
    window = np.hanning(size + 2)[1:-1]
    if len(samples) < taken:
        return np.zeros(len(frames))
    starts = np.clip(frames * step + step // 2 - taken // 2, 0, len(samples) - taken)
    rate = rate // thinned
    shortest, longest = round(rate / HIGHEST), round(rate / LOWEST)
    length = 1 << (size + longest + 1).bit_length()
    own = np.fft.irfft(np.abs(np.fft.rfft(window, length)) ** 2)[: longest + 2]
    found = np.zeros(len(frames))
    # A few thousand at a time keep the spectra small compared with the recording.
    for first in range(0, len(frames), 4096):
        part = samples[starts[first : first + 4096, None] + np.arange(taken)]
        part = part.reshape(len(part), size, thinned).mean(axis=2) * window
        power = np.abs(np.fft.rfft(part, length)) ** 2
        power[:, : int(RUMBLE * length / rate) + 1] = 0
        repeated = np.fft.irfft(power)[:, : longest + 2]
        repeated = repeated / np.maximum(repeated[:, :1], 1e-12) / (own / own[0])
        inner = repeated[:, shortest : longest + 1]
        # Only a peak is a period; the slope of a slowly changing sound is not.
        peak = (inner >= repeated[:, shortest - 1 : longest]) & (inner >= repeated[:, shortest + 1 : longest + 2])
        found[first : first + 4096] = np.where(peak, inner, 0).max(axis=1)
    return found
