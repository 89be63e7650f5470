"""A run's figures, data only: derived from the run folder alone, every duration from the recording or from marks.

The first fields of `Report`, up to `thresholds`, are the keys of `latency report --json`, in order. Counts are counts
of turns; durations end in `_ms`; what is unknown is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from latency.judge.outcome import Outcome
from latency.judge.session import SessionOutcome, TurnAccount
from latency.judge.unexplained import Unexplained
from latency.record.turn import TurnStall
from latency.report.figures import BargeInFigures, PacingFigures, Quality, Residual, TurnCounts
from latency.report.llm.budget import Llm
from latency.report.llm.cost import Cost
from latency.report.llm.speculation import Speculation
from latency.report.load import LoadFigures
from latency.report.stats import Distribution, Spread
from latency.report.thresholds import CheckResult

SCHEMA = 1
"""Version of the report's JSON."""
SYNTHESISER = "sim:"
"""The beginning of the name of a speaker that is no person."""
NO_MODEL = "no language model"
"""How the responder, which answers by rules, calls itself among the components."""
HOST = ("platform", "python", "cpus", "load_before", "load_after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of a run, followed by what people need to interpret them."""

    schema: int
    truth: Literal["labelled", "estimated"]
    simulated: tuple[str, ...]
    turns: TurnCounts
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
    barge_in: BargeInFigures
    quality: Quality
    speculation: Speculation
    cost: Cost
    residual_ms: Residual | None
    pacing: PacingFigures
    thresholds: tuple[CheckResult, ...] = ()

    run: str
    components: Mapping[str, str]
    turn_ms_barge_in: Distribution
    """Turns that interrupted the bot."""
    whole_answer_ms: Distribution
    """Like `turn_ms`, but to the end of answers that were played to their end."""
    sessions: tuple[SessionOutcome, ...]
    scored: int
    """Turns whose answer can be called right or wrong."""
    notes: tuple[str, ...] = field(default=())
    created: str
    """When the run began: local time with offset, ISO 8601."""
    command: tuple[str, ...]
    versions: Mapping[str, str]
    host: Mapping[str, Any]
    """The keys of `HOST`; loads are averages of a minute. None where unknown."""
    late_turns: int
    """Turns with audio sent more than 20 ms late: flagged, not dropped."""
    refused: str | None
    """Why the latencies of this run are not credible, in one sentence; None when they are."""
    watched: bool
    """Whether the server's event loop was watched for stalls."""
    stalls: tuple[TurnStall, ...]
    """Stalls of the server's event loop of at least 20 ms, in order."""
    unexplained: tuple[Unexplained, ...]
    """The turns that are flagged in `residual_ms`, with the place of the unexplained stretch."""
    load: LoadFigures | None
    """Figures by caller and by number of calls at once; None if the calls were no load test."""
    chaos: int | None = None
    """The seed by which faults were put into the calls; None for an ordinary run."""
    accounts: tuple[TurnAccount, ...] = ()
    """What became of each turn of a run with such faults; empty for an ordinary run."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every turn of every session, in order."""
        return tuple(outcome for session in self.sessions for outcome in session.outcomes)

    @property
    def has_latencies(self) -> bool:
        """Whether any turn has a latency."""
        return any(one.n for one in (self.turn_ms, self.turn_ms_cold, self.turn_ms_barge_in))

    @property
    def rests_on(self) -> tuple[str, ...]:
        """What the figures rest on where that is less than people, their own requests and a language model."""
        speakers = {outcome.turn.speaker for outcome in self.outcomes if outcome.turn.speaker}
        synthetic = sum(speaker.startswith(SYNTHESISER) for speaker in speakers)
        callers = f"{synthetic} synthetic caller{'' if synthetic == 1 else 's'}"
        if synthetic < len(speakers):
            callers = f"{synthetic} synthetic of {len(speakers)} callers"
        limited = (
            ("a closed set of requests", "no language model") if NO_MODEL in self.components.get("llm", "") else ()
        )
        return ((callers,) if synthetic else ()) + limited

    @property
    def is_unanswered(self) -> bool:
        """Whether turns want an answer and not a single one is known to have got it."""
        return self.turns.expected > 0 and not self.turns.answered

    @property
    def only_cold(self) -> bool:
        """Whether the only turn with a latency was the first of its process, so that no warm one has a figure."""
        return self.turn_ms_cold.n == 1 and not (self.turn_ms.total or self.turn_ms_barge_in.total)
