"""A turn on a time axis that begins at the true end of the user's speech: rows of bars, data only.

Times are seconds relative to that end, negative before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from latency.judge.turn import Outcome
from latency.record.contributions import UNNAMED
from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import TurnRecord
from latency.report.critical_path import OF_THE_MODEL, Period, overlap, stages
from latency.report.explain import LIMITS, asked_ahead, ended_by
from latency.report.llm.requests import attempts_of, outcome_of, provider_remarks, speed_of

Kind = Literal["path", "work", "stream", "speech", "stall", "instant"]

LEAD = 0.1
"""Seconds shown before the end of the user's speech, at least."""
LONGEST_LEAD = 1.0
SHORTEST_TAIL = 0.9
"""Seconds shown after it, at least, so that the 800 ms line is visible."""
TAIL_MARGIN = 0.1
"""Seconds shown after the last event."""
EXCERPT_MARGIN = 0.5
"""Seconds of sound before the turn and after its answer."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of a row; an instant starts and ends at the same time."""

    start: float
    end: float
    kind: Kind
    """On the critical path, work in parallel to it, text still arriving, audible speech, a stall, or an instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallRow:
    """One line of the waterfall."""

    label: str
    group: Literal["speech", "stage", "model", "stall"]
    bars: tuple[Bar, ...]
    took: float | None = None
    """Seconds of work."""
    waited: float | None = None
    """Seconds of the turn's latency; those of all stages add up to it."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """The rows of a turn and the period to be shown; bars may reach beyond it."""

    start: float
    end: float
    rows: tuple[WaterfallRow, ...]


def waterfall(outcome: Outcome, spoken: Sequence[Period], users: Sequence[Period] = ()) -> Waterfall | None:
    """The waterfall of a turn; None for a turn without speech, which has no end to count from.

    Args:
        spoken: The bot's audible periods in the session, seconds on the recording's clock.
        users: Speech of the user in the session's other turns.
    """
    turn, zero = outcome.turn, outcome.turn.end
    if zero is None:
        return None
    rows = [*_stage_rows(turn), *_model_rows(turn), *_stall_rows(turn)]
    starts = [bar.start - zero for row in rows for bar in row.bars]
    ends = [bar.end - zero for row in rows for bar in row.bars if bar.kind != "stream"]
    start = -min(LONGEST_LEAD, max(LEAD, -min(starts, default=0.0)))
    end = max(SHORTEST_TAIL, outcome.latency or 0.0, outcome.answer or 0.0, *ends) + TAIL_MARGIN
    shown = (zero + start, zero + end)
    user = tuple(Bar(a, b, "speech") for a, b in sorted({*turn.speech, *users}) if overlap((a, b), shown))
    bot = tuple(Bar(a, b, "speech") for a, b in spoken if overlap((a, b), shown))
    heard = "" if outcome.latency is None else f"first audible after {outcome.latency * 1000:.0f} ms"
    everything = [
        WaterfallRow(label="user", group="speech", bars=user),
        *rows,
        WaterfallRow(label="bot", group="speech", bars=bot, note=heard if bot else "silent"),
    ]
    shifted = (
        replace(row, bars=tuple(Bar(bar.start - zero, bar.end - zero, bar.kind) for bar in row.bars))
        for row in everything
    )
    return Waterfall(start=start, end=end, rows=tuple(shifted))


def _stage_rows(turn: TurnRecord) -> Iterator[WaterfallRow]:
    for stage in stages(turn):
        bars = [] if stage.work is None else [Bar(*stage.work, "work")]
        bars += [Bar(*part, "path") for part in stage.path]
        yield WaterfallRow(
            label=stage.key.replace("_", " "),
            group="stage",
            bars=tuple(bars),
            took=None if stage.work is None else stage.work[1] - stage.work[0],
            waited=stage.waited,
            note=_stage_note(stage.key, turn),
        )


def _stage_note(key: str, turn: TurnRecord) -> str:
    if key != "turn_detection":
        return "no stage accounts for it" if key == UNNAMED else ""
    gave = turn.smart_turn.probability if turn.smart_turn else None
    how = None if turn.ended_by == "smart_turn" else ended_by(turn)
    judged = None if gave is None else f"Smart Turn: {gave * 100:.0f} % complete"
    return "; ".join(filter(None, (how, judged)))


def _model_rows(turn: TurnRecord) -> Iterator[WaterfallRow]:
    if (hint := turn.marks.get(Mark.EAGER_HINT)) is not None:
        yield _instant("eager hint", hint, "the turn may end")
    waited = [part for stage in stages(turn) if stage.key in OF_THE_MODEL for part in stage.path]
    for attempt in attempts_of(turn):
        yield from _attempt_row(attempt, waited if attempt in turn.attempts else [], turn.marks.get(Mark.TURN_COMMIT))
    for answer in turn.responses:
        if (deadline := answer.deadline) is not None:
            charged = f"; {answer.charged} had overspent" if answer.charged else ""
            yield _instant("LLM deadline", deadline, f"set by {LIMITS[answer.limit]}{charged}" if answer.limit else "")
        for phrase in answer.said:
            if phrase.at is not None:
                yield _instant(f"{phrase.kind} phrase", phrase.at, phrase.text)


def _instant(label: str, at: float, note: str) -> WaterfallRow:
    return WaterfallRow(label=label, group="model", bars=(Bar(at, at, "instant"),), note=note)


def _attempt_row(attempt: RequestRecord, waited: Sequence[Period], commit: float | None) -> Iterator[WaterfallRow]:
    request, clause, end = attempt.request, attempt.first_clause, attempt.end
    if request is None:
        return
    ready = next((at for at in (clause, end) if at is not None), request)
    bars = [Bar(request, ready, "work")]
    if attempt.outcome in ("spoken", "called"):
        parts = ((max(request, a), min(ready, b)) for a, b in waited)
        bars += [Bar(a, b, "path") for a, b in parts if b > a]
    if end is not None and end > ready:
        bars.append(Bar(ready, end, "stream"))
    speed = f"speed {known}" if (known := speed_of(attempt)) else ""
    notes = (outcome_of(attempt), speed, *provider_remarks(attempt), asked_ahead(request, commit))
    yield WaterfallRow(
        label=attempt.tier or "language model",
        group="model",
        bars=tuple(bars),
        took=ready - request,
        note="; ".join(filter(None, notes)),
    )


def _stall_rows(turn: TurnRecord) -> Iterator[WaterfallRow]:
    for kind in sorted({stall.kind for stall in turn.stalls}):
        found = [stall for stall in turn.stalls if stall.kind == kind]
        yield WaterfallRow(
            label=f"stall: {kind}",
            group="stall",
            bars=tuple(Bar(stall.at, stall.end, "stall") for stall in found),
            took=sum(stall.ms for stall in found) / 1000,
            note=f"{len(found)}, longest {max(stall.ms for stall in found):.0f} ms",
        )


def stretch_of(turn: TurnRecord, spoken: Sequence[Period], following: float | None, seconds: float) -> Period | None:
    """From the user's onset to the end of the answer, with a margin; None for a turn without speech.

    Args:
        spoken: The bot's audible periods in the session, seconds on the recording's clock.
        following: When the user began the next turn; None for the last.
        seconds: Length of the recording.
    """
    if turn.start is None or turn.end is None:
        return None
    last = seconds if following is None else following
    answer = [end for start, end in spoken if start < last and end > turn.start]
    end = max([turn.end, *answer])
    return max(0.0, turn.start - EXCERPT_MARGIN), min(seconds, end + EXCERPT_MARGIN)
