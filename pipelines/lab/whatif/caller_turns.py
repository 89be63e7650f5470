"""Callers' turns: the parts of a turn that do not depend on the language model, read from a recorded run. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from latency.budget import DETECTOR_LAG
from latency.record.marks import Mark
from latency.record.run import Run, RunError
from latency.record.turn import TurnRecord
from pipelines.settings import Turns, Vad
from voice.turns.speculation import LEAST_APART

SYNTHESIS, RELEASE, PLAYOUT = 0.06, 0.02, 0.05
"""Assumed seconds where no turn of the run shows them: the share of synthesis; the others are round figures."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """A speculative answer that was not used; instants in seconds after the true end of the caller's speech."""

    asked: float
    dropped: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerTurn:
    """One turn; instants in seconds after the true end of the caller's speech, durations in seconds."""

    commit: float
    """When the turn was committed."""
    asked: float
    """When its answer was requested: before the commit if it was speculative, else at it."""
    discarded: tuple[Discarded, ...] = ()
    """Earlier speculative answers, which were not used."""
    noticed: float | None = None
    """The end of speech by the server's estimate; None if it had none, so the turn's total sets no limit."""
    hinted: float | None = None
    """When the server first knew that end, from a short silence; None: from the commit on."""
    ahead: bool = True
    """Whether the first clause of a speculative answer is synthesised before the commit."""
    synthesis: float = 0.0
    """From a clause to its first sample."""
    release: float = 0.0
    """From the commit to the first sample of a clause that was synthesised before it."""
    playout: float = 0.0
    """From the first sample to the loudspeaker."""
    speech: float
    """How long the caller spoke."""
    question: str = ""
    """The caller's words, whose tokens are billed."""
    answer: str
    """What is answered."""

    @property
    def lead(self) -> float:
        """How long before the commit its answer was requested."""
        return self.commit - self.asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The turns of a run, and the number of those left out."""

    turns: tuple[CallerTurn, ...]
    records: tuple[TurnRecord, ...]
    """The place of each turn in the run."""
    left_out: int
    """Turns that want an answer but were cold, interruptions or cut off, or lack needed instants."""


@dataclass(frozen=True, slots=True)
class _Pipeline:
    stop: float
    hint: float
    ahead: bool


def recording(run: Run) -> Recording:
    """The turns of a run that can be held again.

    Raises:
        RunError: none can (exit status 3).
    """
    wanted = [turn for turn in run.turns if turn.wants_answer]
    usable = [turn for turn in wanted if _is_usable(turn)]
    if not usable:
        why = "has no answered turn whose instants are known; replay a recording first"
        raise RunError(f"{run.folder} {why}", exit_code=3)
    pipeline = _pipeline(run.header.pipeline)
    stages = _Stages.of(usable)
    turns = tuple(_caller_turn(turn, pipeline, stages) for turn in usable)
    return Recording(turns=turns, records=tuple(usable), left_out=len(wanted) - len(turns))


def _is_usable(turn: TurnRecord) -> bool:
    marks, end = turn.marks, turn.end
    needed = (Mark.TURN_COMMIT, Mark.LLM_REQUEST)
    if turn.cold or turn.barge_in or not turn.said or end is None or any(mark not in marks for mark in needed):
        return False
    return marks[Mark.TURN_COMMIT] >= end


@dataclass(frozen=True, slots=True)
class _Stages:
    """Usual durations of a run, for turns that do not show their own."""

    synthesis: float
    release: float
    playout: float

    @classmethod
    def of(cls, turns: Sequence[TurnRecord]) -> "_Stages":
        def usual(known: Iterable[float | None], otherwise: float) -> float:
            values = [value for value in known if value is not None]
            return median(values) if values else otherwise

        return cls(
            synthesis=usual(map(_synthesis, turns), SYNTHESIS),
            release=usual(map(_release, turns), RELEASE),
            playout=usual(map(_playout, turns), PLAYOUT),
        )


def _caller_turn(turn: TurnRecord, pipeline: _Pipeline, stages: _Stages) -> CallerTurn:
    marks = turn.marks
    start, end = turn.start, turn.end
    assert start is not None
    assert end is not None
    asked = min(marks[Mark.LLM_REQUEST], marks[Mark.TURN_COMMIT]) - end
    hinted, stopped = marks.get(Mark.EAGER_HINT), marks.get(Mark.VAD_STOP)
    noticed = None if stopped is None else stopped - pipeline.stop - DETECTOR_LAG
    if noticed is None and hinted is not None:
        noticed = hinted - pipeline.hint - DETECTOR_LAG
    known = hinted if hinted is not None else stopped
    synthesis, release, playout = _synthesis(turn), _release(turn), _playout(turn)
    return CallerTurn(
        commit=round(marks[Mark.TURN_COMMIT] - end, 4),
        asked=round(asked, 4),
        discarded=tuple(_discarded(turn, end, asked)),
        noticed=None if noticed is None else round(noticed - end, 4),
        hinted=None if known is None else round(known - end, 4),
        ahead=pipeline.ahead,
        synthesis=round(stages.synthesis if synthesis is None else synthesis, 4),
        release=round(stages.release if release is None else release, 4),
        playout=round(stages.playout if playout is None else playout, 4),
        speech=round(end - start, 4),
        question=turn.heard or turn.text or "",
        answer=turn.said or "",
    )


def _discarded(turn: TurnRecord, end: float, asked: float) -> Iterator[Discarded]:
    """Speculative answers that were not used."""
    dropped = 0
    for server_turn in turn.server_turns:
        for answer in server_turn.responses:
            own = [one for one in server_turn.attempts if one.response == answer.response]
            begun = [one.request for one in own if one.request is not None]
            over = [one.end for one in own if one.end is not None]
            if not answer.is_committed and begun and over and min(begun) - end < asked:
                dropped += 1
                yield Discarded(round(min(begun) - end, 4), round(max(over) - end, 4))
        if not server_turn.responses and server_turn.speculation:
            # A responder's requests are not recorded one by one; they are assumed as close together as possible.
            for number in range(server_turn.speculation.discarded):
                before = asked - LEAST_APART * (number + 1)
                yield Discarded(round(before, 4), round(before + LEAST_APART, 4))


def _is_prepared(turn: TurnRecord) -> bool:
    """Whether the answer's first clause was synthesised before the commit."""
    last = turn.server_turns[-1] if turn.server_turns else None
    return bool(last and last.speculation and last.speculation.spoken_ahead)


def _synthesis(turn: TurnRecord) -> float | None:
    if _is_prepared(turn):
        return None
    return _between(turn, Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE)


def _release(turn: TurnRecord) -> float | None:
    return _between(turn, Mark.TURN_COMMIT, Mark.TTS_FIRST_SAMPLE) if _is_prepared(turn) else None


def _playout(turn: TurnRecord) -> float | None:
    return _between(turn, Mark.TTS_FIRST_SAMPLE, Mark.FIRST_AUDIBLE)


def _between(turn: TurnRecord, first: Mark, last: Mark) -> float | None:
    begin, end = turn.marks.get(first), turn.marks.get(last)
    return None if begin is None or end is None else max(0.0, end - begin)


def _pipeline(settings: Any) -> _Pipeline:
    """The silences in the settings of the run's pipeline, seconds."""
    vad, turns = settings.get("vad") or {}, settings.get("turns") or {}
    return _Pipeline(
        stop=vad.get("stop_ms", Vad().stop_ms) / 1000,
        hint=turns.get("hint_ms", Turns().hint_ms) / 1000,
        ahead=turns.get("speculation", Turns().speculation) in ("llm+tts", "early"),
    )
