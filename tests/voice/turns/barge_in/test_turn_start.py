"""What starts a turn while the agent speaks, frame by frame."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    UserBackchannelFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.turns.types import ProcessFrameResult

from voice.frames import (
    DoubtfulTranscriptionFrame,
    NothingHeardFrame,
    OverlapEvidenceFrame,
    OverlapFrame,
    OwnVoiceFrame,
)
from voice.turns.barge_in.decision import Rules
from voice.turns.barge_in.turn_start import BargeInStart, UninterruptibleStart

AUDIO = InputAudioRawFrame(bytes(640), 16000, 1)
SPEECH, SILENCE = VADUserStartedSpeakingFrame(start_secs=0.2), VADUserStoppedSpeakingFrame(stop_secs=0.2)


@dataclass
class Vad:
    is_likely: bool = False
    may_be_starting: bool = False
    pause: float | None = None


@dataclass
class Voice:
    saying: str = "The timer is set for ten minutes."
    done: list[str] = field(default_factory=list)

    def duck(self) -> None:
        self.done.append("duck")

    def silence(self) -> None:
        self.done.append("silence")

    def resume(self) -> None:
        self.done.append("resume")


class Call:
    """A start strategy with what it tells others; time passes as audio is given."""

    def __init__(self) -> None:
        self.now = 100.0
        self.vad, self.voice = Vad(), Voice()
        self.set_aside = self.started = self.resets = 0
        self.pushed: list[Frame] = []
        self.awaits = False
        """Whether the caller awaits an answer."""
        self.own: tuple[str, ...] = ()
        """The agent's own words, once it hears itself."""
        self.start = BargeInStart(
            vad=self.vad,  # type: ignore[arg-type]
            voice=self.voice,
            rules=Rules(decide=0.65, short=0.5, hold=2.0),
            far=15,
            set_aside=self.aside,
            is_own=lambda words: words in self.own,
            awaits_answer=lambda: self.awaits,
            hears_itself=lambda: bool(self.own),
            clock=lambda: self.now,
        )

        @self.start.event_handler("on_user_turn_started")  # type: ignore[untyped-decorator]
        async def started(*_: Any) -> None:
            self.started += 1
            await self.start.handle_user_turn_started()

        @self.start.event_handler("on_reset_aggregation")  # type: ignore[untyped-decorator]
        async def reset(*_: Any) -> None:
            self.resets += 1

        @self.start.event_handler("on_push_frame")  # type: ignore[untyped-decorator]
        async def pushed(_: Any, frame: Frame, *_rest: Any) -> None:
            self.pushed.append(frame)

    def aside(self) -> None:
        self.set_aside += 1

    async def gives(self, *frames: Frame) -> ProcessFrameResult | None:
        result = None
        for frame in frames:
            if isinstance(frame, VADUserStartedSpeakingFrame | VADUserStoppedSpeakingFrame):
                self.vad.pause = 0.0 if isinstance(frame, VADUserStartedSpeakingFrame) else None
            result = await self.start.process_frame(frame)
        return result

    async def audio(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.02)):
            self.now += 0.02
            await self.start.process_frame(AUDIO)

    @property
    def verdicts(self) -> list[str | None]:
        records = [frame.record for frame in self.pushed if isinstance(frame, OverlapFrame)]
        return [record.because for record in records if record.verdict]


def partial(text: str) -> Frame:
    return InterimTranscriptionFrame(text, "", "")


def final(text: str) -> Frame:
    return TranscriptionFrame(text, "", "", finalized=True)


async def speaking() -> Call:
    """A call whose agent has spoken for a second."""
    call = Call()
    await call.gives(BotStartedSpeakingFrame())
    await call.audio(1.0)
    return call


async def test_speech_starts_a_turn_at_once_while_the_agent_is_silent() -> None:
    call = Call()
    assert await call.gives(SPEECH) is ProcessFrameResult.STOP
    assert call.started == 1
    assert not call.voice.done


async def test_once_the_agent_hears_itself_its_own_words_stop_it_at_no_moment() -> None:
    call = Call()
    call.own = ("timer set for",)
    await call.gives(BotStartedSpeakingFrame())
    await call.audio(0.3)
    await call.gives(SPEECH, partial("timer set for"))
    await call.audio(1.0)
    await call.gives(SILENCE, OwnVoiceFrame(text="timer set for"))
    assert call.started == 0
    assert call.set_aside == 1
    assert call.verdicts == ["own_words"]
    assert call.voice.done[-1] == "resume"


