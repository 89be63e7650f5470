"""A caller who plays recordings, and times each turn by the loudspeaker's output. Pure.

As with people, turns begin anywhere in a frame, so that recordings do not all reach the server's speech detector at the
same phase; the turn's number decides where.

The next turn starts 0.8 s after the bot has fallen silent, or after 4 s without an answer, unless the turn says
otherwise (`send_after`). When asked to wait ("One moment."), the caller waits for up to 12 s. Between turns the line
carries digital silence. After the last answer the caller waits a second and hangs up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voice.client.fixtures.fixture import FixtureTurn, Label
from voice.client.fixtures.scenario import SendAfter
from voice.client.playback.bot_utterances import JOIN, Utterance
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm

_SPREAD = (5**0.5 - 1) / 2  # multiples of the golden ratio fill a frame most evenly


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTurn:
    """A turn with its position; instants are seconds on the recording's clock."""

    index: int
    turn: FixtureTurn
    position: int
    """The recording's sample at which the turn's sample 0 lies."""

    @property
    def at(self) -> float:
        """The beginning of the turn's recording."""
        return self.position / RATE

    @property
    def speech(self) -> tuple[tuple[float, float], ...]:
        """Its true speech."""
        return tuple((self.at + start, self.at + end) for start, end in self.turn.speech)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Its other labels."""
        return tuple((self.at + start, self.at + end, label) for start, end, label in self.turn.labels)

    @property
    def onset(self) -> float:
        """When the user becomes audible."""
        return self.at + self.turn.onset

    @property
    def end(self) -> float:
        """When the user's speech (or other sound) ends."""
        return self.at + self.turn.end


class ScriptedCaller:
    """Plays the turns of a fixture and waits for the answers; all arguments but `turns` are seconds.

    Args:
        turns: the recordings, in order.
        reply_wait: how long after the end of a turn the answer may start.
        after_reply: silence after an answer before the next turn.
        lead_in: silence before the first turn.
        hang_up_after: silence after the last answer.
        patience: the caller interrupts a bot that speaks for longer than this.
        pending_wait: how long after the end of a turn the answer of an agent that asked to wait may start.
    """

    def __init__(
        self,
        turns: Sequence[FixtureTurn],
        *,
        reply_wait: float = 4.0,
        after_reply: float = 0.8,
        lead_in: float = 1.0,
        hang_up_after: float = 1.0,
        patience: float = 60.0,
        pending_wait: float = 12.0,
    ) -> None:
        self.placed: list[PlacedTurn] = []
        """The turns that have started."""
        self.answer_pending = False
        """Whether the agent has announced a later answer."""
        self._turns = turns
        self._reply_wait = reply_wait
        self._after_reply = after_reply
        self._lead_in = lead_in
        self._hang_up_after = hang_up_after
        self._patience = patience
        self._pending_wait = pending_wait
        self._last_pending = 0.0
        self._offset = 0

    def next_frame(self, at: float, playout: Playout) -> Pcm | None:
        """The frame that begins at `at` (seconds of the recording); None hangs up."""
        if self._is_over_turn():
            if len(self.placed) == len(self._turns):
                if self._is_due(None, at, playout, self._hang_up_after):
                    return None
            elif self._is_due(self._turns[len(self.placed)].send_after, at, playout, self._after_reply):
                index = len(self.placed)
                self._offset = -round(index * _SPREAD % 1 * (MESSAGE_SAMPLES - 1))
                position = round(at * RATE) - self._offset
                self.placed.append(PlacedTurn(index=index, turn=self._turns[index], position=position))
        return self._samples()

    def _is_over_turn(self) -> bool:
        return not self.placed or self._offset >= len(self.placed[-1].turn.samples)

    def _samples(self) -> Pcm:
        frame = np.zeros(MESSAGE_SAMPLES, np.int16)
        if not self._is_over_turn():
            begin = max(0, -self._offset)
            part = self.placed[-1].turn.samples[self._offset + begin : self._offset + MESSAGE_SAMPLES]
            frame[begin : begin + len(part)] = part
            self._offset += MESSAGE_SAMPLES
        return frame

    def _is_due(self, rule: SendAfter | None, at: float, playout: Playout, pause: float) -> bool:
        """Whether the next turn (or the hang-up) may come now, given the bot's speech since the last turn."""
        if not self.placed and at < self._lead_in:
            return False
        since = self.placed[-1].end if self.placed else 0.0
        if rule and rule.event is None:
            return at - since >= rule.delay
        heard = self._heard(playout)
        if not heard:
            since = max([since, *(flush for flush in playout.flushes if self.placed and flush > self.placed[-1].onset)])
            return not self.placed and rule is None or at - since >= self._reply_wait
        if self.answer_pending and at - since < self._pending_wait:
            self._last_pending = at
            return False
        if rule and rule.event == "bot_started_speaking":
            return at - heard[0].start >= rule.delay
        if rule:
            pause = max(rule.delay, JOIN)
        # An answer that is no longer pending has yet to be heard.
        return at - max(heard[-1].end, self._last_pending) >= pause or at - since >= self._patience

    def _heard(self, playout: Playout) -> list[Utterance]:
        """The bot's speech in answer to the last turn.

        Speech under way at the end of the user's turn counts unless it was interrupted: a bot that kept talking may
        give no other answer.
        """
        if not self.placed:
            return list(playout.utterances)
        end = self.placed[-1].end
        heard = []
        for utterance in reversed(playout.utterances):
            if utterance.end <= end:
                break
            if utterance.start >= end or not utterance.cut:
                heard.append(utterance)
        return heard[::-1]
