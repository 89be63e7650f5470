"""When each stage of a turn was at work, and which part of that the user waited for.

Stages overlap: Smart Turn listens while the recogniser finishes, a model is asked before the turn is committed. The
critical path is what `TurnRecord.contributions` counts: it never overlaps, and tiles the time from the true end of the
user's speech to the first audible sample. Instants are seconds on the recording's clock.
"""

from dataclasses import dataclass

from latency.judge.contributions import CONTRIBUTIONS, UNNAMED
from latency.record.marks import Mark
from latency.record.turn import TurnRecord

Period = tuple[float, float]
"""(start, end), seconds."""

# What each stage does begins with the first mark and ends with the second, whatever the user waits for meanwhile.
WORK: tuple[tuple[str, Mark, Mark], ...] = (
    ("endpointing_wait", Mark.SPEECH_END, Mark.VAD_STOP),
    ("transcription", Mark.VAD_STOP, Mark.TRANSCRIPT_FINAL),
    ("turn_detection", Mark.VAD_STOP, Mark.TURN_COMMIT),
    ("llm_inference", Mark.LLM_REQUEST, Mark.LLM_FIRST_TOKEN),
    ("sentence_aggregation", Mark.LLM_FIRST_TOKEN, Mark.CLAUSE_READY),
    ("tier_hold", Mark.CLAUSE_READY, Mark.CLAUSE_TO_TTS),
    ("speech_synthesis", Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE),
    ("output_transport", Mark.TTS_FIRST_SAMPLE, Mark.FIRST_SENT),
    ("playout", Mark.FIRST_SENT, Mark.FIRST_AUDIBLE),
)
OF_THE_MODEL = ("llm_inference", "sentence_aggregation", "tier_hold")
"""Stages that end with words for synthesis."""
_SHORTEST = 1e-6
"""Seconds; marks are rounded to this."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a turn."""

    key: str
    """A contribution's key."""
    work: Period | None
    """From its beginning to its end; None when an end is unknown."""
    path: tuple[Period, ...]
    """The part of the critical path that is this stage's; several stretches only where no stage is named."""

    @property
    def waited(self) -> float:
        """Seconds of the turn's latency that are this stage's."""
        return sum(end - start for start, end in self.path)


def stages(turn: TurnRecord) -> tuple[Stage, ...]:
    """The stages that took time, in the order of a turn; last the time that none of them accounts for."""
    paths: dict[str, list[Period]] = {}
    for passage in turn.passages():
        if passage.end - passage.start > _SHORTEST:
            paths.setdefault(passage.key or UNNAMED, []).append((passage.start, passage.end))
    work = _work(turn)
    found = (Stage(key, work.get(key), tuple(paths.get(key, ()))) for key in CONTRIBUTIONS)
    return tuple(stage for stage in found if stage.work or stage.path)


def waiting_for(turn: TurnRecord, start: float, end: float) -> str | None:
    """Key of the stage that the user waited for most between two instants; None when it was none."""
    shares = {stage.key: sum(overlap(part, (start, end)) for part in stage.path) for stage in stages(turn)}
    most = max(shares, key=lambda key: shares[key], default=None)
    return most if most is not None and shares[most] > 0 else None


def overlap(one: Period, other: Period) -> float:
    """Seconds that two stretches share."""
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))


def _work(turn: TurnRecord) -> dict[str, Period]:
    instants = dict(turn.marks)
    if turn.end is not None:
        instants[Mark.SPEECH_END] = turn.end
    if Mark.CLAUSE_READY not in instants and Mark.CLAUSE_TO_TTS in instants:
        # Only a policy over several models ever holds a clause.
        instants[Mark.CLAUSE_READY] = instants[Mark.CLAUSE_TO_TTS]
    known = {key: (instants[a], instants[b]) for key, a, b in WORK if a in instants and b in instants}
    return {key: (start, end) for key, (start, end) in known.items() if end - start > _SHORTEST}
