"""The working time of each stage of a turn, and the part of it that the user waited for.

Stages overlap: Smart Turn runs while the recogniser finishes, and a model may be asked before the turn commit. The
parts of the critical path (`TurnRecord.contributions`) never overlap, and add up to the time from the true end of the
user's speech to the first audible sample. Instants are seconds on the recording's clock.
"""

from dataclasses import dataclass

from latency.record.contributions import CONTRIBUTIONS, UNNAMED
from latency.record.marks import Mark
from latency.record.turn import TurnRecord

Period = tuple[float, float]
"""(start, end), seconds."""

# Each stage works from the first mark to the second, even if the user waits for another stage.
WORK: tuple[tuple[str, Mark, Mark], ...] = (
    ("endpointing_wait", Mark.SPEECH_END, Mark.SILENT_ENOUGH),
    ("transcription", Mark.VAD_STOP, Mark.TRANSCRIPT_FINAL),
    ("turn_detection", Mark.VAD_STOP, Mark.TURN_COMMIT),
    ("llm_inference", Mark.LLM_REQUEST, Mark.LLM_FIRST_TOKEN),
    ("tool", Mark.TOOL_CALLED, Mark.TOOL_RETURNED),
    ("sentence_aggregation", Mark.LLM_FIRST_TOKEN, Mark.CLAUSE_READY),
    ("tier_hold", Mark.CLAUSE_READY, Mark.CLAUSE_TO_TTS),
    ("speech_synthesis", Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE),
    ("output_transport", Mark.TTS_FIRST_SAMPLE, Mark.FIRST_SENT),
    ("playout", Mark.FIRST_SENT, Mark.FIRST_AUDIBLE),
)
OF_THE_MODEL = ("llm_inference", "sentence_aggregation", "tier_hold")
"""Stages that end with text for synthesis."""
_SHORTEST = 1e-6
"""Seconds; marks are rounded to this."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a turn."""

    key: str
    """A contribution's key."""
    work: Period | None
    """From its start to its end; None when one of them is unknown."""
    path: tuple[Period, ...]
    """This stage's part of the critical path; the unnamed stage, and a model that called tools, have several."""

    @property
    def waited(self) -> float:
        """Seconds of the turn's latency that this stage accounts for."""
        return sum(end - start for start, end in self.path)


def stages(turn: TurnRecord) -> tuple[Stage, ...]:
    """The stages that took time, in the order of a turn, and finally the time that none of them accounts for."""
    paths: dict[str, list[Period]] = {}
    for step in turn.steps():
        if step.seconds > _SHORTEST:
            paths.setdefault(step.key or UNNAMED, []).append((step.start, step.end))
    instants = dict(turn.marks)
    if turn.end is not None:
        instants[Mark.SPEECH_END] = turn.end
    if Mark.VAD_STOP in instants:
        instants[Mark.SILENT_ENOUGH] = max(instants[Mark.VAD_STOP], instants.get(Mark.SILENT_ENOUGH, 0.0))
    if Mark.CLAUSE_TO_TTS in instants:
        # Only a policy over several tiers holds a clause.
        instants.setdefault(Mark.CLAUSE_READY, instants[Mark.CLAUSE_TO_TTS])
    known = {key: (instants[a], instants[b]) for key, a, b in WORK if a in instants and b in instants}
    work = {key: (start, end) for key, (start, end) in known.items() if end - start > _SHORTEST}
    found = (Stage(key, work.get(key), tuple(paths.get(key, ()))) for key in CONTRIBUTIONS)
    return tuple(stage for stage in found if stage.work or stage.path)


def waiting_for(turn: TurnRecord, start: float, end: float) -> str | None:
    """Key of the stage that the user waited for longest between two instants; None without one."""
    shares = {stage.key: sum(overlap(part, (start, end)) for part in stage.path) for stage in stages(turn)}
    most = max(shares, key=lambda key: shares[key], default=None)
    return most if most is not None and shares[most] > 0 else None


def overlap(one: Period, other: Period) -> float:
    """Seconds that two periods share."""
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
