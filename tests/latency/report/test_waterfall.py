from dataclasses import replace
from typing import Any

import pytest

from latency.judge.turn import Outcome
from latency.record.turn import TurnRecord
from latency.report.llm.requests import attempts_of
from latency.report.waterfall import Bar, Waterfall, WaterfallRow, stretch_of, waterfall

MARKS = {
    "vad_stop": 2.2, "transcript_final": 2.25, "turn_commit": 2.29, "llm_request": 2.29, "llm_first_token": 2.40,
    "clause_ready": 2.45, "clause_to_tts": 2.55, "tts_first_sample": 2.60, "first_sent": 2.61, "first_audible": 2.66,
    "first_answer_audible": 2.66,
}  # fmt: skip
LARGE = {"response": 0, "tier": "large", "request": 2.29, "first_clause": None, "end": 2.54, "outcome": "cancelled"}
FAST = {"response": 0, "tier": "fast", "request": 2.30, "first_clause": 2.45, "end": 2.5, "outcome": "spoken"}


def outcome(latency: float | None = 0.66, **values: Any) -> Outcome:
    usual = {"marks": MARKS, "attempts": [LARGE, FAST], "smart_turn": {"probability": 0.31, "ms": 40.0}}
    record = {"session": "s", "turn": 0, "wants_answer": True, "speech": [[1, 2]], "ended_by": "fallback"}
    return Outcome(turn=TurnRecord.from_json({**record, **usual, **values}), latency=latency)


def laid_out(one: Outcome, **values: Any) -> Waterfall:
    made = waterfall(one, values.get("spoken", [(2.66, 4.0)]), values.get("users", ()))
    assert made is not None
    return made


def row(made: Waterfall, label: str) -> WaterfallRow:
    return next(row for row in made.rows if row.label == label)


def spans(one: WaterfallRow) -> list[tuple[float, float, str]]:
    return [(round(bar.start, 3), round(bar.end, 3), bar.kind) for bar in one.bars]


def test_rows_come_in_the_order_of_a_turn_and_count_from_the_end_of_speech() -> None:
    made = laid_out(outcome())
    assert [row.label for row in made.rows] == [
        "user", "endpointing wait", "transcription", "turn detection", "llm inference", "sentence aggregation",
        "tier hold", "speech synthesis", "output transport", "playout", "large", "fast", "bot",
    ]  # fmt: skip
    assert spans(row(made, "user")) == [(-1.0, 0.0, "speech")]
    assert spans(row(made, "endpointing wait")) == [(0.0, 0.2, "work"), (0.0, 0.2, "path")]
    assert spans(row(made, "bot")) == [(0.66, 2.0, "speech")]
    assert row(made, "bot").note == "first audible after 660 ms"


def test_only_a_part_of_overlapping_work_is_on_the_critical_path() -> None:
    made = laid_out(outcome())
    detection = row(made, "turn detection")
    assert spans(detection) == [(0.2, 0.29, "work"), (0.25, 0.29, "path")]
    assert detection.took == pytest.approx(0.09)
    assert detection.waited == pytest.approx(0.04)
    assert detection.note == "silence; Smart Turn: 31 % complete"
    assert sum(one.waited or 0.0 for one in made.rows) == pytest.approx(0.66)


def test_every_request_has_a_row_and_only_used_ones_are_on_the_path() -> None:
    made = laid_out(outcome())
    assert spans(row(made, "large")) == [(0.29, 0.54, "work")]
    assert row(made, "large").note == "cancelled"
    # The path goes through its wait for text; from its first clause to its end the rest of its text came.
    assert spans(row(made, "fast")) == [
        (0.3, 0.45, "work"), (0.3, 0.4, "path"), (0.4, 0.45, "path"), (0.45, 0.5, "stream"),
    ]  # fmt: skip


def test_deadlines_phrases_and_stalls_have_rows_of_their_own() -> None:
    response = {"response": 0, "commit": 2.29, "deadline": 2.62, "limit": "floor", "charged": "transcription"}
    said = [{"at": 2.5, "kind": "hold", "text": "One moment."}]
    stalls = [{"at": 2.3, "ms": 30.0, "kind": "event loop"}, {"at": 2.4, "ms": 150.0, "kind": "event loop"}]
    made = laid_out(outcome(responses=[{**response, "said": said}], stalls=stalls))
    assert spans(row(made, "LLM deadline")) == [(0.62, 0.62, "instant")]
    assert row(made, "LLM deadline").note == "set by the earliest possible answer; transcription had overspent"
    assert spans(row(made, "hold phrase")) == [(0.5, 0.5, "instant")]
    assert row(made, "hold phrase").note == "One moment."
    assert spans(row(made, "stall: event loop")) == [(0.3, 0.33, "stall"), (0.4, 0.55, "stall")]
    assert row(made, "stall: event loop").note == "2, longest 150 ms"


