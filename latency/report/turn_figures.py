"""A report's figures of turns: the turns whose latency counts, counts of turns, barge-in, quality, unexplained time."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from latency.budget import UNEXPLAINED
from latency.judge.answer import word_error_rate
from latency.judge.barge_in import BargeInResult, SoundResult
from latency.judge.session import SessionOutcome
from latency.judge.turn import LOST, Outcome
from latency.record.session import Session
from latency.record.turn import TurnRecord
from latency.report.stats import Distribution, Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCounts:
    """The number of turns, and the outcomes of those that want an answer."""

    total: int
    expected: int
    """Turns that want an answer: the answered and the unanswered ones."""
    answered: int
    answers_ok: int | None
    """Right answers; None when no right answer is known."""
    unanswered: dict[str, int]
    """Unanswered turns by reason."""

    @property
    def lost(self) -> int:
        """Turns whose outcome is lost."""
        return sum(self.unanswered.get(reason, 0) for reason in LOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class BargeInFigures:
    """Scripted interruptions of an audible bot, interruptions without cause, and sounds that must not interrupt."""

    n: int
    """Those that stopped the bot."""
    stop_p50_ms: float | None
    stop_p95_ms: float | None
    false: int | None
    missed: int | None
    """Those over which the bot talked on."""
    ducked_p95_ms: float | None
    """From the onset of a sound until the loudspeaker was softer."""
    sounds: dict[str, dict[str, int]]
    """Backchannels, coughs and other sounds over the bot's speech, by label and effect: it went on, was resumed, or was
    stopped."""
    own: int | None
    """Turns, including interruptions, that the agent's own voice began; None if no server reported them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordChecks:
    """Checks of the recognised words by a second pass."""

    turns: int
    """Turns with speech."""
    checked: int
    """Those with words that were checked in time."""
    changed: int
    """Those with words that matter and that were replaced."""
    late: int
    """Checks that were not done when the answer was to be heard."""
    shed: int
    """Checks that gave way to other passes."""
    withdrawn: int
    """Checks that nobody waited for: the caller went on, or was answered without a language model."""
    failed: int
    seconds: float
    """The time of the passes that were done, about their processor time."""
    held_ms_max: float | None
    """The longest wait of an answer for a check; None if none waited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Quality that latency must not cost; None without a recording."""

    cut_offs: int | None
    """Turns with an audible answer that began before the user had finished."""
    pauses: int | None
    false_cut_off_rate: float | None
    """The share of pauses in which the bot spoke or the server took the turn for finished."""
    gaps: int | None
    wer: float | None
    joined: int | None
    """Turns that were ended too early, and to which later words were joined: one message, answered again."""
    joined_heard_ms: float | None
    """The longest heard part of a first answer to one of these turns; None without any."""
    early: int | None
    """Answers that were heard less than 200 ms after the user's end."""
    outages_ms: tuple[float, ...]
    """The lengths of the client's outages; the call went on after each, or ended with it."""
    hung: dict[str, int]
    """The number of hangs by part; the caller was told, or the call was ended."""
    parts: dict[str, int]
    """Parts of long answers: the number followed by the question whether to go on (`asked`), and the number continued
    (`went_on`); empty without any."""
    checks: WordChecks | None
    """None without any; the key is then left out of the JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual(Spread):
    """The part of the recorded latencies that the marks do not explain, ms; `flagged` turns exceed 20 ms."""

    flagged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PacingFigures:
    """Whether the user's audio was sent in real time in all sessions; `ok` is None when it was not measured."""

    ok: bool | None
    frames: int
    late_over_20ms: int
    late_max_ms: float | None
    clock_ratio: float | None
    """The clock ratio of the worst session."""
    complaints: tuple[str, ...]

    @property
    def refusal(self) -> str | None:
        """Why the latencies of the run are not credible, in one sentence; None when they are."""
        if not self.complaints:
            return None
        more = f"; and {len(self.complaints) - 1} more like it" if len(self.complaints) > 1 else ""
        return f"the user's audio was not fed in real time ({self.complaints[0]}{more}): replay on a less busy machine"

    @classmethod
    def of(cls, sessions: Iterable[Session]) -> "PacingFigures":
        """Sum up the sessions; one badly paced session spoils the whole run."""
        known = [(session.name, session.pacing) for session in sessions if session.pacing is not None]
        ratios = [pacing.clock_ratio for _, pacing in known if pacing.clock_ratio is not None]
        latest = [pacing.late_max_ms for _, pacing in known if pacing.late_max_ms is not None]
        complaints = tuple(f"session {name!r}: {pacing.complaint}" for name, pacing in known if pacing.complaint)
        return cls(
            ok=not complaints if known else None,
            frames=sum(pacing.frames for _, pacing in known),
            late_over_20ms=sum(pacing.late_over_20ms for _, pacing in known),
            late_max_ms=max(latest, default=None),
            clock_ratio=max(ratios, key=lambda ratio: abs(ratio - 1), default=None),
            complaints=complaints,
        )


def turn_counts(outcomes: Sequence[Outcome]) -> TurnCounts:
    """Count the turns and their outcomes."""
    expected = [outcome for outcome in outcomes if outcome.turn.wants_answer]
    scored = [outcome.right for outcome in expected if outcome.right is not None]
    return TurnCounts(
        total=len(outcomes),
        expected=len(expected),
        answered=sum(outcome.answered for outcome in expected),
        answers_ok=sum(scored) if scored else None,
        unanswered=dict(Counter(str(outcome.unanswered) for outcome in expected if outcome.unanswered)),
    )


