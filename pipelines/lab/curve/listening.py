"""Plays recordings to the voice detector and to Smart Turn in audio time, and records every silence."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import Frame, InputAudioRawFrame, VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame
from pipecat.processors.frame_processor import FrameDirection

from pipelines.lab.bench.pauses import noise_of
from pipelines.lab.curve.heard_words import HeardWords
from pipelines.lab.curve.recorded import STEP, Kind, MessageRun, Silence, TimedVerdict
from pipelines.lab.scripted.spoken_words import Word
from voice.client.fixtures.fixture import FixtureTurn
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm
from voice.errors import ComponentError
from voice.frames import EagerHintFrame, SpeechResumedFrame
from voice.turns.end_of_turn import JUDGE_AFTER
from voice.turns.smart_turn import SmartTurn, SmartTurnVerdict
from voice.turns.turn_models import TurnModels
from voice.turns.turn_so_far import TurnSoFar
from voice.turns.vad import HintingVADProcessor, SharedSilero

ASK_AFTER = (JUDGE_AFTER, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""Seconds of silence after which Smart Turn is asked; the agent itself asks after the first."""
TRIES = 10
"""Attempts to get a verdict that does not come in time."""
AFTER = 3.2
"""Seconds of the recording's own background noise that follow its speech."""
SOFT_END = 0.25
"""Seconds by which the detector may notice the end of speech before its label; labels include the last soft sound."""


class Detector(HintingVADProcessor):
    """The pipeline's processor outside a pipeline: keeps the frames that it would push."""

    def __init__(self, vad: SharedSilero, hint: float) -> None:
        super().__init__(vad=vad, hint=hint)
        self._pushed: list[Frame] = []

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Keep a frame that goes down the pipeline."""
        if direction is FrameDirection.DOWNSTREAM:
            self._pushed.append(frame)

    async def hear(self, pcm: bytes) -> list[Frame]:
        """The frames that the processor pushes for a message, in order; the message is the first."""
        await self.process_frame(InputAudioRawFrame(pcm, RATE, 1), FrameDirection.DOWNSTREAM)
        pushed, self._pushed = self._pushed, []
        return pushed


@dataclass(slots=True)
class HeardSilence:
    """A silence as the detectors report it, before it is compared with the labels."""

    began: float
    spoken: float | None
    speech: float
    pauses: tuple[float, ...]
    stopped: float | None = None
    resumed: float | None = None
    counted: float = 0.0
    runs: list[MessageRun] = field(default_factory=list)
    asked: list[TimedVerdict] = field(default_factory=list)

    def consider(self, at: float, counted: float, *, doubtful: bool) -> None:
        """Note that turn taking considers the silence now."""
        last = self.runs[-1] if self.runs else None
        follows = last is not None and abs(last.at + last.messages * STEP - at) < STEP / 2
        if last is None or not follows or last.doubtful is not doubtful:
            self.runs.append(MessageRun(at=round(at, 4), counted=round(counted, 4), messages=1, doubtful=doubtful))
        else:
            self.runs[-1] = MessageRun(at=last.at, counted=last.counted, messages=last.messages + 1, doubtful=doubtful)


class Listener:
    """Follows one recording as turn taking does, except that no silence ends the turn.

    Args:
        models: the models of turn taking.
        params: the settings of the voice detector.
        hint: seconds of silence after which it hints at the end of speech.
    """

    def __init__(self, models: TurnModels, params: VADParams, hint: float) -> None:
        self._vad = models.vad(params)
        self._vad.set_sample_rate(RATE)
        self._detector = Detector(self._vad, hint)
        self._smart_turn: SmartTurn = models.smart_turn(start_secs=params.start_secs)
        self._start = params.start_secs
        self._turn = TurnSoFar()
        self._spoken, self._since = 0.0, 0.0
        self._heard: HeardSilence | None = None
        self._done: list[HeardSilence] = []

    async def listen(self, samples: Pcm) -> list[HeardSilence]:
        """The silences after the start of speech; the last one has no end unless speech follows."""
        for first in range(0, len(samples) - MESSAGE_SAMPLES + 1, MESSAGE_SAMPLES):
            at = (first + MESSAGE_SAMPLES) / RATE
            message, *reports = await self._detector.hear(samples[first : first + MESSAGE_SAMPLES].tobytes())
            await self._hear(message, at)
            for report in reports:
                await self._report(report, at)
        if self._heard is not None:
            self._end(self._heard, None)
        await self._vad.cleanup()  # type: ignore[no-untyped-call]
        return self._done

    async def _hear(self, message: Frame, at: float) -> None:
        assert isinstance(message, InputAudioRawFrame)
        self._smart_turn.hear(message.audio, speaking=self._turn.speaking)
        if self._turn.hear(STEP, may_be_starting=self._vad.may_be_starting) and self._heard is not None:
            await self._ask(self._heard)
            if self._heard.stopped is not None:
                self._heard.consider(at, self._counted, doubtful=self._vad.in_doubt)

    async def _report(self, report: Frame, at: float) -> None:
        match report:
            case VADUserStartedSpeakingFrame():
                if not self._turn.is_open:
                    self._turn.begin()
                self._speech_goes_on(at - self._start, at)
                self._turn.speech_started()
            case EagerHintFrame():
                self._turn.speech_may_have_stopped(report.silence)
                began = at - report.silence
                spoken = self._spoken + began - self._since
                self._heard = HeardSilence(
                    began=began, spoken=self._turn.spoken, speech=spoken, pauses=tuple(self._turn.pauses)
                )
                await self._ask(self._heard)
            case SpeechResumedFrame():
                # No pause: the speech since the last start includes it.
                if self._heard is not None:
                    self._end(self._heard, at)
                self._turn.speech_resumed()
            case VADUserStoppedSpeakingFrame() if self._heard is not None:
                self._turn.speech_stopped(report.stop_secs)
                self._heard.stopped, self._heard.spoken = at, self._turn.spoken
                await self._ask(self._heard)
                self._heard.consider(at, self._counted, doubtful=False)
            case _:
                pass

    @property
    def _counted(self) -> float:
        return self._turn.silence or 0.0

    def _speech_goes_on(self, since: float, at: float) -> None:
        if self._heard is not None:
            self._spoken = self._heard.speech
            self._end(self._heard, at)
        self._since = since

    def _end(self, heard: HeardSilence, resumed: float | None) -> None:
        heard.resumed, heard.counted = resumed, self._counted
        self._done.append(heard)
        self._heard = None

    async def _ask(self, heard: HeardSilence) -> None:
        """Ask Smart Turn if it is time."""
        asked = len(heard.asked)
        if asked < len(ASK_AFTER) and self._counted >= ASK_AFTER[asked]:
            verdict = await self._verdict()
            heard.asked.append(TimedVerdict(after=round(self._counted, 4), probability=round(verdict.probability, 6)))

    async def _verdict(self) -> SmartTurnVerdict:
        """Smart Turn's verdict. Its time limit is that of a call; here nobody waits, so it is asked again if late."""
        for _ in range(TRIES):
            if (verdict := await self._smart_turn.judge()) is not None:
                return verdict
        raise ComponentError(
            f"Smart Turn gave no verdict in {TRIES} attempts; try again when the machine is less busy."
        )


