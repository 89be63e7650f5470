from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from latency.judge.turn import Outcome, Unanswered
from latency.record.contributions import CONTRIBUTIONS
from latency.record.run import Run
from latency.record.turn import TurnRecord
from latency.report.explain import explain, slowest_stage, worst
from latency.report.report import build
from latency.report.stats import Spread

# Every stage within its share: 200 + 20, 300, 50 and 50 ms.
MARKS = {
    "vad_stop": 2.15, "transcript_final": 2.17, "turn_commit": 2.22, "llm_request": 2.22, "llm_first_token": 2.50,
    "llm_first_clause": 2.52, "clause_to_tts": 2.52, "tts_first_sample": 2.57, "first_sent": 2.58,
    "first_audible": 2.62, "first_answer_audible": 2.62,
}  # fmt: skip
SPOKEN = {"tier": "large", "request": 2.22, "first_token": 2.5, "first_clause": 2.52, "outcome": "spoken"}
LATE = {**SPOKEN, "first_token": 3.36, "first_clause": 3.39}


def shifted(by: float, start: str) -> dict[str, float]:
    """The marks from `start` on come so much later."""
    return {name: at + by if at >= MARKS[start] and name != "llm_request" else at for name, at in MARKS.items()}


def outcome(
    latency: float | None, marks: dict[str, float] | None = None, *, residual: float = 0.0, **values: Any
) -> Outcome:
    known = {"smart_turn": {"probability": 0.97, "ms": 40.0}, "ended_by": "smart_turn", "attempts": [SPOKEN]}
    turn = TurnRecord.from_json(
        {
            "session": "s",
            "turn": 3,
            "wants_answer": True,
            "speech": [[1, 2]],
            "marks": MARKS if marks is None else marks,
            **known,
            **values,
        }
    )
    return Outcome(turn=turn, latency=latency, answered=latency is not None, residual=residual)


def response(deadline: float, **more: Any) -> dict[str, Any]:
    usual = {"policy": "fallback", "reason": "large first", "commit": 2.22, "limit": "llm", "charged": None}
    return {"response": 0, **usual, "deadline": deadline, "said": [], "gave_up": None, **more}


def of(tier: str, **values: Any) -> dict[str, Any]:
    return {"response": 0, "tier": tier, "request": 2.22, "first_token": None, "first_clause": None, **values}