def turn_latencies(outcomes: Iterable[Outcome]) -> Distribution:
    """The latencies that count, and the turns without an answer."""
    found = list(outcomes)
    return Distribution.of(
        (outcome.latency for outcome in found if outcome.is_timed and outcome.latency is not None),
        unanswered=sum(outcome.is_unanswered for outcome in found),
    )


def barge_ins(sessions: Sequence[SessionOutcome]) -> BargeInFigures:
    """How quickly the bot stopped for the user, and how often it stopped without cause."""
    stops = [o.barge_in_stop for session in sessions for o in session.outcomes if o.barge_in_stop is not None]
    spread = Spread.of(stops)
    recorded = [session for session in sessions if session.recorded]
    outcomes = [outcome for session in recorded for outcome in session.outcomes]
    told = [count for one in sessions if (count := one.session.self_interruptions) is not None]
    return BargeInFigures(
        n=spread.n,
        stop_p50_ms=spread.p50,
        stop_p95_ms=spread.p95,
        false=sum(session.false_barge_ins for session in recorded) if recorded else None,
        missed=sum(o.barge_in is BargeInResult.IGNORED for o in outcomes) if recorded else None,
        ducked_p95_ms=Spread.of([o.ducked for o in outcomes if o.ducked is not None]).p95,
        sounds=sounds(outcomes),
        own=sum(told) if told else None,
    )


def sounds(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """The effects of sounds over the bot's speech, by label; a bot that was silent does not count."""
    keys = {SoundResult.WENT_ON: "went_on", SoundResult.RESUMED: "resumed", SoundResult.STOPPED: "stopped"}
    found: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        if outcome.sound and (key := keys.get(outcome.sound.result)):
            found.setdefault(outcome.sound.kind, dict.fromkeys(keys.values(), 0))[key] += 1
    return found


def quality(sessions: Sequence[SessionOutcome], *, scripted: bool = False) -> Quality:
    """Cut-offs, gaps and word errors; a `scripted` recogniser has no word error rate, because it knows the words."""
    recorded = [session for session in sessions if session.recorded]
    outcomes = [outcome for session in recorded for outcome in session.outcomes]
    pauses = sum(outcome.pauses for outcome in outcomes)
    heard = [outcome.early_heard for outcome in outcomes if outcome.turn.joins]
    pairs: list[tuple[str, str]] = []
    for session in sessions:
        turns = [outcome.turn for outcome in session.outcomes]
        if any(turn.heard is not None for turn in turns):
            pairs += [(t.text, t.heard or "") for t in turns if t.text and t.speech and not t.backchannel]
    rate = word_error_rate(pairs)
    server_turns = [one for session in sessions for outcome in session.outcomes for one in outcome.turn.server_turns]
    parts = [one.part for one in server_turns if one.part]
    return Quality(
        cut_offs=sum(outcome.cut_off for outcome in outcomes) if outcomes else None,
        pauses=pauses if outcomes else None,
        false_cut_off_rate=round(sum(o.pauses_cut for o in outcomes) / pauses, 4) if pauses else None,
        gaps=sum(len(session.gaps) for session in recorded) if recorded else None,
        wer=None if scripted or rate is None else round(rate, 4),
        joined=len(heard) if outcomes else None,
        joined_heard_ms=round(1000 * max(heard), 1) if heard else None,
        early=sum(outcome.is_early for outcome in outcomes) if outcomes else None,
        outages_ms=tuple(round(1000 * (end - at), 1) for one in sessions for at, end in one.session.outages),
        hung=dict(Counter(one.hung.part for one in server_turns if one.hung)),
        parts={"asked": sum(p.asks for p in parts), "went_on": sum(p.number > 1 for p in parts)} if parts else {},
        checks=word_checks([outcome.turn for session in sessions for outcome in session.outcomes]),
    )


def word_checks(turns: Sequence[TurnRecord]) -> WordChecks | None:
    """Sum up the checks of the turns' words; None without any."""
    found = [[check for one in turn.server_turns for check in one.checks] for turn in turns]
    checks = [check for of_turn in found for check in of_turn]
    if not checks:
        return None
    ends = Counter(check.outcome for check in checks)
    held = [check.held_ms for check in checks if check.held_ms is not None]
    return WordChecks(
        turns=sum(bool(turn.speech) for turn in turns),
        checked=sum(any(check.outcome in ("same", "changed") for check in of_turn) for of_turn in found),
        changed=sum(any(check.outcome == "changed" for check in of_turn) for of_turn in found),
        late=ends["late"],
        shed=ends["shed"],
        withdrawn=ends["withdrawn"],
        failed=ends["failed"],
        seconds=round(sum(check.seconds or 0.0 for check in checks), 3),
        held_ms_max=max(held, default=None),
    )


def residual(outcomes: Iterable[Outcome]) -> Residual | None:
    """The latency that the marks do not explain; None without marks."""
    values = [outcome.residual for outcome in outcomes if outcome.residual is not None]
    if not values:
        return None
    return Residual(**asdict(Spread.of(values)), flagged=sum(value > UNEXPLAINED for value in values))
