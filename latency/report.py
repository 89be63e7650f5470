"""A run's figures, data only: derived from the run folder alone, every duration from the recording or from marks.

The first fields of `Report`, up to `thresholds`, are the keys of `latency report --json`, in order. Counts are counts
of turns; durations end in `_ms`; what is unknown is None.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from latency.attempts import Llm, Speculation, llm_figures, speculation_figures
from latency.budget import Budget
from latency.outcome import Outcome, SessionOutcome, judge_session
from latency.run import SCHEMA, Run
from latency.scoring import word_error_rate
from latency.session import PacingFigures, Session
from latency.stats import Distribution, Spread
from latency.thresholds import Judgement, Threshold
from latency.turn import CONTRIBUTIONS, TurnRecord

RESIDUAL_FLAG_MS = 20.0
"""A turn whose marks leave more than this unexplained is flagged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How many turns there were, and what became of those that want an answer."""

    total: int
    expected: int
    """Turns that want an answer: answered plus unanswered."""
    answered: int
    answers_ok: int | None
    """Right answers; None when no turn says what a right answer contains."""
    unanswered: dict[str, int]
    """How many turns went unanswered for which reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BargeIn:
    """Scripted interruptions of an audible bot, and interruptions nobody meant."""

    n: int
    stop_p50_ms: float | None
    stop_p95_ms: float | None
    false: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What must not be paid for latency; None without a recording."""

    cut_offs: int | None
    pauses: int | None
    false_cut_off_rate: float | None
    """Pauses in which the bot spoke or the server took the turn for finished, of all pauses."""
    gaps: int | None
    wer: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the providers charge; None when no price is known."""

    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual(Spread):
    """What the marks leave unexplained of the recorded latencies, ms; `flagged` turns exceed 20 ms."""

    flagged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of a run, and below them what a person needs beside the figures."""

    schema: int
    truth: Literal["labelled", "estimated"]
    simulated: tuple[str, ...]
    turns: Turns
    turn_ms: Distribution
    """Warm turns that were no barge-in."""
    turn_ms_cold: Distribution
    """First turns of a server's process."""
    turn_ms_detected_complete: Distribution
    """Those of `turn_ms` that the turn detector took for complete."""
    turn_ms_fallback: Distribution
    """Those of `turn_ms` that waited for the fallback silence."""
    answer_ms: Distribution
    """The same as `turn_ms` to the answer itself, where opening words may come first."""
    contributions_ms: dict[str, Spread]
    llm: Llm
    barge_in: BargeIn
    quality: Quality
    speculation: Speculation
    cost: Cost
    residual_ms: Residual | None
    pacing: PacingFigures
    thresholds: tuple[Judgement, ...] = ()

    run: str
    components: Mapping[str, str]
    turn_ms_barge_in: Distribution
    """Turns that interrupted the bot."""
    whole_answer_ms: Distribution
    """The same as `turn_ms` to the end of answers that were heard to their end."""
    sessions: tuple[SessionOutcome, ...]
    scored: int
    """Turns whose answer can be called right or wrong."""
    notes: tuple[str, ...] = field(default=())

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every turn of every session, in order."""
        return tuple(outcome for session in self.sessions for outcome in session.outcomes)


def build(run: Run, thresholds: Sequence[Threshold] = ()) -> Report:
    """Derive the figures of a run and hold the thresholds against them.

    Raises:
        RunError: A recording is there but cannot be read.
    """
    sessions = tuple(_judged_sessions(run))
    outcomes = [outcome for session in sessions for outcome in session.outcomes]
    timed = [o for o in outcomes if o.latency is not None and o.turn.wants_answer]
    usual = [o for o in timed if not o.turn.cold and not o.turn.barge_in]
    llm, turns = run.header.pipeline.get("llm") or {}, [outcome.turn for outcome in outcomes]
    report = Report(
        schema=SCHEMA,
        truth="estimated" if any(turn.truth == "estimated" for turn in turns) else "labelled",
        simulated=tuple(run.header.simulated),
        turns=_turns(outcomes),
        turn_ms=_latencies(usual),
        turn_ms_cold=_latencies(o for o in timed if o.turn.cold),
        turn_ms_detected_complete=_latencies(o for o in usual if o.turn.ended_by == "smart_turn"),
        turn_ms_fallback=_latencies(o for o in usual if o.turn.ended_by in ("fallback", "timeout")),
        answer_ms=Distribution.of(o.answer for o in usual if o.answer is not None),
        contributions_ms=_contributions(o.turn for o in usual),
        llm=llm_figures(turns, budget=_llm_budget(llm), policy=llm.get("policy")),
        barge_in=_barge_in(sessions),
        quality=_quality(sessions),
        speculation=speculation_figures(turns),
        cost=Cost(),
        residual_ms=_residual(timed),
        pacing=PacingFigures.of([s.session for s in sessions]),
        run=str(run.folder),
        components=run.header.components,
        turn_ms_barge_in=_latencies(o for o in timed if o.turn.barge_in and not o.turn.cold),
        whole_answer_ms=Distribution.of(o.whole for o in usual if o.whole is not None),
        sessions=sessions,
        scored=sum(o.right is not None for o in outcomes),
        notes=run.notes,
    )
    return replace(report, thresholds=tuple(threshold.judge(report) for threshold in thresholds))


def _judged_sessions(run: Run) -> Iterable[SessionOutcome]:
    # A run that was killed has turns of a session that run.json does not list yet.
    sessions = {session.name: session for session in run.sessions}
    for name in dict.fromkeys(turn.session for turn in run.turns):
        sessions.setdefault(name, Session(name=name))
    for session in sessions.values():
        turns = sorted((turn for turn in run.turns if turn.session == session.name), key=lambda turn: turn.turn)
        yield judge_session(session, turns, run.recording(session))


def _latencies(outcomes: Iterable[Outcome]) -> Distribution:
    return Distribution.of(outcome.latency for outcome in outcomes if outcome.latency is not None)


def _turns(outcomes: Sequence[Outcome]) -> Turns:
    expected = [outcome for outcome in outcomes if outcome.turn.wants_answer]
    scored = [outcome.right for outcome in expected if outcome.right is not None]
    return Turns(
        total=len(outcomes),
        expected=len(expected),
        answered=sum(outcome.answered for outcome in expected),
        answers_ok=sum(scored) if scored else None,
        unanswered=dict(Counter(str(outcome.unanswered) for outcome in expected if outcome.unanswered)),
    )


def _contributions(turns: Iterable[TurnRecord]) -> dict[str, Spread]:
    split = [turn.contributions() for turn in turns]
    return {key: Spread.of(p for parts in split if (p := parts[key]) is not None) for key in CONTRIBUTIONS}


def _llm_budget(llm: Mapping[str, Any]) -> float:
    budget_ms = llm.get("budget_ms")
    return Budget().llm if budget_ms is None else float(budget_ms) / 1000


def _barge_in(sessions: Sequence[SessionOutcome]) -> BargeIn:
    stops = [o.barge_in_stop for session in sessions for o in session.outcomes if o.barge_in_stop is not None]
    spread = Spread.of(stops)
    recorded = [session for session in sessions if session.recorded]
    return BargeIn(
        n=spread.n,
        stop_p50_ms=spread.p50,
        stop_p95_ms=spread.p95,
        false=sum(session.false_barge_ins for session in recorded) if recorded else None,
    )


def _quality(sessions: Sequence[SessionOutcome]) -> Quality:
    recorded = [session for session in sessions if session.recorded]
    outcomes = [outcome for session in recorded for outcome in session.outcomes]
    pauses = sum(outcome.pauses for outcome in outcomes)
    return Quality(
        cut_offs=sum(outcome.cut_off for outcome in outcomes) if outcomes else None,
        pauses=pauses if outcomes else None,
        false_cut_off_rate=round(sum(o.pauses_cut for o in outcomes) / pauses, 4) if pauses else None,
        gaps=sum(len(session.gaps) for session in recorded) if recorded else None,
        wer=_wer(sessions),
    )


def _wer(sessions: Sequence[SessionOutcome]) -> float | None:
    pairs = []
    for session in sessions:
        turns = [outcome.turn for outcome in session.outcomes]
        if any(turn.heard is not None for turn in turns):
            pairs += [(t.text, t.heard or "") for t in turns if t.text and t.speech and not t.backchannel]
    rate = word_error_rate(pairs)
    return None if rate is None else round(rate, 4)


def _residual(outcomes: Iterable[Outcome]) -> Residual | None:
    values = [outcome.residual for outcome in outcomes if outcome.residual is not None]
    if not values:
        return None
    spread = Spread.of(values)
    flagged = sum(value * 1000 > RESIDUAL_FLAG_MS for value in values)
    return Residual(n=spread.n, p50=spread.p50, p95=spread.p95, flagged=flagged)