def with_silence(turn: FixtureTurn) -> Pcm:
    """The recording, followed by its own background noise until `AFTER` seconds after its speech."""
    wanted = round((turn.end + AFTER) * RATE)
    missing = wanted - len(turn.samples)
    if missing <= 0:
        return turn.samples[:wanted]
    return np.concatenate([turn.samples, noise_of(turn, missing / RATE)])


def labelled(
    heard: list[HeardSilence], turn: FixtureTurn, words: list[Word], recognised: Callable[[float, str], HeardWords]
) -> tuple[Silence, ...]:
    """The silences with their labels and words; those before the first label are left out.

    Args:
        heard: the silences.
        turn: the recording.
        words: of its transcript.
        recognised: the words before a silence as a call recognises them, given its beginning in seconds and the
            transcript's words.
    """
    found = []
    for one in heard:
        if one.began > turn.speech[0][0]:
            kind, pause = _kind(one, turn)
            text = " ".join(word.text for word in words if word.middle < one.began)
            before = recognised(one.began, text)
            found.append(
                Silence(
                    kind=kind,
                    pause=pause,
                    began=round(one.began, 4),
                    stopped=None if one.stopped is None else round(one.stopped, 4),
                    resumed=None if one.resumed is None else round(one.resumed, 4),
                    counted=round(one.counted, 4),
                    runs=tuple(one.runs),
                    asked=tuple(one.asked),
                    spoken=None if one.spoken is None else round(one.spoken, 4),
                    speech=round(one.speech, 4),
                    text=text,
                    pauses=tuple(round(pause, 4) for pause in one.pauses),
                    heard=before.text,
                    ends=before.ends,
                )
            )
    return tuple(found)


def _kind(heard: HeardSilence, turn: FixtureTurn) -> tuple[Kind, int | None]:
    """The kind of a silence, by the labels it overlaps."""
    if heard.resumed is None or heard.resumed > turn.end + SOFT_END:
        return "end", None
    gaps = [(before[1], after[0]) for before, after in pairwise(turn.speech)]
    shared = [min(heard.resumed, end) - max(heard.began, start) for start, end in gaps]
    longest = max(range(len(gaps)), key=lambda index: shared[index], default=None)
    if longest is None or shared[longest] <= 0:
        return "inside", None
    return "pause", longest
