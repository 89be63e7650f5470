"""Which words over an answer stop it, faster than real time: requests and "stop" must, backchannels must not.

The voice detector, PocketSphinx with its language model and grammars, and what decides are the product's; the speakers
are flite's voices, and the times those of the sound plus the recogniser's processor time. A stop is heard later.

python -m pytest tests/benchmarks/test_interruptions.py -m slow -s
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from pipecat.audio.vad.vad_analyzer import VADParams, VADState
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)

from pipelines.engines.sphinx import _domain_sentences, _edition
from tests.make_samples import synthesise
from tests.voice.turns.barge_in.test_turn_start import Voice
from voice.asr.sphinx.language_model import build_language_model
from voice.asr.sphinx.messages import (
    Audio,
    Command,
    FinishUtterance,
    Partial,
    Peeked,
    PeekUtterance,
    StartUtterance,
)
from voice.asr.sphinx.overlap import OverlapSearch
from voice.asr.sphinx.worker import Recognition, load_decoder
from voice.client.sound.pcm import RATE, Pcm
from voice.frames import EagerHintFrame, NothingHeardFrame, OverlapEvidenceFrame, SpeechResumedFrame
from voice.responder.matching import is_whole_request
from voice.responder.sentences import edition, is_beginning
from voice.turns.barge_in.decision import Rules
from voice.turns.barge_in.turn_start import BargeInStart
from voice.turns.turn_models import TurnModels

VOICES = ("rms", "slt", "kal16", "awb")
INTERRUPTIONS = (
    "stop", "wait", "no", "hold on", "hang on", "wait a moment", "no that is wrong", "never mind", "cancel", "enough",
    "that's enough", "hey", "excuse me", "sorry", "actually", "no no", "stop it", "stop counting please", "pause",
    "quiet", "be quiet", "next", "skip", "help", "listen", "no wait", "one moment", "okay stop", "yeah but wait",
    "what time is it", "tell me a joke", "what is seven times eight", "i have another question",
    "no i meant to thirty", "what day is it today", "how many seconds are in an hour", "cancel the timer",
    "set a timer for five minutes", "repeat", "again",
)  # fmt: skip
BACKCHANNELS = (
    "yeah", "right", "okay", "uh huh", "i see", "yes", "oh really", "sure", "got it", "great", "good", "nice", "cool",
    "wow", "oh", "ah", "really", "of course", "exactly", "thank you", "thanks", "yep", "all right", "interesting",
    "yeah yeah", "okay right", "oh okay", "yeah right", "i know", "makes sense", "fine", "perfect",
)  # fmt: skip
HUMS = ("pau m hh m pau", "pau m m m m pau", "pau hh m m pau", "pau hh ah hh ah hh ah pau", "pau ah ah pau")
"""Phones: "mm-hm", "mm", "hm", laughter, "uh"."""
CHUNK = RATE // 50
PRE_ROLL = RATE // 2
NOISE = -65.0
"""dBFS of the line's noise."""
WIRE = 0.003
"""Seconds from the recogniser's process to the call's."""


