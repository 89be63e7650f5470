"""The parts of a turn's latency, from the end of speech through the known instants to the first sound."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from latency.record.marks import Mark

# Each contribution runs between two instants. The keys are those of pipecat's UserBotLatencyObserver; "playout" is our
# own, because pipecat's clock stops at the server's queue.
_STAGES: tuple[tuple[str, Mark, Mark], ...] = (
    ("endpointing_wait", Mark.SPEECH_END, Mark.VAD_STOP),
    ("transcription", Mark.VAD_STOP, Mark.TRANSCRIPT_FINAL),
    ("turn_detection", Mark.TRANSCRIPT_FINAL, Mark.TURN_COMMIT),
    ("llm_inference", Mark.TURN_COMMIT, Mark.LLM_FIRST_TOKEN),
    ("sentence_aggregation", Mark.LLM_FIRST_TOKEN, Mark.CLAUSE_READY),
    ("tier_hold", Mark.CLAUSE_READY, Mark.CLAUSE_TO_TTS),
    ("speech_synthesis", Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE),
    ("output_transport", Mark.TTS_FIRST_SAMPLE, Mark.FIRST_SENT),
    ("playout", Mark.FIRST_SENT, Mark.FIRST_AUDIBLE),
)
STAGES_WITH_TOOLS: tuple[tuple[str, Mark, Mark], ...] = tuple(
    part
    for stage in _STAGES
    for part in (
        (
            ("llm_inference", Mark.TURN_COMMIT, Mark.TOOL_CALLED),
            ("tool", Mark.TOOL_CALLED, Mark.TOOL_RETURNED),
            ("llm_inference", Mark.TOOL_RETURNED, Mark.LLM_FIRST_TOKEN),
        )
        if stage[0] == "llm_inference"
        else (stage,)
    )
)
"""The same in a turn whose answer waits for tools: the model works before and after them."""
STAGE_ENDS: tuple[Mark, ...] = (Mark.SPEECH_END, *(end for _, _, end in _STAGES))
"""The instants that end a stage, in the order of a turn."""
STAGE_ENDS_WITH_TOOLS: tuple[Mark, ...] = (Mark.SPEECH_END, *(end for _, _, end in STAGES_WITH_TOOLS))
UNNAMED = "pipeline"
"""The key of time that no stage accounts for."""

CONTRIBUTIONS = (*dict.fromkeys(key for key, _, _ in STAGES_WITH_TOOLS), UNNAMED)
"""Every contribution key, in the order of a turn."""


RECORDED: Literal["recorded"] = "recorded"
"""The first audible sample of the answer in the recording."""


class Step(NamedTuple):
    """The part of a turn from one known instant to the next, seconds; steps never overlap."""

    key: str | None
    """Its contribution; None when an instant between the two is unknown, so that no stage accounts for it."""
    after: Mark
    before: Mark | Literal["recorded"]
    start: float
    """When `after` happened, or the end of the stage that it waited for."""
    end: float
    """When `before` happened; earlier than `start` only where the marks add up to more than was recorded."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


def known_instants(marks: Mapping[Mark, float], *, speech_end: float | None) -> dict[Mark, float]:
    """The marks of a turn and the instants that follow from them; a labelled end of speech replaces the server's.

    Until the silence was long enough, the user waited for it, even if other stages were still at work.
    """
    instants = dict(marks)
    if speech_end is not None:
        instants[Mark.SPEECH_END] = speech_end
    if Mark.SILENT_ENOUGH in instants and Mark.VAD_STOP in instants:
        instants[Mark.VAD_STOP] = max(instants[Mark.VAD_STOP], instants[Mark.SILENT_ENOUGH])
    bridge, token = instants.get(Mark.CLAUSE_TO_TTS), instants.get(Mark.LLM_FIRST_TOKEN)
    if bridge is not None and token is not None:
        # A phrase that was spoken before the model's first token ended the wait for the model.
        instants[Mark.LLM_FIRST_TOKEN] = min(token, bridge)
    if bridge is not None:
        for tool in (Mark.TOOL_CALLED, Mark.TOOL_RETURNED):
            if tool in instants:
                # A phrase said while a tool ran ended the wait for it.
                instants[tool] = min(instants[tool], bridge)
        # This mark exists only where a policy may hold a clause.
        instants[Mark.CLAUSE_READY] = min(instants.get(Mark.CLAUSE_READY, bridge), bridge)
    return instants


def steps(instants: Mapping[Mark, float]) -> list[Step]:
    """The steps between known instants, in order, from the first instant at which a stage starts or ends."""
    found: list[Step] = []
    reached, at = instants.get(Mark.SPEECH_END), Mark.SPEECH_END
    for key, start, end in STAGES_WITH_TOOLS if Mark.TOOL_RETURNED in instants else _STAGES:
        if end not in instants:
            continue
        # Instants are in the order of their stages, so one that came early is moved to the end of the stage before it.
        arrived = instants[end] if reached is None else max(reached, instants[end])
        if reached is not None:
            found.append(Step(key if start in instants else None, at, end, reached, arrived))
        if arrived == instants[end]:
            at = end
        reached = arrived
    return found


def contributions(instants: Mapping[Mark, float]) -> dict[str, float | None]:
    """Seconds by contribution; see `latency.record.turn.TurnRecord.contributions`."""
    parts: dict[str, float | None] = dict.fromkeys(CONTRIBUTIONS)
    way = steps(instants)
    for step in way:
        if step.key:
            parts[step.key] = (parts[step.key] or 0.0) + step.end - step.start
    first = instants.get(Mark.SPEECH_END)
    if first is not None and Mark.FIRST_AUDIBLE in instants:
        reached = way[-1].end if way else first
        parts[UNNAMED] = reached - first - sum(part for part in parts.values() if part is not None)
    return parts
