import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from latency.judge.turn import Outcome
from latency.record.json_form import from_json
from latency.record.requests import RequestRecord
from latency.record.run import Run
from latency.render.turn_view import write_turn
from latency.report.report import build
from latency.report.waterfall import waterfall
from tests.latency.conversations import checked_turn


@pytest.fixture
def first(short_run: Path, load: Callable[[Path], Run]) -> Outcome:
    return build(load(short_run)).outcomes[0]


def drawn(outcome: Outcome, **values: Any) -> list[str]:
    file = io.StringIO()
    told = {"run": "runs/one", "simulated": (), "llm_budget": 0.45, **values}
    write_turn(outcome, waterfall(outcome, [(2.6, 4.0)]), file, **told)
    return file.getvalue().splitlines()


def changed(outcome: Outcome, **values: Any) -> Outcome:
    return replace(outcome, turn=replace(outcome.turn, server_turns=(), **values))


def test_the_turn_and_its_explanation_come_first(first: Outcome) -> None:
    lines = drawn(first, simulated=("sim:tier",), notes=("this run is not complete",))
    assert lines[:4] == [
        "runs/one: turn 0 of session commands",
        "SIMULATED, not real: sim:tier",
        "note: this run is not complete",
        "600 ms: synthesis took 170 ms to its first sample; then sending and playout took 100 ms",
    ]


def test_every_request_is_a_row_with_its_times_tokens_and_outcome(first: Outcome) -> None:
    attempts = (
        {"tier": "large", "model": "sim:sonnet", "request": 2.25, "first_token": None, "first_clause": None,
         "end": 2.5, "outcome": "cancelled", "tokens": {"in": 41, "out": 0, "estimated": True}},
        {"tier": "fast", "model": "sim:groq", "request": 2.26, "first_token": 2.36, "first_clause": 2.38,
         "end": 2.4, "outcome": "spoken", "tokens": {"in": 73, "out": 6, "estimated": False}},
        {"tier": "spare", "request": None, "outcome": "failed", "failed": "HTTP 503."},
    )  # fmt: skip
    lines = [
        " ".join(line.split())
        for line in drawn(changed(first, attempts=from_json(tuple[RequestRecord, ...], attempts)))
    ]
    for row in (
        "tier asked token clause end in out model and outcome",
        "large 250 - - 250 ~41 ~0 sim:sonnet: cancelled",
        "fast 260 100 120 140 73 6 sim:groq: spoken",
        "spare - - - - - - failed: HTTP 503",
    ):
        assert row in lines


def test_what_a_request_cost_and_at_which_speed_is_shown(first: Outcome) -> None:
    attempts = (
        {"tier": "large", "model": "opus", "request": 2.25, "end": 2.5, "outcome": "cancelled", "usd": 0.00021,
         "speed": "fast", "tokens": {"in": 41, "out": 0, "estimated": True}},
        {"tier": "fast", "model": "haiku", "request": 2.26, "end": 2.4, "outcome": "spoken", "usd": 0.0012,
         "speed": "fast", "served": "standard", "tokens": {"in": 73, "out": 6}},
    )  # fmt: skip
    lines = [
        " ".join(line.split())
        for line in drawn(changed(first, attempts=from_json(tuple[RequestRecord, ...], attempts)))
    ]
    assert "large 250 - - 250 ~41 ~0 ~$0.000210 opus (fast): cancelled" in lines
    assert "fast 260 - - 140 73 6 $0.0012 haiku (fast, served standard): spoken" in " ".join(lines)
    assert "cost $0.0014, of which losers $0.000210, estimated $0.000210" in lines


def test_why_the_speed_was_left_and_how_long_a_request_queued_are_shown(first: Outcome) -> None:
    attempts = (
        {"tier": "large", "model": "opus", "request": 2.25, "end": 2.5, "outcome": "spoken", "speed": "standard",
         "served": "standard", "slowed": "the fast speed was refused", "queued": 0.12},
        {"tier": "fast", "model": "gpt", "request": 2.26, "end": 2.4, "outcome": "cancelled", "speed": "fast",
         "served": "priority"},
    )  # fmt: skip
    lines = drawn(changed(first, attempts=from_json(tuple[RequestRecord, ...], attempts)))
    text = " ".join(" ".join(lines).split())
    assert "opus: spoken; the fast speed was refused; queued 120 ms" in text
    assert "gpt (fast): cancelled" in text


def test_without_requests_there_is_no_table(first: Outcome) -> None:
    assert not any("model and outcome" in line for line in drawn(changed(first, attempts=())))


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"heard": None, "said": None}, "heard     -"),
        ({"heard": "[red]one[/red]"}, "heard     [red]one[/red]"),
        ({"failed": "The recogniser died."}, "failed    The recogniser died."),
        ({"interrupted": True, "barge_in": True}, "remarks   interrupted, barge-in"),
    ],
)
def test_the_transcript_and_remarks_are_shown(first: Outcome, values: dict[str, Any], line: str) -> None:
    assert line in drawn(changed(first, **values))


def test_checks_of_the_words_are_shown(first: Outcome) -> None:
    lines = drawn(replace(first, turn=replace(first.turn, server_turns=checked_turn().server_turns)))
    assert "checked   the second pass was not needed any more" in lines
    assert (
        "checked   a second pass heard other words: “fifteen” became “fifty”; it took 190 ms, and the answer waited 40 "
        "ms for it"
        in " ".join(" ".join(lines).split()).replace("checked the", "checked   the").replace("checked a", "checked   a")
    )
    assert not any(line.startswith("checked") for line in drawn(first))


@pytest.mark.parametrize(("right", "text"), [(True, "yes"), (False, "NO"), (None, "unknown")])
def test_a_known_right_answer_is_compared_with_what_was_said(first: Outcome, right: bool | None, text: str) -> None:
    assert f'answer ok {text}; a right answer contains "56"' in drawn(replace(first, right=right))
    assert not any(line.startswith("answer ok") for line in drawn(changed(first, contains=())))


def test_a_turn_of_mere_noise_has_no_waterfall(first: Outcome) -> None:
    noise = Outcome(turn=replace(first.turn, speech=(), wants_answer=False, marks={}, attempts=(), server_turns=()))
    lines = drawn(noise)
    assert "There is no waterfall: the turn has no speech, and so no end of speech to count from." in lines
    assert "no latency: the turn wants no answer" in lines