def audible(pcm: Pcm) -> Pcm:
    """The sound between its silences, at half of the full scale."""
    loud = np.flatnonzero(np.abs(pcm.astype(np.int32)) > np.abs(pcm.astype(np.int32)).max() / 32)
    cut = pcm[max(0, loud[0] - RATE // 100) : loud[-1] + RATE // 50].astype(np.float64)
    return (cut * 16000 / np.abs(cut).max()).astype(np.int16)


@dataclass
class Recogniser:
    """PocketSphinx, whose replies come after the processor time that they took."""

    recognition: Recognition
    free: float = -9.0
    replies: list[tuple[float, Frame | None]] = field(default_factory=list)

    def carry_out(self, command: Command, at: float) -> None:
        began = time.thread_time()
        reply = self.recognition.carry_out(command)
        self.free = max(self.free, at) + time.thread_time() - began
        text = getattr(reply, "text", None)
        evidence = getattr(reply, "evidence", None)
        if evidence is not None:
            self._tell(OverlapEvidenceFrame(nats=evidence))
        if isinstance(reply, Partial):
            self._tell(InterimTranscriptionFrame(reply.text, "", ""))
        elif isinstance(reply, Peeked):
            self._tell(EagerTranscriptionFrame(reply.text, "", "") if reply.text else None)
        elif text is not None:
            self._tell(TranscriptionFrame(text, "", "", finalized=True) if text else NothingHeardFrame())

    def _tell(self, frame: Frame | None) -> None:
        self.replies.append((self.free + WIRE, frame))


class Answer:
    """An answer that is spoken over by one sound, which begins at 0 seconds."""

    def __init__(self, models: TurnModels, recognition: Recognition) -> None:
        self.vad = models.vad(VADParams(confidence=0.7, start_secs=0.2, stop_secs=0.2, min_volume=0.4))
        self.vad.set_sample_rate(RATE)
        self.recogniser = Recogniser(recognition)
        self.voice = Voice(saying="7, 8, 9, 10, 11")
        self.now = -1.0
        self.stopped: float | None = None
        self.speaking = self.hinted = False
        self.start = BargeInStart(
            vad=self.vad,
            voice=self.voice,
            rules=Rules(decide=0.65, short=0.5, hold=2.0),
            far=0,
            set_aside=lambda: None,
            whole_request=lambda text: True if is_whole_request(text) else False if is_beginning(text) else None,
            clock=lambda: self.now,
        )

        @self.start.event_handler("on_user_turn_started")  # type: ignore[untyped-decorator]
        async def started(*_: object) -> None:
            self.stopped = self.now

    async def hear(self, sound: Pcm, seed: int) -> None:
        """The sound, after silence and before it."""
        rng = np.random.default_rng(seed)
        lead = RATE // 2 + int(rng.integers(0, 512))
        line = np.concatenate([np.zeros(lead), sound, np.zeros(RATE)])
        heard = np.clip(line + rng.standard_normal(len(line)) * 32768 * 10 ** (NOISE / 20), -32768, 32767)
        pcm = heard.astype(np.int16)
        await self.start.process_frame(BotStartedSpeakingFrame())
        for at in range(0, len(pcm) - CHUNK, CHUNK):
            now = (at + CHUNK - lead) / RATE
            await self._deliver(now)
            if self.stopped is not None:
                return
            self.now = now
            await self._chunk(pcm[at : at + CHUNK].tobytes(), pcm[max(0, at - PRE_ROLL) : at].tobytes())

    async def _chunk(self, chunk: bytes, before: bytes) -> None:
        state = await self.vad.analyze_audio(chunk)
        if self.speaking:
            self.recogniser.carry_out(Audio(chunk), self.now)
            await self._pause(state)
        elif state is VADState.SPEAKING:
            self.speaking = True
            await self.start.process_frame(VADUserStartedSpeakingFrame(start_secs=0.2))
            self.recogniser.carry_out(StartUtterance(2, over_answer=True), self.now)
            self.recogniser.carry_out(Audio(before + chunk), self.now)
        if self.stopped is None:
            await self.start.process_frame(InputAudioRawFrame(chunk, RATE, 1))

    async def _pause(self, state: VADState) -> None:
        pause = self.vad.pause
        if state is VADState.QUIET:
            self.speaking = self.hinted = False
            await self.start.process_frame(VADUserStoppedSpeakingFrame(stop_secs=0.2))
            self.recogniser.carry_out(FinishUtterance(2), self.now)
        elif not self.hinted and pause and pause > 0.06:
            self.hinted = True
            await self.start.process_frame(EagerHintFrame(silence=pause))
            self.recogniser.carry_out(PeekUtterance(2), self.now)
        elif self.hinted and not pause:
            self.hinted = False
            await self.start.process_frame(SpeechResumedFrame())

    async def _deliver(self, until: float) -> None:
        replies = self.recogniser.replies
        while self.stopped is None and replies and replies[0][0] <= until:
            at, frame = replies.pop(0)
            self.now = max(self.now, at)
            if frame is not None and (self.hinted or not isinstance(frame, EagerTranscriptionFrame)):
                await self.start.process_frame(frame)


@pytest.mark.slow
async def test_interruptions_stop_an_answer_and_backchannels_do_not(tmp_path: Path) -> None:
    model = build_language_model(lambda: _domain_sentences(()), edition=_edition(edition(), ()), cache=tmp_path)
    decoder = load_decoder(model.path)
    overlap = OverlapSearch(decoder)
    models = TurnModels(smart_turn=False)
    found: dict[str, list[Answer]] = defaultdict(list)
    for voice in VOICES:
        known = audible(synthesise("count to twenty", voice=voice)).tobytes()
        said = [("interruptions", text, False) for text in INTERRUPTIONS]
        said += [("backchannels", text, False) for text in BACKCHANNELS]
        said += [("backchannels", phones, True) for phones in HUMS]
        for number, (kind, text, is_phones) in enumerate(said):
            # The recogniser has heard the caller before.
            decoder.reinit_feat()
            recognition = Recognition(decoder, overlap)
            for command in (StartUtterance(1), Audio(known), FinishUtterance(1)):
                recognition.carry_out(command)
            answer = Answer(models, recognition)
            await answer.hear(audible(synthesise(text, voice=voice, is_phones=is_phones)), number)
            found[kind].append(answer)
            if (answer.stopped is None) is (kind == "interruptions"):
                print(f"{voice}: {text}: {answer.voice.done}")
    for kind, answers in found.items():
        times = [one.stopped for one in answers if one.stopped is not None]
        silenced = sum(one.stopped is None and "silence" in one.voice.done for one in answers)
        late = np.percentile(times, [50, 95]) * 1000
        print(
            f"{kind}: {len(times)} of {len(answers)} stopped the answer, after p50 {late[0]:.0f}, p95 {late[1]:.0f} "
            f"ms; {silenced} silenced it for a moment"
        )
    shares = {kind: np.mean([one.stopped is not None for one in answers]) for kind, answers in found.items()}
    assert shares["interruptions"] >= 0.94
    assert shares["backchannels"] <= 0.08