async def early(when: str) -> Call:
    """A call whose answer is awaited, or has just begun."""
    call = Call()
    if when == "awaited":
        call.awaits = True
    else:
        await call.gives(BotStartedSpeakingFrame())
        await call.audio(0.3)
    return call


EARLY = pytest.mark.parametrize("when", ["awaited", "just begun"])


@EARLY
async def test_early_speech_silences_the_answer_at_once_and_its_words_stop_it(when: str) -> None:
    call = await early(when)
    assert await call.gives(SPEECH) is ProcessFrameResult.CONTINUE
    assert call.voice.done == ["silence"]
    await call.gives(partial("and for two people"))
    await call.audio(0.2)
    assert call.started == 1
    assert call.verdicts == ["at_once"]


@EARLY
async def test_a_short_early_word_stops_the_answer_when_it_is_final(when: str) -> None:
    call = await early(when)
    await call.gives(SPEECH)
    await call.audio(0.1)
    await call.gives(SILENCE)
    await call.audio(0.2)
    assert call.started == 0
    await call.gives(final("tomorrow"))
    assert (call.started, call.set_aside) == (1, 0)


@EARLY
@pytest.mark.parametrize("heard", ["", "uh huh huh huh", "ha ha ha ha", "la la la la", "hm", "uh", "um", "okay"])
async def test_early_sounds_only_delay_the_answer(when: str, heard: str) -> None:
    call = await early(when)
    await call.gives(SPEECH, *([partial(heard)] if heard else []))
    await call.audio(1.0)
    await call.gives(SILENCE)
    await call.audio(0.3)
    assert call.voice.done == ["silence"]
    await call.gives(final(heard) if heard else NothingHeardFrame())
    assert call.voice.done == ["silence", "resume"]
    assert (call.started, call.set_aside, call.resets) == (0, 1, 1)


async def test_early_speech_that_goes_on_without_words_is_the_callers() -> None:
    call = await early("awaited")
    await call.gives(SPEECH)
    await call.audio(1.9)
    assert call.started == 0
    await call.audio(0.2)
    assert call.started == 1


async def test_the_words_of_early_speech_are_awaited() -> None:
    call = await early("awaited")
    await call.gives(SPEECH)
    await call.audio(0.4)
    await call.gives(SILENCE)
    await call.audio(3.0)
    assert call.voice.done == ["silence"]
    await call.gives(final("in Paris"))
    assert call.started == 1


async def test_words_that_come_too_late_for_the_silence_still_stop_the_answer() -> None:
    call = await early("awaited")
    await call.gives(SPEECH)
    await call.audio(0.4)
    await call.gives(SILENCE)
    await call.audio(6.0)
    assert call.voice.done == ["silence", "resume"]
    assert (call.started, call.set_aside) == (0, 0)
    await call.gives(final("what day is it today"))
    assert call.started == 1


async def test_likely_speech_ducks_and_a_stop_starts_the_turn() -> None:
    call = await speaking()
    call.vad.is_likely = call.vad.may_be_starting = True
    await call.audio(0.02)
    assert call.voice.done == ["duck"]
    await call.audio(0.1)
    await call.gives(SPEECH, partial("stop"))
    await call.audio(0.12)
    assert call.started == 0
    await call.audio(0.1)
    assert call.started == 1
    # The interruption of the turn makes the voice as usual.
    assert call.voice.done == ["duck"]
    assert call.verdicts == ["stop_word"]


async def test_a_backchannel_is_no_turn_and_leaves_nothing_behind() -> None:
    call = await speaking()
    await call.gives(SPEECH, partial("yeah"))
    await call.audio(0.4)
    await call.gives(SILENCE, final("yeah right"))
    assert call.voice.done == ["duck", "resume"]
    assert (call.started, call.set_aside, call.resets) == (0, 1, 1)
    assert [frame.text for frame in call.pushed if isinstance(frame, UserBackchannelFrame)] == ["yeah right"]


