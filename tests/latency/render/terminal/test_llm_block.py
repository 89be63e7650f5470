from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from latency.record.turn import TurnRecord
from latency.render.terminal.llm_block import llm_lines, tier_table
from latency.report.llm_budget import Llm, Waste, llm_figures


def turn(number: int, attempts: list[dict[str, Any]], **told: Any) -> TurnRecord:
    usual = {"response": number, "policy": "fallback", "reason": "large first", "commit": 2.0, "deadline": 2.45}
    response = {**usual, "limit": "llm", "charged": None, "said": [], "gave_up": None, **told}
    return TurnRecord(
        session="s",
        turn=number,
        speech=((1.0, 1.8),),
        wants_answer=True,
        attempts=tuple({"response": number, **attempt} for attempt in attempts),
        responses=(response,),
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


def test_the_block_says_what_the_budget_came_to(llm: Llm) -> None:
    assert list(llm_lines(llm)) == [
        "LLM budget   450 ms: within 1, rescued 1, bridged 1, missed 1; answer text in time in 50.0% of 4 turns",
        "  overshoot  p50 160, max 820 ms after the deadline (n 4); bridged answers p50 820, max 820 ms",
        "  deadlines  set by llm 2, turn 1, floor 1; floors charged to endpointing 1",
        "  policy     fallback 3, single 1: large first 3, the only tier 1",
        "  phrases    hold 1, said while no answer was there; none counts as one",
        "  failed     fast 1 time: sim:groq-fast at w refused the connection",
        "  cancelled  large had nothing yet 1 (after p50 380 ms)",
        "  waste      32.9% of 6,080 tokens unheard: 2,000 (1,000 estimated); 2 requests beyond an answer's first: "
        "1 needed, 1 failed",
    ]


def test_each_tier_has_a_row(llm: Llm) -> None:
    console = Console(width=120)
    with console.capture() as captured:
        console.print(tier_table(llm))
    rows = [" ".join(line.split()) for line in captured.get().splitlines() if line.strip(" ─")]
    assert rows == [
        "tier model asked spoken tools cancelled failed first clause, ms: n p50 p95 max",
        "fast sim:groq-fast 2 1 0 0 1 1 200 200 200",
        "large sim:sonnet 4 3 0 1 0 3 770 1220 1270",
    ]


def test_withdrawn_requests_are_told_where_there_are_any(llm: Llm) -> None:
    tiers = {name: replace(tier, withdrawn=2) for name, tier in llm.tiers.items()}
    speculated = replace(llm, tiers=tiers, waste=replace(llm.waste, withdrawn=4))
    assert any(line.endswith("; 4 requests withdrawn") for line in llm_lines(speculated))
    one = replace(llm, judged=1, waste=replace(llm.waste, extra=1, spoken=1, failed=0, withdrawn=1))
    verdicts, *_, waste = llm_lines(one)
    assert verdicts.endswith("in 50.0% of 1 turn")
    assert waste.endswith("; 1 request beyond an answer's first: 1 needed; 1 request withdrawn")
    console = Console(width=130)
    with console.capture() as captured:
        console.print(tier_table(speculated))
    rows = [" ".join(line.split()) for line in captured.get().splitlines() if line.strip(" ─")]
    assert rows[0] == "tier model asked spoken tools cancelled failed withdrawn first clause, ms: n p50 p95 max"
    assert rows[1] == "fast sim:groq-fast 2 1 0 0 1 2 1 200 200 200"


def test_with_a_hundred_turns_the_overshoot_has_a_99th_percentile(llm: Llm) -> None:
    _, overshoot, *_ = llm_lines(replace(llm, overshoot_p99_ms=12.3, textless=2))
    assert "p50 160, p99 12 ms after the deadline (n 4); 2 without any answer text" in overshoot


def test_what_is_unknown_is_left_out_or_a_dash(llm: Llm) -> None:
    nothing = Waste(
        extra=0, spoken=0, cancelled=0, failed=0, tokens=None, tokens_estimated=None, tokens_total=None, share=None,
        withdrawn=0,
    )  # fmt: skip
    lines = list(llm_lines(replace(llm, deadlines={}, charged={}, phrases={}, waste=nothing)))
    assert "  deadlines  set by -" in lines
    assert lines[-1] == "  waste      tokens unknown; 0 requests beyond an answer's first"
    assert not any("phrases" in line for line in lines)


def test_without_a_budget_there_is_the_line_of_verdicts_alone() -> None:
    attempts = ({"tier": "responder", "request": 2.0, "first_clause": 2.1, "outcome": "spoken"},)
    plain = replace(turn(0, []), attempts=attempts, responses=())
    found = llm_figures([replace(plain, marks={"turn_commit": 2.0})], budget=0.45, policy=None)  # type: ignore[dict-item]
    assert list(llm_lines(found)) == ["LLM budget   450 ms: within 1, rescued 0, bridged 0, missed 0"]
    assert tier_table(found) is None