FALLBACK = {"ended_by": "fallback", "smart_turn": {"probability": 0.31, "ms": 40.0}}
ASKED_TWO = [
    of("large", outcome="cancelled"),
    of("fast", first_token=2.3, first_clause=2.4, outcome="spoken"),
]
FAILED = [of("large", outcome="failed", failed="HTTP 503."), ASKED_TWO[1]]


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (outcome(0.62), "620 ms: every stage kept its share; large needed 300 ms to its first clause"),
        (outcome(0.62, {**MARKS, "llm_request": 2.1}),
         "620 ms: every stage kept its share; large needed 300 ms to its first clause, asked 120 ms before the turn "
         "ended"),
        (outcome(0.62, cold=True), "620 ms (the server's first turn): every stage kept its share; "
         "large needed 300 ms to its first clause"),
        (outcome(1.22, {**shifted(0.6, "turn_commit"), "llm_request": 2.82}, **FALLBACK,
                 attempts=[{**SPOKEN, "request": 2.82, "first_token": 3.1, "first_clause": 3.12}]),
         "1220 ms: ending the turn took 820 ms: Smart Turn judged it 31 % complete"),
        (outcome(1.69, {**shifted(0.6, "turn_commit"), "llm_request": 2.82, "llm_first_token": 3.36,
                        "llm_first_clause": 3.39, "clause_to_tts": 3.39, "tts_first_sample": 3.5,
                        "first_sent": 3.65, "first_audible": 3.69, "first_answer_audible": 3.69},
                 **FALLBACK, attempts=[{**LATE, "request": 2.82}]),
         "1690 ms: ending the turn took 820 ms: Smart Turn judged it 31 % complete; then large was 120 ms late"),
        (outcome(1.0, shifted(0.38, "turn_commit"), ended_by="fallback", attempts=[],
                 smart_turn={"probability": 0.98, "ms": 40.0, "finished": 0.02}),
         "1000 ms: ending the turn took 600 ms: by all evidence, it was 2 % complete"),
        (outcome(1.0, shifted(0.38, "turn_commit"), ended_by="fallback", smart_turn=None, attempts=[]),
         "1000 ms: ending the turn took 600 ms of silence"),
        (outcome(1.0, shifted(0.38, "turn_commit"), ended_by="nothing_heard", attempts=[]),
         "1000 ms: ending the turn took 600 ms: the recogniser heard no words"),
        (outcome(1.0, shifted(0.38, "turn_commit"), ended_by="recogniser_failed", attempts=[]),
         "1000 ms: ending the turn took 600 ms: the recogniser failed"),
        (outcome(1.0, shifted(0.38, "turn_commit"), ended_by="timeout", attempts=[]),
         "1000 ms: ending the turn took 600 ms: the watchdog had to end it"),
        (outcome(0.9, shifted(0.28, "vad_stop")),
         "900 ms: noticing the end of speech took 430 ms, deciding on it 50 ms (Smart Turn: 97 % complete)"),
        (outcome(0.9, shifted(0.28, "turn_commit"), smart_turn=None, attempts=[]),
         "900 ms: noticing the end of speech took 150 ms, deciding on it 330 ms"),
        (outcome(0.9, shifted(0.28, "transcript_final")),
         "900 ms: the recogniser needed 300 ms for the last words"),
        (outcome(0.9, shifted(0.28, "tts_first_sample")), "900 ms: synthesis took 330 ms to its first sample"),
        (outcome(0.9, shifted(0.28, "first_sent")), "900 ms: sending and playout took 330 ms"),
        (outcome(0.62, {"vad_stop": 2.15, "first_audible": 2.62}, attempts=[]),
         "620 ms: no stage accounts for 470 ms"),
        (outcome(0.62, {}, attempts=[]), "620 ms: none of its stages is on record"),
        (outcome(0.62, responses=[response(2.45)], attempts=[ASKED_TWO[0], ASKED_TWO[1]]),
         "620 ms: large had sent nothing and fast was 70 ms late"),
        (outcome(0.62, responses=[response(2.67)], attempts=ASKED_TWO),
         "620 ms: large had sent nothing and fast spoke after 300 ms"),
        (outcome(0.62, {**MARKS, "llm_first_token": 2.3, "clause_ready": 2.4}, responses=[response(2.67)],
                 attempts=ASKED_TWO),
         "620 ms: large had sent nothing and fast spoke after 300 ms, 120 ms of it waiting for large"),
        (outcome(0.62, responses=[response(2.67)], attempts=[{**ASKED_TWO[0], "first_clause": 2.51}, ASKED_TWO[1]]),
         "620 ms: large had sent a whole clause and fast spoke after 300 ms"),
        (outcome(0.62, responses=[response(2.67)], attempts=FAILED),
         "620 ms: large failed (HTTP 503) and fast spoke after 300 ms"),
        (outcome(0.62, {**MARKS, "llm_first_clause": 3.39, "llm_first_token": 3.36},
                 responses=[response(2.67, said=[{"at": 2.52, "kind": "hold", "text": "One moment."}])],
                 attempts=[of("large", first_token=3.36, first_clause=3.39, outcome="spoken")]),
         "620 ms: a phrase bridged the wait after 300 ms; the answer from large came 720 ms late"),
    ],
)  # fmt: skip
def test_a_turn_is_explained_by_the_stages_that_overspent_their_share(one: Outcome, sentence: str) -> None:
    assert explain(one, llm_budget=0.45) == sentence


