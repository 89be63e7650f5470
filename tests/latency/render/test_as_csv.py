import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from latency.record.json_form import from_json
from latency.record.requests import RequestRecord
from latency.record.run import Run
from latency.record.turn import Stall
from latency.render.as_csv import CHECK_COLUMNS, COLUMNS, text
from latency.report.report import Report, build
from tests.latency.conversations import MakeRun, checked_turn


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run))


def rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text(report))))


def test_the_columns_are_a_contract() -> None:
    assert COLUMNS == (
        "run", "simulated", "refused_because", "session", "turn", "scenario", "fixture", "text", "heard", "said",
        "words", "word_errors", "truth",
        "cold", "barge_in", "backchannel", "wants_answer", "answered", "unanswered_because", "failed_because", "right",
        "cut_off", "interrupted", "ended_by", "smart_turn_probability", "smart_turn_ms", "speech_start_s",
        "speech_end_s", "pauses", "pauses_cut", "turn_latency_ms", "within_400_ms", "within_800_ms", "first_answer_ms",
        "whole_answer_ms", "barge_in_stop_ms", "residual_ms", "fed_late_max_ms", "stalls", "stall_max_ms",
        "endpointing_wait_ms", "transcription_ms", "turn_detection_ms", "llm_inference_ms", "tool_ms",
        "sentence_aggregation_ms", "tier_hold_ms", "speech_synthesis_ms", "output_transport_ms", "playout_ms",
        "pipeline_ms", "llm_verdict",
        "llm_asked", "llm_spoke", "llm_model", "llm_policy", "llm_reason", "llm_late_ms", "llm_deadline_set_by",
        "llm_deadline_charged_to", "llm_requests", "llm_cancelled", "llm_failed", "llm_tokens_in", "llm_tokens_out",
        "llm_usd", "llm_usd_losers", "llm_usd_speculation", "llm_usd_estimated", "llm_usd_simulated",
        "vad_stop_s", "eager_hint_s", "turn_commit_s", "transcript_final_s", "llm_request_s", "tool_called_s",
        "tool_returned_s", "llm_first_token_s",
        "clause_ready_s", "llm_first_clause_s", "clause_to_tts_s", "tts_first_sample_s", "first_sent_s",
        "first_received_s", "first_audible_s", "first_answer_audible_s", "answer_end_s", "user_onset_s",
        "bot_silent_s", "silent_enough_s", "explanation", "marked_bad",
    )  # fmt: skip
    assert len(set(COLUMNS)) == len(COLUMNS)


def test_every_turn_is_a_row_below_one_header(report: Report) -> None:
    lines = text(report).splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 1 + len(report.outcomes)
    assert text(report).endswith("\n")
    assert "\r" not in text(report)


def test_figures_are_those_of_the_report_and_the_unknown_is_empty(report: Report) -> None:
    first, cut_off, barge_in, silent = rows(report)
    assert (first["turn"], first["turn_latency_ms"], first["within_400_ms"], first["within_800_ms"]) == (
        "0", "600.0", "false", "true",
    )  # fmt: skip
    assert (first["endpointing_wait_ms"], first["llm_inference_ms"], first["pipeline_ms"]) == ("200.0", "50.0", "0.0")
    assert (first["speech_end_s"], first["first_audible_s"], first["eager_hint_s"]) == ("2.0", "2.6", "")
    assert (first["right"], first["llm_verdict"], first["llm_spoke"]) == ("true", "within", "responder")
    assert first["explanation"].startswith("600 ms: ")
    assert (cut_off["cut_off"], cut_off["words"], cut_off["word_errors"]) == ("true", "4", "1")
    assert (cut_off["llm_verdict"], cut_off["transcription_ms"]) == ("", "")
    assert barge_in["barge_in_stop_ms"] == "500.0"
    assert (silent["answered"], silent["unanswered_because"]) == ("false", "nothing heard")
    assert (silent["turn_latency_ms"], silent["within_800_ms"], silent["stall_max_ms"]) == ("", "", "")


def test_rows_say_themselves_that_a_run_is_simulated_or_refused(report: Report) -> None:
    assert (rows(report)[0]["simulated"], rows(report)[0]["refused_because"]) == ("", "")
    told = rows(replace(report, simulated=("sim:a", "sim:b"), refused="audio was fed too slow"))[-1]
    assert (told["simulated"], told["refused_because"]) == ("sim:a, sim:b", "audio was fed too slow")


def test_requests_tokens_and_stalls_are_counted(report: Report) -> None:
    session = report.sessions[0]
    first = session.outcomes[0]
    attempts = (
        {"tier": "large", "request": 2.25, "outcome": "cancelled", "tokens": {"in": 10, "out": 0}},
        {"tier": "fast", "request": 2.25, "first_clause": 2.3, "outcome": "spoken", "tokens": {"in": 30, "out": 7}},
        {"tier": "fast", "request": 2.25, "outcome": "failed"},
    )
    stalls = (Stall(at=2.3, ms=30.5, kind="event loop"), Stall(at=2.4, ms=153.4, kind="garbage collection"))
    turn = replace(first.turn, attempts=from_json(tuple[RequestRecord, ...], attempts), server_turns=(), stalls=stalls)
    one, *_ = rows(replace(report, sessions=(replace(session, outcomes=(replace(first, turn=turn),)),)))
    counted = (
        "llm_requests",
        "llm_cancelled",
        "llm_failed",
        "llm_tokens_in",
        "llm_tokens_out",
        "stalls",
        "stall_max_ms",
    )
    assert [one[name] for name in counted] == ["3", "1", "1", "40", "7", "2", "153.4"]


@pytest.mark.parametrize(
    ("said", "cell"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("-5 degrees", "'-5 degrees"),
        ("It is 20 - 5.", "It is 20 - 5."),
        ('two\nlines, and "quotes"', 'two\nlines, and "quotes"'),
    ],
)
def test_text_is_never_a_formula_and_keeps_commas_quotes_and_lines(report: Report, said: str, cell: str) -> None:
    session = report.sessions[0]
    first = session.outcomes[0]
    outcomes = (replace(first, turn=replace(first.turn, said=said)),)
    (one,) = rows(replace(report, sessions=(replace(session, outcomes=outcomes),)))
    assert one["said"] == cell


def test_checks_of_words_have_columns_only_if_there_are_any(make_run: MakeRun, load: Callable[[Path], Run]) -> None:
    (row,) = rows(build(load(make_run([checked_turn()], None))))
    assert tuple(row) == COLUMNS + CHECK_COLUMNS
    assert [row[name] for name in CHECK_COLUMNS] == ["changed", "fifteen", "fifty", "190.0", "40.0"]
