"""The frames that pass the gate, and what it tells of the agent's own words."""

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection

from voice.frames import NothingHeardFrame, OwnVoiceFrame
from voice.turns.own_voice import OwnVoiceGate, SpokenWords


async def test_a_transcript_of_the_agents_voice_is_replaced_and_any_other_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, spoken, passed, up = [100.0], SpokenWords(), list[Frame](), list[Frame]()
    gate = OwnVoiceGate(spoken, clock=lambda: now[0])

    async def push(frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        is_report = isinstance(frame, OwnVoiceFrame) and direction is FrameDirection.UPSTREAM
        (up if is_report else passed).append(frame)

    monkeypatch.setattr(gate, "push_frame", push)
    await gate.process_frame(BotStartedSpeakingFrame(), FrameDirection.UPSTREAM)
    now[0] += 0.5
    await gate.process_frame(VADUserStartedSpeakingFrame(start_secs=0.2), FrameDirection.DOWNSTREAM)
    for word in ("Timer", "set", "for", "twenty", "minutes"):
        now[0] += 0.3
        spoken.add(word, now[0])
    partial = InterimTranscriptionFrame("timer set", "", "")
    await gate.process_frame(partial, FrameDirection.DOWNSTREAM)
    assert gate.is_own("timer set for ninety")
    await gate.process_frame(
        TranscriptionFrame("timer set for ninety minutes", "", "", finalized=True), FrameDirection.DOWNSTREAM
    )
    request = TranscriptionFrame("what time is it now", "", "", finalized=True)
    await gate.process_frame(request, FrameDirection.DOWNSTREAM)
    assert [type(frame) for frame in passed[:2]] == [BotStartedSpeakingFrame, VADUserStartedSpeakingFrame]
    assert passed[2] is partial
    own = passed[3]
    assert isinstance(own, OwnVoiceFrame)
    assert (own.text, own.final) == ("timer set for ninety minutes", True)
    assert passed[4] is request
    assert [getattr(frame, "text", None) for frame in up] == [own.text], "the recogniser learns of it"
    assert gate.hearing.hears_itself


async def test_laughter_is_no_part_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = list[Frame]()
    gate = OwnVoiceGate(SpokenWords())

    async def push(frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        passed.append(frame)

    monkeypatch.setattr(gate, "push_frame", push)
    for frame in (
        EagerTranscriptionFrame("uh huh huh huh", "", ""),
        TranscriptionFrame("uh huh huh huh", "", "", finalized=True),
        TranscriptionFrame("What day is it? Ha ha ha.", "", "", finalized=True),
        TranscriptionFrame("uh huh", "", "", finalized=True),
    ):
        await gate.process_frame(frame, FrameDirection.DOWNSTREAM)
    assert isinstance(passed[0], NothingHeardFrame)
    assert [getattr(frame, "text", None) for frame in passed] == [None, "What day is it?", "uh huh"]