def test_only_the_two_worst_stages_are_named_in_the_order_of_the_turn() -> None:
    marks = {
        **shifted(0.3, "transcript_final"),
        "tts_first_sample": 3.2,
        "first_sent": 3.21,
        "first_audible": 3.4,
        "first_answer_audible": 3.4,
    }
    assert explain(outcome(1.4, marks, attempts=[]), llm_budget=0.45) == (
        "1400 ms: the recogniser needed 320 ms for the last words; then synthesis took 380 ms to its first sample"
    )


@pytest.mark.parametrize(
    ("values", "more"),
    [
        ({"stalls": [{"at": 2.3, "ms": 153.4, "kind": "event loop"}]},
         "a stall of the server's event loop took 153 ms during llm inference"),
        ({"stalls": [{"at": 1.9, "ms": 130.0, "kind": "garbage collection"}]},
         "garbage collection took 130 ms during endpointing wait"),
        ({"stalls": [{"at": 2.1, "ms": 30.0, "kind": "event loop"}, {"at": 2.3, "ms": 50.0, "kind": "event loop"}]},
         "2 stalls of the server's event loop took 80 ms, the longest 50 ms during llm inference"),
        ({"stalls": [{"at": 2.7, "ms": 130.0, "kind": "event loop"}]}, None),
        ({"stalls": [{"at": 1.5, "ms": 130.0, "kind": "event loop"}]}, None),
        ({"late_ms_max": 44.6}, "the client sent its audio 45 ms late"),
        ({"late_ms_max": 20.0}, None),
    ],
)  # fmt: skip
def test_a_disturbance_between_speech_and_answer_is_named(values: dict[str, Any], more: str | None) -> None:
    plain = "620 ms: every stage kept its share; large needed 300 ms to its first clause"
    assert explain(outcome(0.62, **values), llm_budget=0.45) == (plain if more is None else f"{plain}; {more}")


def test_unexplained_time_is_named_with_its_place() -> None:
    told = explain(outcome(0.7, residual=0.08), llm_budget=0.45)
    assert (
        "; 80 ms are unexplained, between first_audible (2.620 s) and the first audible sample of the recording" in told
    )


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (replace(outcome(None), unanswered=Unanswered.NOTHING_HEARD), "no answer: nothing heard"),
        (replace(outcome(None, failed="The recogniser died."), unanswered=Unanswered.FAILED),
         "no answer: component failed (The recogniser died)"),
        (outcome(None, wants_answer=False), "no latency: the turn wants no answer"),
        (replace(outcome(None), answered=True), "no latency: the bot spoke only before the user had finished"),
    ],
)  # fmt: skip
def test_a_turn_without_latency_says_why_there_is_none(one: Outcome, sentence: str) -> None:
    assert explain(one, llm_budget=0.45) == sentence


def test_the_slowest_answered_turns_of_a_run_come_first(short_run: Path, load: Callable[[Path], Run]) -> None:
    found = worst(build(load(short_run)))
    assert [one.turn.turn for one, _ in found] == [2, 0], "a turn that was cut off has no latency"
    latencies = [one.latency or 0.0 for one, _ in found]
    assert latencies == sorted(latencies, reverse=True)
    assert [why.split(" ms")[0] for _, why in found] == [f"{latency * 1000:.0f}" for latency in latencies]


def test_the_slowest_stage_has_the_largest_median(short_run: Path, load: Callable[[Path], Run]) -> None:
    report = build(load(short_run))
    nothing = dict.fromkeys(CONTRIBUTIONS, Spread.of([]))
    made = {**nothing, "transcription": Spread.of([0.1]), "llm_inference": Spread.of([0.05, 0.3, 0.4])}
    assert slowest_stage(replace(report, contributions_ms=made)) == "llm_inference"
    assert slowest_stage(replace(report, contributions_ms=nothing)) is None
