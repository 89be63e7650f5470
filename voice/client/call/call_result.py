"""The result of a call: the recording, the true speech in it, and the server's reports."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from latency.record.marks import Mark
from latency.record.session import ClockAlignment
from latency.record.turn import ServerTurn, TurnReport
from voice.client.call.line import PacingLog
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.playback.bot_utterances import Utterance
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedTurn:
    """The server's last report of one of its turns."""

    report: TurnReport
    """Instants are on the server's clock."""
    received: float
    """The arrival of its first report, seconds on the recording's clock."""
    origin: float
    """The time of the recording's sample 0 on the client's clock, as known at the report's arrival: a sound card's
    clock drifts, and a report's instants are as old as the report."""

    @property
    def turn(self) -> ServerTurn:
        """The reported turn."""
        return self.report.turn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallResult:
    """One call so far; instants are seconds on the recording's clock."""

    url: str
    seconds: float
    """Length of the recording."""
    placed: tuple[PlacedTurn, ...]
    turns: tuple[ReportedTurn, ...]
    alignment: ClockAlignment | None
    """None if the server answered no ping."""
    pacing: PacingLog
    rate: int | None
    """Sample rate of the bot's audio in hertz; None if none arrived."""
    jitter: float
    utterances: tuple[Utterance, ...]
    underruns: tuple[tuple[float, float], ...]
    flushes: tuple[float, ...]
    ducked: tuple[tuple[float, float], ...] = ()
    """Times of lowered volume."""
    outages: tuple[tuple[float, float], ...] = ()
    """Times without a connection, (start, end); the end is infinity if it was never restored."""
    away: tuple[tuple[float, float], ...] = ()
    """Times without a sound card, (start, end); the end is infinity if none came back."""
    silence_asked: tuple[float, ...] = ()
    """When the user silenced the agent, by a key."""
    failures: tuple[tuple[float, str], ...] = ()
    """When an agent that makes no reports of its turns told of a failure, and its reason."""
    closed: str | None
    """Why the server ended the call; None if the client did."""
    recorder: Recorder

    @property
    def reached(self) -> tuple[PlacedTurn, ...]:
        """The turns that began before the final loss of the connection, which the server may have heard in part."""
        lost = min((start for start, end in self.outages if end == math.inf), default=math.inf)
        return tuple(one for one in self.placed if one.onset < lost)

    def stereo(self) -> npt.NDArray[np.int16]:
        """The recording: shape (samples, 2), 16 kHz, left the user as injected, right the bot as played.

        Raises:
            ValueError: the call was not recorded.
        """
        return self.recorder.stereo()

    def recording_time(self, server_time: float, turn: ReportedTurn) -> float | None:
        """Convert an instant reported in `turn` to the recording's clock; None if the clocks are not aligned."""
        return None if self.alignment is None else self.alignment.to_client(server_time) - turn.origin

    def stopped(self, turn: ReportedTurn) -> float:
        """When the server heard the user stop, seconds on the recording's clock.

        Without aligned clocks, the arrival of the turn's first report: the turn's commit plus the network's delay.
        """
        marks = turn.turn.marks
        at = marks.get(Mark.VAD_STOP, marks.get(Mark.TURN_COMMIT))
        on_recording = None if at is None else self.recording_time(at, turn)
        return turn.received if on_recording is None else on_recording
