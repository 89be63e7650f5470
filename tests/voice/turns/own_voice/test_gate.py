"""The agent's own voice neither interrupts nor becomes a turn, and a caller is heard."""

from collections.abc import Sequence

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection

from voice.asr.no_transcript import NothingHeardFrame
from voice.turns.own_voice.gate import SUSPICIOUS, OwnVoiceGate
from voice.turns.own_voice.spoken_words import SpokenWords
from voice.turns.turn_frames import OwnVoiceFrame

SAID = "I will remember that your car is on level three."
ECHO = "remember that far is on level three"


class Call:
    """A gate on a manual clock. What it lets pass is in `passed`, and said of each frame in `names`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.spoken = SpokenWords()
        self.gate = OwnVoiceGate(self.spoken, clock=lambda: self.now)
        self.passed: list[Frame] = []

        async def push(frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
            if direction is FrameDirection.DOWNSTREAM:
                self.passed.append(frame)

        monkeypatch.setattr(self.gate, "push_frame", push)

    async def down(self, *frames: Frame) -> None:
        for frame in frames:
            await self.gate.process_frame(frame, FrameDirection.DOWNSTREAM)

    async def up(self, frame: Frame) -> None:
        await self.gate.process_frame(frame, FrameDirection.UPSTREAM)

    def names(self) -> list[str]:
        names = [type(frame).__name__ for frame in self.passed]
        self.passed.clear()
        return names

    async def answers(self, said: str = SAID) -> None:
        """The agent speaks for as long as its words take."""
        await self.up(BotStartedSpeakingFrame())
        for word in said.split():
            self.now += 0.35
            self.spoken.add(word, self.now)

    async def stops(self) -> None:
        await self.up(BotStoppedSpeakingFrame())

    async def speech(self, heard: str, *, partials: Sequence[str] = (), after: float = 0.3) -> None:
        """While the agent gives an answer, speech begins and is recognised when both are over."""
        await self.up(BotStartedSpeakingFrame())
        began, self.now = self.now, self.now + after
        await self.down(VADUserStartedSpeakingFrame(start_secs=0.2))
        for index, word in enumerate(SAID.split(), start=1):
            self.spoken.add(word, began + 0.35 * index)
        for partial in partials:
            await self.down(InterimTranscriptionFrame(partial, "", ""))
        self.now = began + 0.35 * len(SAID.split())
        await self.stops()
        await self.down(VADUserStoppedSpeakingFrame(stop_secs=0.2), final(heard))


def final(text: str) -> Frame:
    return TranscriptionFrame(text, "", "", finalized=True)


START, STOP, PARTIAL, FINAL = (
    frame.__name__
    for frame in (
        VADUserStartedSpeakingFrame,
        VADUserStoppedSpeakingFrame,
        InterimTranscriptionFrame,
        TranscriptionFrame,
    )
)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    return Call(monkeypatch)


async def test_speech_interrupts_at_once_as_long_as_the_agent_has_not_heard_itself(call: Call) -> None:
    await call.answers()
    await call.down(VADUserStartedSpeakingFrame(start_secs=0.2))
    assert call.names() == [START]


async def test_an_echo_that_began_a_turn_is_reported_and_no_transcript(call: Call) -> None:
    await call.speech(ECHO)
    assert call.names() == [START, STOP, OwnVoiceFrame.__name__]
    assert call.gate.heard_itself == 1


async def test_the_next_echo_is_dropped_before_anyone_knows_of_it(call: Call) -> None:
    await call.speech(ECHO)
    call.names()
    await call.speech(ECHO, partials=["football", "i will", "remember that"])
    assert call.names() == []
    await call.speech("are you free", partials=["are you"])
    assert call.names() == [], "too few words to be sure"
    assert call.gate.heard_itself == 1


@pytest.mark.parametrize("said", ["stop", "what day is it", "no that is wrong"])
async def test_a_caller_still_interrupts_by_words(call: Call, said: str) -> None:
    await call.speech(ECHO)
    call.names()
    await call.speech(said, partials=["what", said])
    assert call.names() == [START, PARTIAL, STOP, FINAL]


async def test_a_caller_who_answers_as_soon_as_the_agent_has_finished_is_heard(call: Call) -> None:
    await call.speech(ECHO)
    call.names()
    await call.answers()
    await call.stops()
    call.now += 0.8
    await call.down(VADUserStartedSpeakingFrame(start_secs=0.2))
    assert call.names() == []
    call.now += 0.5
    await call.down(VADUserStoppedSpeakingFrame(stop_secs=0.2), final("level three"))
    assert call.names() == [START, STOP, FINAL]


async def test_speech_in_silence_passes_at_once_even_when_the_agent_has_heard_itself(call: Call) -> None:
    await call.speech(ECHO)
    call.names()
    call.now += 5
    await call.down(VADUserStartedSpeakingFrame(start_secs=0.2), InterimTranscriptionFrame("well", "", ""))
    assert call.names() == [START, PARTIAL]


async def test_a_cough_during_an_answer_leaves_no_trace_once_the_agent_has_heard_itself(call: Call) -> None:
    await call.speech(ECHO)
    call.names()
    await call.up(BotStartedSpeakingFrame())
    call.now += 0.5
    await call.down(VADUserStartedSpeakingFrame(start_secs=0.2), VADUserStoppedSpeakingFrame(stop_secs=0.2))
    await call.down(NothingHeardFrame())
    assert call.names() == []


async def test_speech_that_keeps_beginning_with_the_answers_waits_for_words(call: Call) -> None:
    for _ in range(SUSPICIOUS - 1):
        await call.speech("football")
        assert call.names() == [START, STOP, FINAL]
        call.now += 3
    await call.speech("football")
    assert call.names() == []


async def test_an_answer_that_nothing_disturbs_ends_the_suspicion(call: Call) -> None:
    for _ in range(3):
        await call.speech("what day is it")
        assert call.names() == [START, STOP, FINAL]
        call.now += 3
        await call.answers()
        await call.stops()
        call.now += 3


async def test_speech_that_begins_before_the_last_was_recognised_is_judged_by_its_own_words(call: Call) -> None:
    await call.speech(ECHO)
    call.names()
    await call.up(BotStartedSpeakingFrame())
    call.now += 0.3
    began = call.now
    await call.down(VADUserStartedSpeakingFrame(start_secs=0.2))
    for word in SAID.split():
        call.now += 0.35
        call.spoken.add(word, call.now)
    await call.down(VADUserStoppedSpeakingFrame(stop_secs=0.2), VADUserStartedSpeakingFrame(start_secs=0.2))
    await call.down(final(ECHO))
    assert call.names() == []
    call.now = began + 6
    await call.stops()
    await call.down(VADUserStoppedSpeakingFrame(stop_secs=0.2), final("what day is it"))
    assert call.names() == [START, STOP, FINAL]
