import json
from collections.abc import Callable
from pathlib import Path

from latency.record.run import Run
from latency.render.as_json import text, to_json
from latency.report.checks import Check
from latency.report.report import build
from tests.latency.conversations import MakeRun, checked_turn

LATENCY = ["n", "p50", "p90", "p95", "p99", "max", "within_400", "within_800", "p50_ci", "p95_ci", "unanswered"]


def test_keys_and_their_order_are_the_contract(short_run: Path, load: Callable[[Path], Run]) -> None:
    found = json.loads(text(build(load(short_run), [Check.parse("turn p95 < 800 n>=2")])))
    assert list(found) == [
        "schema", "truth", "simulated", "turns", "turn_ms", "turn_ms_cold", "turn_ms_detected_complete",
        "turn_ms_fallback", "answer_ms", "contributions_ms", "llm", "barge_in", "quality", "speculation", "cost",
        "residual_ms", "pacing", "turn_taking", "thresholds", "method",
    ]  # fmt: skip
    assert list(found["turns"]) == ["total", "expected", "answered", "answers_ok", "unanswered"]
    for key in ("turn_ms", "turn_ms_cold", "turn_ms_detected_complete", "turn_ms_fallback", "answer_ms"):
        assert list(found[key]) == LATENCY
    assert list(found["contributions_ms"]["endpointing_wait"]) == ["n", "p50", "p95"]
    assert list(found["llm"]) == [
        "budget_ms", "within", "rescued", "bridged", "missed", "overshoot_p99_ms", "policy", "tiers",
        "judged", "share_within", "overshoot_ms", "textless", "bridged_answer_ms", "deadlines", "charged", "phrases",
            "rejected", "repairs", "votes", "verifications", "forgetful", "policies", "reasons", "waste", "turns",
    ]  # fmt: skip
    assert list(found["llm"]["tiers"]["responder"]) == [
        "attempts", "spoken", "first_clause_ms", "model", "called", "cancelled", "failed", "withdrawn", "opened",
        "rejected", "verdicts", "failures",
        "cut_short", "served_otherwise", "shortened", "sooner_ms", "dry",
    ]  # fmt: skip
    assert found["llm"]["turns"][0]["judged"]["verdict"] == "within"
    assert list(found["barge_in"]) == [
        "n", "stop_p50_ms", "stop_p95_ms", "false", "missed", "ducked_p95_ms", "sounds", "own",
    ]  # fmt: skip
    assert list(found["quality"]) == [
        "cut_offs",
        "pauses",
        "false_cut_off_rate",
        "gaps",
        "wer",
        "joined",
        "joined_heard_ms",
        "early",
        "outages_ms",
        "hung",
        "parts",
    ]
    assert list(found["speculation"]) == [
        "started", "discarded", "saved_p50_ms", "used", "spoken_ahead", "hints", "early",
        "discarded_tokens",
    ]  # fmt: skip
    assert found["thresholds"] == [{"expr": "turn p95 < 800 n>=2", "verdict": "failed"}]


def test_the_method_follows_the_figures(short_run: Path, load: Callable[[Path], Run]) -> None:
    report = build(load(short_run), [Check.parse("turn p99 < 800")])
    found = json.loads(text(report))
    assert found["thresholds"] == [
        {
            "expr": "turn p99 < 800",
            "verdict": "no data",
            "reason": "the 99th percentile needs 100 samples",
        }
    ]
    method = found["method"]
    assert list(method) == [
        "percentiles", "intervals", "created", "command", "versions", "components", "host", "late_turns", "refused",
        "watched", "stalls", "unexplained", "notes", "rests_on", "chaos", "accounts", "slowest_stage", "worst",
    ]  # fmt: skip
    assert (method["created"], method["command"]) == ("2026-11-20T17:03:12+01:00", ["voice", "replay"])
    assert (method["host"]["cpus"], method["host"]["load_before"], method["refused"]) == (2, None, None)
    assert (method["late_turns"], method["watched"], method["stalls"]) == (0, False, [])
    assert method["slowest_stage"] == "endpointing_wait"
    assert method["worst"][1] == {
        "session": "commands",
        "turn": 0,
        "latency_ms": 600.0,
        "why": "600 ms: synthesis took 170 ms to its first sample; then sending and playout took 100 ms",
    }


def test_unknown_is_null(short_run: Path, load: Callable[[Path], Run]) -> None:
    found = json.loads(text(build(load(short_run))))
    assert found["turn_ms"]["p99"] is None
    assert found["turn_ms_cold"]["p50"] is None
    assert (found["cost"]["usd"], found["cost"]["usd_per_100_turns"]) == (None, None)


def test_checks_of_words_are_a_key_only_if_there_are_any(
    make_run: MakeRun, load: Callable[[Path], Run], short_run: Path
) -> None:
    found = to_json(build(load(make_run([checked_turn()], None))))["quality"]["checks"]
    assert found == {
        "turns": 1,
        "checked": 1,
        "changed": 1,
        "late": 0,
        "shed": 0,
        "withdrawn": 1,
        "failed": 0,
        "seconds": 0.19,
        "held_ms_max": 40.0,
    }
    assert "checks" not in to_json(build(load(short_run)))["quality"]
