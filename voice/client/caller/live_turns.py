"""Finds the turns of a call without a script in the user's channel of the recording. Pure.

Without labels, the speech is measured and its truth is marked as estimated.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from latency.audio.onset import estimated_speech
from latency.record.marks import Mark
from voice.client.call.call_result import CallResult, ReportedTurn
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.fixtures.fixture import Fixture, FixtureTurn
from voice.client.fixtures.scenario import SendAfter
from voice.client.playback.bot_utterances import Utterance
from voice.client.sound.pcm import RATE, Pcm

BEFORE = 1.0
"""Seconds of sound before a turn's speech that are measured as the room's noise."""


def with_live_turns(result: CallResult, *, name: str) -> tuple[CallResult, Fixture]:
    """The call in a form as if its user's turns had been played from recordings, and the fixture of those turns.

    A turn is a committed one with words. Without aligned clocks there are none.
    """
    user = np.ascontiguousarray(result.stereo()[:, 0])
    placed: list[PlacedTurn] = []
    since = 0.0
    for reported in result.turns:
        until = _committed(result, reported)
        if until is None:
            continue
        turn = _turn(len(placed), user, since, until, result.utterances)
        since = until
        if turn and reported.turn.heard:
            placed.append(PlacedTurn(index=len(placed), turn=turn, position=0))
    fixture = Fixture(name=name, source=Path(name), group="", turns=tuple(one.turn for one in placed), notices=())
    return replace(result, placed=tuple(placed)), fixture


def _committed(result: CallResult, reported: ReportedTurn) -> float | None:
    at = reported.turn.marks.get(Mark.TURN_COMMIT)
    return None if at is None else result.recording_time(at, reported)


def _turn(index: int, user: Pcm, since: float, until: float, spoken: Sequence[Utterance]) -> FixtureTurn | None:
    start = max(0.0, since - BEFORE)
    stretches = estimated_speech(user[round(start * RATE) : round(until * RATE)], RATE)
    # Of speech that straddles the last commit, only the part after it counts.
    speech = tuple((max(start + a, since), start + b) for a, b in stretches if start + b > since)
    if not speech:
        return None
    onset = speech[0][0]
    # It was not scripted, but a turn that begins while the bot speaks is an interruption.
    over = next((one for one in spoken if one.start < onset < one.end), None)
    return FixtureTurn(
        name=f"turn {index + 1}",
        wav=Path(),
        text="",
        speaker="",
        samples=np.zeros(0, np.int16),
        speech=speech,
        labels=(),
        send_after=SendAfter(event="bot_started_speaking", delay=onset - over.start) if over else None,
        wants_answer=True,
        contains=(),
        truth="estimated",
        sha256="",
    )
