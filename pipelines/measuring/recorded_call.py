"""Finds the caller's turns in a recording of both sides of a call. Pure.

* Speech: labelled, or else measured on the caller's channel (`latency.audio.onset.estimated_speech`), first in the
  whole call, and then in each turn, because people do not always speak equally loud.
* A turn ends when the agent is heard after it, or when the caller is silent for `GIVES_UP` seconds. The agent is heard
  after it if it began to speak since the turn began and speaks beyond the caller's last words. If the caller goes on
  within `REACTION` seconds of the agent's start, that was too early to react to the agent: the turn goes on, and the
  agent has cut the caller off.
* An interruption is a turn that begins while the agent speaks.
* A backchannel (without labels) is a sound of less than `BACKCHANNEL` seconds over which the agent goes on. It wants no
  answer.
* The last turn wants no answer if the recording ends within `GIVES_UP` seconds: the caller did not wait for one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from latency.audio.onset import Span, estimated_speech, utterances
from latency.audio.recording import RATE
from latency.record.turn import Truth, TurnRecord
from voice.client.fixtures.fixture import Label

GIVES_UP = 4.0
"""Seconds of silence, as of a replay's caller."""
REACTION = 0.3
BACKCHANNEL = 1.0
AROUND = 1.0
"""Seconds of sound around a turn that are measured with it, as the room's noise."""
NO_TURNS = frozenset({"speech", "noise", "echo"})
"""Labels that are no sounds of the caller's over an answer."""


def caller_turns(
    stereo: npt.NDArray[np.int16], session: str, labels: Sequence[Label] | None = None
) -> list[TurnRecord]:
    """The caller's turns, in order.

    Args:
        stereo: 16 kHz, shape (samples, 2): left the caller, right the agent.
        session: the call's name in the run.
        labels: of the caller's channel; None to measure its speech.
    """
    seconds = len(stereo) / RATE
    agent = utterances(np.ascontiguousarray(stereo[:, 1]), RATE)
    if labels is None:
        caller = np.ascontiguousarray(stereo[:, 0])
        spoken = _measured_again(list(_turns(estimated_speech(caller, RATE), agent)), caller)
        brief = [turn for turn in spoken if _is_backchannel(turn, agent)]
        spoken = [turn for turn in spoken if turn not in brief]
        sounds = [(turn[0].start, turn[-1].end, "backchannel") for turn in brief]
    else:
        spoken = list(_turns([Span(start, end) for start, end, kind in labels if kind == "speech"], agent))
        sounds = [label for label in labels if label[2] not in NO_TURNS]
    truth: Truth = "estimated" if labels is None else "labelled"
    found = [
        TurnRecord(
            session=session,
            turn=0,
            scenario=session,
            truth=truth,
            speech=tuple((round(start, 6), round(min(end, seconds), 6)) for start, end in speech),
            wants_answer=_waits(speech, is_last=speech is spoken[-1], agent=agent, seconds=seconds),
            barge_in=_under_way(agent, speech[0].start) is not None,
        )
        for speech in spoken
    ]
    found += [
        TurnRecord(
            session=session,
            turn=0,
            scenario=session,
            truth=truth,
            labels=(sound,),
            wants_answer=False,
            backchannel=sound[2] == "backchannel",
        )
        for sound in sounds
    ]
    ordered = sorted(found, key=lambda turn: turn.speech[0][0] if turn.speech else turn.labels[0][0])
    return [replace(turn, turn=number) for number, turn in enumerate(ordered)]


def _turns(speech: Sequence[Span], agent: Sequence[Span]) -> Iterator[list[Span]]:
    """The caller's stretches of speech, turn by turn."""
    turn: list[Span] = []
    for stretch in speech:
        if turn and not _goes_on(turn, stretch, agent):
            yield turn
            turn = []
        turn.append(stretch)
    if turn:
        yield turn


def _goes_on(turn: Sequence[Span], stretch: Span, agent: Sequence[Span]) -> bool:
    """Whether a stretch of speech belongs to the turn before it."""
    start, end = turn[0].start, turn[-1].end
    is_answered = any(start < one.start <= stretch.start - REACTION and one.end > end for one in agent)
    return not is_answered and stretch.start - end < GIVES_UP


def _measured_again(turns: Sequence[list[Span]], caller: npt.NDArray[np.int16]) -> list[list[Span]]:
    """The turns, with the speech of each measured by its own level."""
    edges = [0.0, *((a[-1].end + b[0].start) / 2 for a, b in pairwise(turns)), len(caller) / RATE]
    found = []
    for turn, earliest, latest in zip(turns, edges, edges[1:], strict=False):
        start, end = max(earliest, turn[0].start - AROUND), min(latest, turn[-1].end + AROUND)
        speech = estimated_speech(caller[round(start * RATE) : round(end * RATE)], RATE)
        found.append([Span(start + one.start, start + one.end) for one in speech] or turn)
    return found


def _is_backchannel(turn: Sequence[Span], agent: Sequence[Span]) -> bool:
    under_way = _under_way(agent, turn[0].start)
    return under_way is not None and turn[-1].end < under_way.end and turn[-1].end - turn[0].start < BACKCHANNEL


def _under_way(agent: Sequence[Span], at: float) -> Span | None:
    return next((one for one in agent if one.start < at < one.end), None)


def _waits(turn: Sequence[Span], *, is_last: bool, agent: Sequence[Span], seconds: float) -> bool:
    """Whether the caller waited for an answer to the turn."""
    end = turn[-1].end
    return not is_last or seconds - end >= GIVES_UP or any(one.end > end for one in agent)
