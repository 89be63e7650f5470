"""A sound card that cannot do the call's rate: its callbacks become callbacks at 16 kHz."""

from typing import Any

import numpy as np

from voice.client.sound.pcm import RATE, Pcm, StreamResampler
from voice.client.sound.sound_card import CARD_BLOCK, DuplexCallback, SoundStream

_BLOCK_SECONDS = CARD_BLOCK / RATE
_PROBE = 0.5
"""Seconds of silence with which it is measured how much a resampler holds back."""


class CardRate:
    """Exchanges sound with a card at its own rate; what is played and what is heard stay on one clock.

    Args:
        callback: is called with whole blocks at 16 kHz, as a card at that rate would call it.
        card_rate: hertz of the card.
    """

    def __init__(self, callback: DuplexCallback, card_rate: int) -> None:
        self.rate = card_rate
        self.block = round(_BLOCK_SECONDS * card_rate)
        """Samples that the card should exchange at once."""
        self._callback = callback
        self._up, self._down = StreamResampler(card_rate, RATE), StreamResampler(RATE, card_rate)
        up, down = _held_back(card_rate, RATE), _held_back(RATE, card_rate)
        # So much silence is played first that the card never has to wait for the resamplers, or for parts of blocks.
        ahead = max(up) + max(down) + 2 * _BLOCK_SECONDS
        self.latency = (min(up), ahead - min(up))
        """Seconds by which what is heard and what is played come later than with a card at 16 kHz."""
        self._status: Any = False
        self._heard = np.zeros(0, np.int16)
        self._to_play: Pcm = np.zeros(round(ahead * card_rate), np.int16)

    def __call__(self, indata: Any, outdata: Any, frames: int, times: Any, status: Any) -> None:
        """Runs in the card's thread."""
        # There may be no whole block this time.
        self._status = status or self._status
        self._heard = np.concatenate([self._heard, self._up.push(np.frombuffer(bytes(indata), np.int16))])
        while len(self._heard) >= CARD_BLOCK:
            block, self._heard = self._heard[:CARD_BLOCK], self._heard[CARD_BLOCK:]
            played = bytearray(2 * CARD_BLOCK)
            self._callback(block.tobytes(), memoryview(played), CARD_BLOCK, times, self._status)
            self._status = False
            self._to_play = np.concatenate([self._to_play, self._down.push(np.frombuffer(bytes(played), np.int16))])
        late = max(0, frames - len(self._to_play))
        outdata[:] = np.concatenate([np.zeros(late, np.int16), self._to_play[: frames - late]]).tobytes()
        self._to_play = self._to_play[frames - late :]


class CardRateStream:
    """The stream of such a card.

    Args:
        stream: that of the card itself.
        exchange: what it calls back.
    """

    def __init__(self, stream: SoundStream, exchange: CardRate) -> None:
        self._stream, self._exchange = stream, exchange

    @property
    def latency(self) -> tuple[float, float]:
        """Seconds of input and output, resampling included."""
        heard, played = self._stream.latency
        return heard + self._exchange.latency[0], played + self._exchange.latency[1]

    def start(self) -> None:
        """Begin to call back."""
        self._stream.start()

    def close(self) -> None:
        """Stop; no callback runs once this has returned."""
        self._stream.close()


def _held_back(from_rate: int, to_rate: int) -> list[float]:
    """Seconds of sound that a resampler keeps until more arrives, after each of some blocks: it passes on in bursts."""
    resampler, block = StreamResampler(from_rate, to_rate), round(_BLOCK_SECONDS * from_rate)
    held, pushed, passed = [], 0, 0
    while pushed < _PROBE * from_rate:
        pushed += block
        passed += len(resampler.push(np.zeros(block, np.int16)))
        if passed:
            held.append(pushed / from_rate - passed / to_rate)
    return held
