"""A run's figures, as data only: derived from the run folder alone, with durations from the recording or from marks.

`build` judges the sessions of a run folder, summarises their outcomes, and holds them against the checks.

The first fields of `Report`, up to `thresholds`, are the keys of `latency report --json`, in order. Counts are counts
of turns; durations end in `_ms`; unknown values are None.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from latency.budget import LATE_FRAME_MS, Budget, BudgetError
from latency.judge.session import SessionOutcome, TurnAccount, accounts, judge_session
from latency.judge.turn import Outcome
from latency.judge.unexplained import Unexplained, unexplained_turns
from latency.record.contributions import CONTRIBUTIONS
from latency.record.json_form import visible
from latency.record.load_test import ObservedLoad
from latency.record.run import Run, RunError, RunHeader
from latency.record.session import Session
from latency.record.turn import JUDGED_COMPLETE, TurnRecord, TurnStall
from latency.report import turn_figures
from latency.report.checks import Check, CheckResult
from latency.report.llm.cost import Cost, cost_figures
from latency.report.llm.figures import Llm, llm_figures
from latency.report.llm.requests import simulated_models
from latency.report.llm.speculation import Speculation, speculation_figures
from latency.report.load_test import LoadFigures, load_figures
from latency.report.stats import Distribution, Spread
from latency.report.turn_taking import TurnTaking, turn_taking

SCHEMA = 1
"""Version of the report's JSON."""
SYNTHESISER = "sim:"
"""The beginning of a synthetic speaker's name."""
NO_MODEL = "no language model"
"""The name of the responder, which answers by rules, among the components."""
HOST = ("platform", "python", "cpus", "load_before", "load_after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of a run, followed by facts for their interpretation."""

    schema: int
    truth: Literal["labelled", "estimated"]
    simulated: tuple[str, ...]
    turns: turn_figures.TurnCounts
    turn_ms: Distribution
    """Warm turns that were neither a barge-in nor cut off."""
    turn_ms_cold: Distribution
    """First turns of a server's process."""
    turn_ms_detected_complete: Distribution
    """Those of `turn_ms` that were judged complete at once."""
    turn_ms_fallback: Distribution
    """Those of `turn_ms` that a silence timeout (`turns.fallback_ms`) or the watchdog ended."""
    answer_ms: Distribution
    """Like `turn_ms`, but to the answer itself, which opening words may precede."""
    contributions_ms: dict[str, Spread]
    llm: Llm
    barge_in: turn_figures.BargeInFigures
    quality: turn_figures.Quality
    speculation: Speculation
    cost: Cost
    residual_ms: turn_figures.Residual | None
    pacing: turn_figures.PacingFigures
    turn_taking: TurnTaking
    """Scores as other benchmarks define them."""
    thresholds: tuple[CheckResult, ...] = ()
    """The checks and their verdicts."""

    run: str
    header: RunHeader
    turn_ms_barge_in: Distribution
    """Turns that interrupted the bot."""
    whole_answer_ms: Distribution
    """Like `turn_ms`, but to the end of answers that were played to their end."""
    sessions: tuple[SessionOutcome, ...]
    scored: int
    """Turns with an answer that can be judged right or wrong."""
    notes: tuple[str, ...] = field(default=())
    late_turns: int
    """Turns with audio sent more than 20 ms late: flagged, not dropped."""
    refused: str | None
    """Why the latencies of this run are not credible, in one sentence; None when they are."""
    watched: bool
    """Whether the server's event loop was watched for stalls."""
    stalls: tuple[TurnStall, ...]
    """Stalls of the server's event loop of at least 20 ms, in order."""
    unexplained: tuple[Unexplained, ...]
    """The turns flagged in `residual_ms`, with the place of the unexplained time."""
    load: LoadFigures | None
    """Figures by caller and by number of calls at once; None if the calls were not a load test."""
    accounts: tuple[TurnAccount, ...] = ()
    """The end of each turn of a run with injected faults; empty for an ordinary run."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every turn of every session, in order."""
        return tuple(outcome for session in self.sessions for outcome in session.outcomes)

    def name_of(self, session: str, turn: int) -> str:
        """A turn's number, with its session if there are several."""
        return f"{session} {turn}" if len(self.sessions) > 1 else str(turn)

    @property
    def by_recording_alone(self) -> bool:
        """Whether the agent is another's, of which nothing is known but the recording."""
        return self.header.components.keys() == {"agent"}

    @property
    def has_latencies(self) -> bool:
        """Whether any turn has a latency."""
        return any(one.n for one in (self.turn_ms, self.turn_ms_cold, self.turn_ms_barge_in))

    @property
    def host(self) -> dict[str, Any]:
        """The machine, by the keys of `HOST`; loads are averages of a minute. None where unknown."""
        return {key: self.header.host.get(key) for key in HOST}

    @property
    def recordings(self) -> frozenset[tuple[str, str | None]]:
        """The recordings that were played, by name and checksum, however often."""
        played = (one.session for one in self.sessions)
        return frozenset(
            (f"{one.scenario}/{name}", checksum) for one in played for name, checksum in one.fixtures.items()
        )

    @property
    def rests_on(self) -> tuple[str, ...]:
        """The limits of the evidence: synthetic callers, a closed set of requests, no language model."""
        speakers = {outcome.turn.speaker for outcome in self.outcomes if outcome.turn.speaker}
        synthetic = sum(speaker.startswith(SYNTHESISER) for speaker in speakers)
        callers = f"{synthetic} synthetic caller{'' if synthetic == 1 else 's'}"
        if synthetic < len(speakers):
            callers = f"{synthetic} synthetic of {len(speakers)} callers"
        has_model = NO_MODEL not in self.header.components.get("llm", "")
        limited = () if has_model else ("a closed set of requests", "no language model")
        return ((callers,) if synthetic else ()) + limited

    @property
    def is_unanswered(self) -> bool:
        """Whether turns want an answer and none is known to have got one."""
        return self.turns.expected > 0 and not self.turns.answered

    @property
    def only_cold(self) -> bool:
        """Whether the only turn with a latency was the first of its process, so that no warm one has a figure."""
        return self.turn_ms_cold.n == 1 and not (self.turn_ms.total or self.turn_ms_barge_in.total)


def build(run: Run, checks: Sequence[Check] = (), baseline: Report | None = None) -> Report:
    """Derive the figures of a run and judge the checks; for a refused run, only those that need no clock.

    Args:
        checks: Limits on the figures.
        baseline: The run that limits may depend on.

    Raises:
        RunError: A recording is there but cannot be read.
    """
    sessions = tuple(_judged_sessions(run))
    outcomes = [outcome for session in sessions for outcome in session.outcomes]
    usual = [o for o in outcomes if o.is_usual]
    timed = [o for o in outcomes if o.latency is not None and o.turn.wants_answer]
    split = [o.turn.contributions() for o in usual if o.is_timed]
    observed = ObservedLoad.read(run.folder)
    settings = run.header.pipeline.get("llm")
    llm: Mapping[str, Any] = settings if isinstance(settings, Mapping) else {}
    turns = [outcome.turn for outcome in outcomes]
    pacing = turn_figures.PacingFigures.of([s.session for s in sessions])
    report = Report(
        schema=SCHEMA,
        truth="estimated" if any(turn.truth == "estimated" for turn in turns) else "labelled",
        simulated=(*run.header.simulated, *simulated_models(turns, run.header.simulated)),
        turns=turn_figures.turn_counts(outcomes),
        turn_ms=turn_figures.turn_latencies(usual),
        turn_ms_cold=turn_figures.turn_latencies(o for o in outcomes if o.turn.cold),
        turn_ms_detected_complete=turn_figures.turn_latencies(o for o in usual if o.turn.ended_by in JUDGED_COMPLETE),
        turn_ms_fallback=turn_figures.turn_latencies(o for o in usual if o.turn.ended_by in ("fallback", "timeout")),
        answer_ms=Distribution.of(
            (o.answer for o in usual if o.is_timed and o.answer is not None),
            unanswered=sum(o.is_unanswered for o in usual),
        ),
        contributions_ms={
            key: Spread.of(p for parts in split if (p := parts[key]) is not None) for key in CONTRIBUTIONS
        },
        llm=llm_figures(turns, budget=_llm_budget(llm), policy=llm.get("policy")),
        barge_in=turn_figures.barge_ins(sessions),
        quality=turn_figures.quality(sessions, scripted="scripted:" in run.header.components.get("asr", "")),
        speculation=speculation_figures(turns),
        cost=cost_figures(turns),
        residual_ms=turn_figures.residual(timed),
        pacing=pacing,
        turn_taking=turn_taking(outcomes),
        run=visible(str(run.folder)),
        header=run.header,
        turn_ms_barge_in=turn_figures.turn_latencies(o for o in outcomes if o.turn.barge_in and not o.turn.cold),
        whole_answer_ms=Distribution.of(o.whole for o in usual if o.is_timed and o.whole is not None),
        sessions=sessions,
        scored=sum(o.right is not None for o in outcomes),
        notes=run.notes,
        late_turns=sum((turn.late_ms_max or 0.0) > LATE_FRAME_MS for turn in turns),
        refused=pacing.refusal,
        watched=any(turn.watched for turn in turns),
        stalls=tuple(_stalls(sessions)),
        unexplained=tuple(unexplained_turns(timed)),
        load=load_figures(observed, sessions) if observed else None,
        accounts=() if run.header.chaos is None else accounts(sessions, budget=_llm_budget(llm)),
    )
    return replace(report, thresholds=tuple(check.judge(report, baseline) for check in checks))


def _judged_sessions(run: Run) -> Iterable[SessionOutcome]:
    # A killed run has turns of a session that run.json does not list yet.
    sessions = {session.name: session for session in run.sessions}
    spoken: dict[str, list[TurnRecord]] = {name: [] for name in sessions}
    for turn in sorted(run.turns, key=lambda turn: turn.turn):
        spoken.setdefault(turn.session, []).append(turn)
    for name in dict.fromkeys(turn.session for turn in run.turns):
        sessions.setdefault(name, Session(name=name))

    def judge(session: Session) -> SessionOutcome:
        turns = spoken[session.name]
        is_whole = session.name not in run.incomplete_sessions
        judged = judge_session(session, turns, run.recording(session), is_whole=is_whole)
        return _until(judged, run.recorded_until.get(session.name))

    # Nearly all of the time for a large run goes into its recordings, and numpy lets other threads run meanwhile.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(judge, sessions.values())


def _until(judged: SessionOutcome, end: float | None) -> SessionOutcome:
    """The session, in which turns beyond the end of a truncated recording count as not recorded."""
    if end is None:
        return judged
    turns = [outcome.turn for outcome in judged.outcomes]
    starts = [*(turn.start for turn in turns), math.inf]
    horizons = [next(at for at in starts[position + 1 :] if at is not None) for position in range(len(turns))]
    lost = [turn for turn, horizon in zip(turns, horizons, strict=True) if horizon > end]
    instead = {id(one.turn): one for one in judge_session(judged.session, lost, None).outcomes}
    return replace(judged, outcomes=tuple(instead.get(id(one.turn), one) for one in judged.outcomes))


def _stalls(sessions: Iterable[SessionOutcome]) -> Iterable[TurnStall]:
    for session in sessions:
        for turn in (outcome.turn for outcome in session.outcomes):
            for stall in turn.stalls:
                begun = turn.start is None or stall.at >= turn.start or turn.turn > 0
                number = turn.turn if begun else None
                yield TurnStall(at=stall.at, ms=stall.ms, kind=stall.kind, session=session.session.name, turn=number)


def _llm_budget(llm: Mapping[str, Any]) -> float:
    budget_ms = llm.get("budget_ms")
    if not isinstance(budget_ms, int | float):
        return Budget().llm
    try:
        return Budget.with_llm(budget_ms / 1000).llm
    except BudgetError as error:
        raise RunError(f"run.json is not a file of a run: {error}") from error