def test_other_speech_in_view_is_shown_and_the_rest_left_out() -> None:
    made = laid_out(outcome(), spoken=[(0.2, 0.9), (2.66, 2.8)], users=[(2.7, 3.5), (8.0, 9.0)])
    assert spans(row(made, "user")) == [(-1.0, 0.0, "speech"), (0.7, 1.5, "speech")]
    assert spans(row(made, "bot")) == [(0.66, 0.8, "speech")]


@pytest.mark.parametrize(
    ("one", "start", "end"),
    [
        (outcome(), -0.1, 1.0),
        (outcome(latency=None, marks={}, attempts=[]), -0.1, 1.0),
        (outcome(latency=2.5), -0.1, 2.6),
        (outcome(attempts=[{**FAST, "request": 1.6}]), -0.4, 1.0),
        (outcome(attempts=[{**FAST, "request": 0.2}]), -1.0, 1.0),
        (outcome(attempts=[{**FAST, "end": 9.0}]), -0.1, 1.0),
        (replace(outcome(), answer=2.0), -0.1, 2.1),
    ],
    ids=["usual", "nothing known", "slow", "asked ahead", "asked far ahead", "long text", "answer behind a phrase"],
)
def test_the_axis_holds_the_800_ms_line_and_everything_up_to_the_answer(one: Outcome, start: float, end: float) -> None:
    made = laid_out(one, spoken=[])
    assert (made.start, made.end) == (pytest.approx(start), pytest.approx(end))
    assert row(made, "bot") == WaterfallRow(label="bot", group="speech", bars=(), note="silent")


def test_a_turn_without_speech_has_no_axis() -> None:
    assert waterfall(outcome(latency=None, speech=[], wants_answer=False, marks={}), []) is None


def test_requests_for_discarded_answers_are_shown_off_the_critical_path() -> None:
    ahead = {**FAST, "tier": "ahead", "request": 1.5, "first_clause": 1.6}
    server = [{"turn": 0, "attempts": [ahead]}, {"turn": 1, "marks": MARKS, "attempts": [LARGE, FAST]}]
    one = outcome(server_turns=server)
    assert [attempt.tier for attempt in attempts_of(one.turn)] == ["ahead", "large", "fast"]
    made = laid_out(one)
    assert {bar.kind for bar in row(made, "ahead").bars} == {"work", "stream"}
    assert Bar(pytest.approx(0.3), pytest.approx(0.4), "path") in row(made, "fast").bars  # type: ignore[arg-type]


def test_a_speculative_request_overlaps_with_the_wait_for_the_commit() -> None:
    withdrawn = {**LARGE, "request": 1.6, "end": 1.8, "outcome": "withdrawn"}
    early = {**FAST, "request": 2.12, "end": 2.6}
    made = laid_out(outcome(attempts=[withdrawn, early], marks={**MARKS, "eager_hint": 2.1, "llm_request": 2.12}))
    assert spans(row(made, "eager hint")) == [(0.1, 0.1, "instant")]
    # The user waits only for the part of its 330 ms that follows the commit.
    assert spans(row(made, "fast")) == [
        (0.12, 0.45, "work"), (0.29, 0.4, "path"), (0.4, 0.45, "path"), (0.45, 0.6, "stream"),
    ]  # fmt: skip
    assert row(made, "fast").note == "spoken; asked 170 ms before the turn ended"
    assert spans(row(made, "large")) == [(-0.4, -0.2, "work")]
    assert row(made, "large").note == "discarded; asked 690 ms before the turn ended"
    assert sum(one.waited or 0.0 for one in made.rows) == pytest.approx(0.66)


def spoken_turn(*speech: list[float]) -> TurnRecord:
    return TurnRecord.from_json({"session": "s", "turn": 3, "wants_answer": False, "speech": speech})


@pytest.mark.parametrize(
    ("spoken", "following", "stretch"),
    [
        ([(6.5, 8.0)], None, (4.5, 8.5)),
        ([(6.5, 8.0), (8.5, 9.0), (12.0, 13.0)], 11.0, (4.5, 9.5)),
        ([(1.0, 4.0)], 9.0, (4.5, 6.5)),
        ([(1.0, 5.4)], 9.0, (4.5, 6.5)),
        ([(6.5, 30.0)], None, (4.5, 20.0)),
        ([], None, (4.5, 6.5)),
    ],
    ids=["answer", "answers until the next turn", "spoke before", "was interrupted", "to the end", "silent"],
)
def test_a_turn_is_its_speech_and_its_answers_with_a_margin(
    spoken: list[tuple[float, float]], following: float | None, stretch: tuple[float, float]
) -> None:
    assert stretch_of(spoken_turn([5, 6]), spoken, following, 20.0) == stretch


def test_the_margin_ends_with_the_recording_and_noise_is_no_turn() -> None:
    assert stretch_of(spoken_turn([0.2, 6]), [], None, 6.1) == (0.0, 6.1)
    assert stretch_of(spoken_turn(), [], None, 6.1) is None
