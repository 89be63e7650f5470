"""Explains a turn's latency in one sentence: the stages that overspent the budget, and disturbances.

The two stages that exceed their share of the budget most (`latency.budget`) are named, in the order of the turn. A
language model that was late, rescued or bridged counts as having overspent. When every stage kept its share, the
longest one is named.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from latency.budget import LATE_FRAME_MS, Budget
from latency.judge.llm_budget import LlmVerdict, judge
from latency.judge.turn import Outcome
from latency.judge.unexplained import unexplained_turns
from latency.record.contributions import UNNAMED
from latency.record.marks import ROUNDING, Mark
from latency.record.requests import RequestRecord
from latency.record.turn import JUDGED_COMPLETE, EndedBy, SmartTurnOpinion, Stall, TurnRecord
from latency.report.critical_path import OF_THE_MODEL, waiting_for
from latency.report.llm.requests import SENT_IN_WORDS, failure, progress_of
from latency.report.report import Report

WORST = 3
_NAMED = 2
_NOTEWORTHY = 0.01
"""Seconds beyond its share; recordings are read in frames of this length."""
_WINDOW = 0.032
"""Seconds that the voice detector judges at a time."""
_HELD = 0.02
"""Seconds; a clause held for less counts as handed on at once."""


class Cause(NamedTuple):
    """A stage of the budget and its part of a turn."""

    excess: float
    """Seconds beyond its share."""
    spent: float
    text: str


def explain(outcome: Outcome, *, llm_budget: float) -> str:
    """One sentence without a full stop: the latency and its causes, or why there is none.

    Args:
        llm_budget: Seconds from the commit to the first clause, for a turn whose deadline is not on record.
    """
    turn = outcome.turn
    if outcome.latency is None:
        why = f" ({turn.failed.rstrip('.')})" if turn.failed else ""
        if outcome.unanswered is not None:
            return f"no answer: {outcome.unanswered}{why}"
        if not turn.wants_answer:
            return "no latency: the turn wants no answer"
        return "no latency: the bot spoke only before the user had finished"
    if outcome.cut_off:
        return f"cut off, so its latency does not count: the bot was heard {_ms(outcome.latency)} after the user's end"
    judged = judge(turn, budget=llm_budget)
    causes = [cause for cause in _causes(outcome, judged, Budget.with_llm(llm_budget)) if cause.spent > 0]
    reasons = "; then ".join(_chosen(causes)) or "none of its stages is on record"
    cold = " (the server's first turn)" if turn.cold else ""
    return "; ".join([f"{_ms(outcome.latency)}{cold}: {reasons}", *_disturbances(outcome)])


LIMITS = {
    "llm": "the LLM budget",
    "turn": "the rest of the turn's budget",
    "floor": "the earliest possible answer",
}
"""Words for the limit that sets a deadline, by its name in the record."""


ENDS: dict[EndedBy, str] = {
    "smart_turn": "the words were judged complete",
    "whole_request": "the words are a complete request or answer",
    "fallback": "the words were in doubt, so a longer silence decided",
    "timeout": "no decision came, so the watchdog ended it",
}
"""Words for the end of a turn, where its name needs them."""
_WITHOUT_WORDS: dict[EndedBy, str] = {
    "nothing_heard": "the recogniser heard no words",
    "own_voice": "the words were the agent's own",
    "recogniser_failed": "the recogniser failed",
    "timeout": "the watchdog had to end it",
}
"""Reasons for the end of a turn other than its words."""


def ended_by(turn: TurnRecord) -> str | None:
    """The end of a turn in words; None if unknown."""
    return None if turn.ended_by is None else words(turn.ended_by)


def words(end: EndedBy) -> str:
    """The name of an end of turns for people: "fallback" is a silence here, but elsewhere a policy."""
    return "silence" if end == "fallback" else end.replace("_", " ")


def worst(report: Report, count: int = WORST) -> tuple[tuple[Outcome, str], ...]:
    """The slowest answered turns of a run with reasons, the slowest first."""
    timed = [one for one in report.outcomes if one.is_timed]
    slowest = sorted(timed, key=lambda one: -(one.latency or 0.0))[:count]
    return tuple((one, explain(one, llm_budget=report.llm.budget_ms / 1000)) for one in slowest)


def slowest_stage(report: Report) -> str | None:
    """Key of the contribution with the largest median; None when none is known."""
    known = {key: spread.p50 for key, spread in report.contributions_ms.items() if spread.p50 is not None}
    return max(known, key=lambda key: known[key], default=None)


def _chosen(causes: Sequence[Cause]) -> list[str]:
    overspent = [cause for cause in causes if cause.excess > _NOTEWORTHY]
    if overspent:
        most = sorted(overspent, key=lambda cause: -cause.excess)[:_NAMED]
        return [cause.text for cause in causes if cause in most]
    return [f"every stage kept its share; {max(causes, key=lambda cause: cause.spent).text}"] if causes else []


def _causes(outcome: Outcome, judged: LlmVerdict | None, budget: Budget) -> Iterator[Cause]:
    turn = outcome.turn
    parts = {key: part or 0.0 for key, part in turn.contributions().items()}
    # Without the instant at which the silence was long enough, the recogniser's part of the wait is unknown.
    seconds = parts["transcription"] if Mark.SILENT_ENOUGH in turn.marks else 0.0
    if waited := _endpointing(turn, seconds):
        whole, text = waited
        yield Cause(whole - budget.endpointing - (0.0 if seconds else budget.transcription), whole, text)
    else:
        whole = parts["endpointing_wait"] + parts["turn_detection"]
        yield Cause(whole - budget.endpointing, whole, _detection(turn, parts))
        seconds = parts["transcription"]
    if seconds:
        yield Cause(seconds - budget.transcription, seconds, f"the recogniser needed {_ms(seconds)} for the last words")
    seconds = sum(parts[key] for key in OF_THE_MODEL)
    # A late model is always named, even if it kept its share.
    spoiled = judged is not None and judged.verdict in ("rescued", "bridged", "missed")
    excess = budget.total if spoiled else seconds - budget.llm
    held = parts["tier_hold"] - _held_for_check(turn)
    yield Cause(excess, seconds, _model(turn, judged, seconds, held=held))
    seconds = parts["speech_synthesis"]
    yield Cause(seconds - budget.synthesis, seconds, f"synthesis took {_ms(seconds)} to its first sample")
    seconds = parts["output_transport"] + parts["playout"]
    yield Cause(seconds - budget.transport, seconds, f"sending and playout took {_ms(seconds)}")
    yield Cause(parts[UNNAMED], parts[UNNAMED], f"no stage accounts for {_ms(parts[UNNAMED])}")


def _endpointing(turn: TurnRecord, transcription: float) -> tuple[float, str] | None:
    """Seconds until a turn in doubt was ended, and the reason; None for a turn that was judged complete at once.

    Args:
        transcription: Seconds of waiting for the recogniser alone.
    """
    commit = turn.marks.get(Mark.TURN_COMMIT)
    if commit is None or turn.end is None or turn.ended_by is None or _ended_at_once(turn):
        return None
    waited, judged = commit - turn.end - transcription, turn.smart_turn or SmartTurnOpinion()
    gave, finished = judged.probability, judged.finished
    if turn.ended_by in _WITHOUT_WORDS:
        why = f": {_WITHOUT_WORDS[turn.ended_by]}"
    elif finished is not None:
        # Smart Turn's probability is only part of this estimate.
        why = f": by all evidence, it was {_percent(finished)} complete"
    else:
        why = " of silence" if gave is None else f": Smart Turn judged it {_percent(gave)} complete"
    return waited, f"ending the turn took {_ms(waited)}{why}"


def _ended_at_once(turn: TurnRecord) -> bool:
    """Whether a turn whose words were judged complete needed no more silence than the voice detector."""
    needed, stop = turn.marks.get(Mark.SILENT_ENOUGH), turn.marks.get(Mark.VAD_STOP)
    waited = 0.0 if needed is None or stop is None else needed - stop
    return turn.ended_by in JUDGED_COMPLETE and waited < _WINDOW


def _detection(turn: TurnRecord, parts: dict[str, float]) -> str:
    wait, decision = parts["endpointing_wait"], parts["turn_detection"]
    gave = turn.smart_turn.probability if turn.smart_turn else None
    judged = "" if gave is None else f" (Smart Turn: {_percent(gave)} complete)"
    return f"noticing the end of speech took {_ms(wait)}, deciding on it {_ms(decision)}{judged}"


def _model(turn: TurnRecord, judged: LlmVerdict | None, seconds: float, *, held: float) -> str:
    tier = (judged and judged.tier) or "the language model"
    if judged is None or judged.verdict in (None, "within"):
        ahead = asked_ahead(turn.marks.get(Mark.LLM_REQUEST), turn.marks.get(Mark.TURN_COMMIT))
        return f"{tier} needed {_ms(seconds)} to its first clause{f', {ahead}' if ahead else ''}"
    late, asked = judged.lateness, next((one for one in turn.attempts if one.tier == judged.asked), RequestRecord())
    # Why the tier that was asked first did not speak.
    first = f"{judged.asked} " + (
        f"failed ({failure(asked)})" if asked.failed else f"had sent {SENT_IN_WORDS[progress_of(asked)]}"
    )
    match judged.verdict:
        case "rescued":
            wait = f", {_ms(held)} of it waiting for {judged.asked}" if held > _HELD else ""
            return f"{first} and {tier} spoke after {_ms(seconds)}{wait}"
        case "bridged":
            answer = f"the answer from {tier} came {late} late" if late else "no answer followed"
            return f"a phrase bridged the wait after {_ms(seconds)}; {answer}"
        case _ if late and judged.asked != judged.tier:
            return f"{first} and {tier} was {late} late"
        case _ if late:
            return f"{tier} was {late} late"
        case _:
            return f"{tier} had no text by the deadline"


def asked_ahead(request: float | None, commit: float | None) -> str:
    """How long before the commit a model was asked, in words; empty if it was not."""
    if request is None or commit is None or commit - request <= ROUNDING:
        return ""
    return f"asked {_ms(commit - request)} before the turn ended"


def _disturbances(outcome: Outcome) -> Iterator[str]:
    turn = outcome.turn
    start = turn.end or 0.0
    end = start + (outcome.latency or 0.0)
    during = [stall for stall in turn.stalls if stall.at < end and stall.end > start]
    for kind in dict.fromkeys(stall.kind for stall in during):
        yield _stalled(turn, kind, [stall for stall in during if stall.kind == kind])
    if turn.late_ms_max is not None and turn.late_ms_max > LATE_FRAME_MS:
        yield f"the client sent its audio {turn.late_ms_max:.0f} ms late"
    if (held := _held_for_check(turn)) > _HELD:
        yield f"the answer waited {_ms(held)} for the check of its words"
    yield from (unexplained.sentence for unexplained in unexplained_turns([outcome]))


def _held_for_check(turn: TurnRecord) -> float:
    """Seconds that the answer waited for the check of its words."""
    return sum(check.held_ms or 0.0 for one in turn.server_turns for check in one.checks) / 1000


def _stalled(turn: TurnRecord, kind: str, stalls: Sequence[Stall]) -> str:
    longest = max(stalls, key=lambda stall: stall.ms)
    stage = waiting_for(turn, longest.at, longest.end)
    where = f"{longest.ms:.0f} ms" + (f" during {stage.replace('_', ' ')}" if stage else "")
    is_collection = kind == "garbage collection"
    if len(stalls) == 1:
        what = "garbage collection" if is_collection else "a stall of the server's event loop"
        return f"{what} took {where}"
    what = "garbage collections" if is_collection else "stalls of the server's event loop"
    return f"{len(stalls)} {what} took {sum(s.ms for s in stalls):.0f} ms, the longest {where}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
