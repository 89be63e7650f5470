"""Applies rules for the end of a turn to recorded silences: the pauses that they cut off, and their delays.

Times are those of the audio, as if every recogniser and model answered at once. Each silence is judged as if the turn
had not been cut off before it, as livekit/eot-bench does.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pipelines.lab.curve.recorded import Clip, Silence
from voice.turns.end_of_turn import JUDGE_AFTER
from voice.turns.endpointing import Endpointing, Pauses
from voice.turns.evidence import Evidence
from voice.turns.evidence_gatherer import EvidenceGatherer
from voice.turns.smart_turn import SmartTurnVerdict
from voice.turns.turn_so_far import ONE_TURN
from voice.turns.words.trigram_reader import TrigramReader

TURNS_OF_A_CALL = 8

Needed = Callable[[Silence, Pauses], float]
"""The silence that ends a turn, in seconds as turn taking counts it, for a caller with these pauses."""


@dataclass(slots=True)
class TurnOutcome:
    """A rule's outcome on one recording."""

    cut: set[int] = field(default_factory=set)
    """The labelled pauses that it took for the end."""
    inside: bool = False
    """Whether it ended the turn inside a labelled stretch of speech."""
    delay: float | None = None
    """Seconds from the labelled end of the speech to the end of the turn; None when the turn never ended."""


def calls(clips: Sequence[Clip], seed: int) -> Iterator[list[int]]:
    """The recordings of each speaker in calls of at most `TURNS_OF_A_CALL` turns, in an order drawn by `seed`."""
    speakers: dict[str, list[int]] = {}
    for index, clip in enumerate(clips):
        speakers.setdefault(clip.speaker, []).append(index)
    for speaker, indices in speakers.items():
        drawn = random.Random(f"{seed} {speaker}").sample(indices, len(indices))
        for first in range(0, len(drawn), TURNS_OF_A_CALL):
            yield drawn[first : first + TURNS_OF_A_CALL]


def our_rule(endpointing: Endpointing) -> Needed:
    """The agent's own rule, on Smart Turn's verdict and the words, without a responder's whole requests."""

    def needed(silence: Silence, pauses: Pauses) -> float:
        return endpointing.judge(evidence(silence), pauses).needed

    return needed


def evidence(silence: Silence) -> Evidence:
    """The evidence that the agent gathers in a silence, if the recogniser and the reader answer at once."""
    weighing = EvidenceGatherer(None, reads=TrigramReader.shared().log_probability, whole_request=None)  # type: ignore[arg-type]
    sound = silence.sound(JUDGE_AFTER)
    weighing.verdict = None if sound is None else SmartTurnVerdict(sound, 0.0)
    return replace(weighing.weigh(silence.read, silence.spoken), ends=silence.ends)


def judge_call(clips: Sequence[Clip], needed: Needed) -> Iterator[TurnOutcome]:
    """The outcomes of a call's turns; the caller's pauses are remembered as in the agent."""
    pauses = Pauses()
    for clip in clips:
        yield _judge_turn(clip, needed, pauses)
        pauses.turn_over()


def _judge_turn(clip: Clip, needed: Needed, pauses: Pauses) -> TurnOutcome:
    outcome = TurnOutcome()
    for silence in clip.silences:
        if silence.stopped is None:
            continue
        at = silence.reached(needed(silence, pauses))
        if silence.kind == "end":
            if at is not None:
                outcome.delay = at - clip.end
                return outcome
        elif at is not None:
            if silence.pause is None:
                outcome.inside = True
            else:
                outcome.cut.add(silence.pause)
            pauses.turn_over()
            if silence.counted >= ONE_TURN:
                continue
            pauses.turn_goes_on()
        pauses.add(silence.counted)
    return outcome
