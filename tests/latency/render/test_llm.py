from dataclasses import replace
from typing import Any

import pytest

from latency.record.json_form import from_json
from latency.record.requests import AnswerRecord, RequestRecord
from latency.record.turn import TurnRecord
from latency.render.llm import llm_lines
from latency.report.llm.figures import Llm, llm_figures
from latency.report.llm.requests import CutShort, Waste


def turn(number: int, attempts: list[dict[str, Any]], **told: Any) -> TurnRecord:
    usual = {"response": number, "policy": "fallback", "reason": "large first", "commit": 2.0, "deadline": 2.45}
    response = {**usual, "limit": "llm", "charged": None, "said": [], "gave_up": None, **told}
    return TurnRecord(
        session="s",
        turn=number,
        speech=((1.0, 1.8),),
        wants_answer=True,
        attempts=from_json(tuple[RequestRecord, ...], [{"response": number, **attempt} for attempt in attempts]),
        responses=(from_json(AnswerRecord, response),),
    )


def request(tier: str, clause: float | None, outcome: str, out: int) -> dict[str, Any]:
    tokens = {"in": 1000, "out": out, "estimated": outcome == "cancelled"}
    model = {"large": "sim:sonnet", "fast": "sim:groq-fast"}[tier]
    told = {"end": 2.38} if outcome == "cancelled" else {}
    told |= {"failed": f"{model} at w refused the connection."} if outcome == "failed" else {}
    usual = {"tier": tier, "model": model, "request": 2.0, "first_clause": clause, "outcome": outcome}
    return {**usual, "tokens": tokens, **told}


@pytest.fixture
def llm() -> Llm:
    hold = [{"at": 2.43, "kind": "hold", "text": "One moment."}]
    turns = [
        turn(0, [request("large", 2.3, "spoken", 20)]),
        turn(1, [request("large", None, "cancelled", 0), request("fast", 2.2, "spoken", 20)], limit="turn"),
        turn(2, [request("large", 3.27, "spoken", 20), request("fast", None, "failed", 0)], said=hold),
        turn(3, [request("large", 2.77, "spoken", 20)], limit="floor", charged="endpointing", policy="single",
             reason="the only tier"),
    ]  # fmt: skip
    return llm_figures(turns, budget=0.45, policy="fallback")


def test_the_block_shows_how_the_budget_was_kept(llm: Llm) -> None:
    assert list(llm_lines(llm)) == [
        "LLM budget   450 ms: within 1, rescued by another tier 1, bridged by a phrase 1, missed 1; "
        "within or rescued 50 % of 4 judged turns",
        "  overshoot  p50 160, max 820 ms after the deadline, of 4 turns with text; textless 0 (no answer text at all)"
        "; bridged answers p50 820, max 820 ms",
        "  deadlines  2 set by the LLM budget, 1 set by the rest of the turn's budget, "
        "1 set by the earliest possible answer; stage that had overspent: endpointing 1",
        "  policy     fallback 3, single 1: large first 3, the only tier 1",
        "  phrases    hold 1, said while the answer was late; they count as no answer",
        "  fast       sim:groq-fast: 2 requests, spoken 1, failed 1 (sim:groq-fast at w refused the connection), "
        "first clause (n 1) p50 200, p95 200, max 200 ms",
        "  large      sim:sonnet: 4 requests, spoken 3, cancelled 1 (with nothing received in 380 ms, p50), "
        "first clause (n 3) p50 770, p95 1220, max 1270 ms",
        "  wasted     32.9 % of 6,080 tokens were not heard: 2,000 (1,000 estimated); "
        "2 requests beyond each answer's first (1 used, 1 failed)",
    ]


def test_discarded_requests_are_counted_where_there_are_any(llm: Llm) -> None:
    assert not any("discarded" in line for line in llm_lines(llm))
    tiers = {name: replace(tier, withdrawn=2) for name, tier in llm.tiers.items()}
    speculated = list(llm_lines(replace(llm, tiers=tiers, waste=replace(llm.waste, withdrawn=4))))
    assert speculated[-1].endswith(", 4 speculative requests discarded")
    assert any("fast       sim:groq-fast: 2 requests, spoken 1, failed 1 (" in line for line in speculated)
    assert sum(", discarded 2, first clause" in line for line in speculated) == 2
    one = replace(llm, judged=1, waste=replace(llm.waste, extra=1, spoken=1, failed=0, withdrawn=1))
    verdicts, *_, waste = llm_lines(one)
    assert verdicts.endswith("50 % of 1 judged turn")
    assert waste.endswith("; 1 request beyond each answer's first (1 used), 1 speculative request discarded")


def test_requests_that_were_served_at_another_speed_are_counted(llm: Llm) -> None:
    large = replace(llm.tiers["large"], served_otherwise={"fast, served standard": 2})
    (line,) = (line for line in llm_lines(replace(llm, tiers={"large": large})) if "large  " in line)
    assert "2 asked for speed fast, served standard, first clause" in line


def test_answers_that_the_provider_ended_are_counted(llm: Llm) -> None:
    large = replace(llm.tiers["large"], shortened={"length": 2})
    (line,) = (line for line in llm_lines(replace(llm, tiers={"large": large})) if "large  " in line)
    assert "2 ended before the model had finished (length), first clause" in line


def test_several_reasons_stand_with_their_counts(llm: Llm) -> None:
    cut = CutShort(n=2, after_p50_ms=40.0)
    large = replace(llm.tiers["large"], cancelled=3, cut_short={"words too": cut, **llm.tiers["large"].cut_short})
    (line,) = (line for line in llm_lines(replace(llm, tiers={"large": large})) if "large  " in line)
    assert (
        "cancelled 3 (2 with a whole clause received in 40 ms, p50; 1 with nothing received in 380 ms, p50), "
        "first clause"
    ) in line


def test_with_a_hundred_turns_the_overshoot_has_a_99th_percentile(llm: Llm) -> None:
    _, overshoot, *_ = llm_lines(replace(llm, overshoot_p99_ms=12.3, textless=2))
    assert "p50 160, p99 12 ms after the deadline, of 4 turns with text; textless 2" in overshoot


def test_what_is_unknown_is_left_out_or_a_dash(llm: Llm) -> None:
    nothing = Waste(
        extra=0, spoken=0, cancelled=0, failed=0, withdrawn=0,
        tokens=None, tokens_interrupted=None, tokens_estimated=None, tokens_total=None, share=None,
    )  # fmt: skip
    lines = list(llm_lines(replace(llm, deadlines={}, charged={}, phrases={}, waste=nothing)))
    assert not any("deadlines" in line for line in lines)
    assert lines[-1] == "  wasted     tokens unknown; 0 requests beyond each answer's first"
    assert not any("phrases" in line for line in lines)


def test_without_a_budget_there_is_the_line_of_verdicts_alone() -> None:
    attempts = (RequestRecord(tier="responder", request=2.0, first_clause=2.1, outcome="spoken"),)
    plain = replace(turn(0, []), attempts=attempts, responses=())
    found = llm_figures([replace(plain, marks={"turn_commit": 2.0})], budget=0.45, policy=None)  # type: ignore[dict-item]
    assert list(llm_lines(found)) == ["LLM budget   450 ms: within 1, rescued 0, bridged 0, missed 0"]
