"""When speech starts, by the sound alone.

While the agent is silent, a turn starts as soon as the voice detector reports the start of speech; while it speaks, so
with `barge_in.mode = "speech"`, where a long and clear "mm-hm" interrupts, too. Otherwise the words decide
(`voice.turns.barge_in`). Speech starts with a window (32 ms at 16 kHz) of which all of this is true:

1. Silero is at least `vad.confidence` (0.7) sure that the window is speech.
2. Its mean confidence over the last 4/3 of `vad.start_ms` (8 windows, 256 ms) is at least a third of the way from
   `vad.confidence` to 1 (0.8): `VadOnset`.
3. The window is loud enough: pipecat's smoothed loudness is at least `vad.min_volume` (0.4).

pipecat alone asks each window of `vad.start_ms` for the confidence and the loudness. A soft consonant or a dip in the
first vowel then starts the count again, and on a line that was digitally silent the smoothed loudness takes three
windows to rise. With a mean over a third more time, clear windows make up for one in doubt, and sound that is never
more than likely to be speech (the agent's echo, voices in the room) needs longer than a caller's.

Measured on 101 onsets of people in calls, each at four positions of the windows (17 recordings with digital silence
between them): speech starts 232 ms after the labelled onset (median) instead of 258 ms, 95 % within 286 ms instead of
309 ms. Of pieces of 3 s without a caller's speech, these start it: echo that peaks at -40 dBFS 22 of 59 instead of 31,
nine soft voices at once 20 of 39 instead of 23, hums of 0.1 to 0.3 s 15 instead of 16. Of speech cut to 0.19 s 6 %
instead of 4 % start it, of speech cut to 0.26 s 63 % instead of 66 %. With a mean of 0.75, speech would start 12 ms
sooner, and hums would start it in 23 of 39.
"""

from collections import deque

from pipecat.turns.user_start import BaseUserTurnStartStrategy, VADUserTurnStartStrategy

MEAN_OVER = 4 / 3
"""The time over which the mean is taken, as a share of `vad.start_ms`."""
MEAN_RISE = 1 / 3
"""How far the mean must be from `vad.confidence` towards 1."""


def start_strategies() -> list[BaseUserTurnStartStrategy]:
    """What starts the user's turn: the detector's report of speech, which also interrupts the agent if it speaks."""
    return [VADUserTurnStartStrategy(enable_interruptions=True)]


class VadOnset:
    """Finds the start of speech in a sequence of windows. Pure: it is given confidences, one for each window.

    Args:
        windows: how many windows `vad.start_ms` lasts.
        confidence: the least confidence of the latest window, 0 to 1.
    """

    def __init__(self, windows: int, confidence: float) -> None:
        self._heard: deque[float] = deque(maxlen=round(MEAN_OVER * max(windows, 1)))
        self._least = confidence
        self._mean = confidence + MEAN_RISE * (1 - confidence)

    def hear(self, confidence: float) -> bool:
        """Add the confidence of a window; returns whether speech starts with it, if it is loud enough."""
        self._heard.append(confidence)
        return confidence >= self._least and sum(self._heard) >= self._mean * (self._heard.maxlen or 1)

    def clear(self) -> None:
        """Forget the windows heard: speech has started or ended."""
        self._heard.clear()