async def test_a_sound_like_a_backchannel_is_one_whatever_words_were_heard_in_it() -> None:
    call = await speaking()
    await call.gives(SPEECH, OverlapEvidenceFrame(nats=-20), partial("the force"))
    await call.audio(0.8)
    await call.gives(SILENCE, OverlapEvidenceFrame(nats=-30), final("the force be"))
    assert call.started == 0
    assert call.verdicts == ["backchannel"]


async def test_words_heard_to_their_end_stop_the_answer_at_once() -> None:
    call = await speaking()
    await call.gives(SPEECH, EagerTranscriptionFrame("Stop.", "", ""))
    assert call.started == 1
    assert call.verdicts == ["stop_word"]


async def test_doubtful_words_stop_the_answer_only_by_a_stop() -> None:
    call = await speaking()
    await call.gives(SPEECH, DoubtfulTranscriptionFrame("Giggle it then.", "", ""))
    await call.audio(0.7)
    assert call.started == 0
    await call.gives(DoubtfulTranscriptionFrame("Stop", "", ""))
    await call.audio(0.2)
    assert call.verdicts == ["stop_word"]


async def test_a_yes_to_the_question_being_asked_is_a_turn() -> None:
    call = await speaking()
    call.voice.saying = "Shall I book it?"
    await call.gives(SPEECH, partial("yes"))
    await call.audio(0.2)
    assert call.started == 1
    assert call.verdicts == ["answer"]


async def test_a_cough_in_which_nothing_was_heard_lets_the_answer_go_on() -> None:
    call = await speaking()
    await call.gives(SPEECH)
    await call.audio(0.3)
    await call.gives(SILENCE, NothingHeardFrame())
    assert call.voice.done == ["duck", "resume"]
    assert call.verdicts == ["nothing_heard"]


async def test_the_words_of_two_stretches_of_speech_count_together() -> None:
    call = await speaking()
    await call.gives(SPEECH, partial("yeah"))
    await call.audio(0.4)
    await call.gives(SILENCE, SPEECH, TranscriptionFrame("yeah", "", ""), partial("but wait"))
    await call.audio(0.4)
    assert call.started == 1
    assert [frame.record.words for frame in call.pushed if isinstance(frame, OverlapFrame)][-1] == "yeah but wait"


async def test_a_turn_that_is_open_takes_everything() -> None:
    call = await speaking()
    await call.gives(SPEECH, partial("stop"))
    await call.audio(0.3)
    assert call.started == 1
    await call.gives(SILENCE, final("stop"))
    await call.start.handle_user_turn_stopped()
    assert call.set_aside == 0
    await call.gives(BotStoppedSpeakingFrame(), SPEECH)
    assert call.started == 2


async def test_a_soft_voice_in_the_room_is_not_the_caller() -> None:
    loud = InputAudioRawFrame(b"\x00\x20" * 320, 16000, 1)
    soft = InputAudioRawFrame(b"\x00\x02" * 320, 16000, 1)
    call = Call()
    await call.gives(SPEECH, *[loud] * 50, SILENCE)
    await call.start.handle_user_turn_stopped()
    await call.gives(BotStartedSpeakingFrame())
    await call.audio(1.0)
    await call.gives(SPEECH, *[soft] * 30, partial("stop talking now"))
    await call.audio(0.6)
    await call.gives(SILENCE, final("stop talking now"))
    assert call.started == 1
    assert call.verdicts == ["far"]


@pytest.mark.parametrize("outlasts", [False, True])
async def test_without_barge_in_only_speech_that_outlasts_the_answer_is_a_turn(outlasts: bool) -> None:
    aside: list[int] = []
    start = UninterruptibleStart(lambda: aside.append(1))
    started: list[int] = []

    @start.event_handler("on_user_turn_started")  # type: ignore[untyped-decorator]
    async def note(*_: Any) -> None:
        started.append(1)
        await start.handle_user_turn_started()

    await start.process_frame(BotStartedSpeakingFrame())
    await start.process_frame(SPEECH)
    assert not started
    frames = [SILENCE, final("stop"), BotStoppedSpeakingFrame()]
    for frame in frames[::-1] if outlasts else frames:
        await start.process_frame(frame)
    assert len(started) == outlasts
    assert len(aside) == (not outlasts)
