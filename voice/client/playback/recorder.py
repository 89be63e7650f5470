"""The recording of a call: both sides on one sample clock."""

import numpy as np
import numpy.typing as npt

from voice.client.playback.playout import Playout
from voice.client.sound.pcm import RATE, Pcm, resample


class Recorder:
    """Collects the user's side as sent and, at the end, the bot's side as played.

    Args:
        playout: the loudspeaker whose second 0 is the user's sample 0.
        keep: False counts the samples without keeping them.
    """

    def __init__(self, playout: Playout, *, keep: bool = True) -> None:
        self._playout = playout
        self._user = bytearray() if keep else None
        self._samples = 0

    def inject(self, frame: Pcm) -> None:
        """The user's next samples, 16 kHz."""
        self._samples += len(frame)
        if self._user is not None:
            self._user += frame.tobytes()

    @property
    def seconds(self) -> float:
        """Length of the recording."""
        return self._samples / RATE

    def user(self) -> Pcm:
        """The user's side.

        Raises:
            ValueError: made with keep=False.
        """
        if self._user is None:
            raise ValueError("this call was not recorded")
        return np.frombuffer(bytes(self._user), np.int16)

    def stereo(self) -> npt.NDArray[np.int16]:
        """Shape (samples, 2), 16 kHz: left the user as sent, right the bot as played; as long as the user's side.

        Raises:
            ValueError: made with keep=False.
        """
        user = self.user()
        bot = resample(self._playout.rendered(), self._playout.rate or RATE, RATE)[: len(user)]
        both = np.zeros((len(user), 2), np.int16)
        both[:, 0] = user
        both[: len(bot), 1] = bot
        return both
