from typing import Any

import pytest

from latency.judge.turn import Outcome
from latency.judge.unexplained import unexplained_steps, unexplained_turns
from latency.record.contributions import UNNAMED
from latency.record.turn import TurnRecord

MARKS = {
    "vad_stop": 2.2, "transcript_final": 2.23, "turn_commit": 2.29, "llm_first_token": 2.6, "clause_to_tts": 2.66,
    "tts_first_sample": 2.7, "first_sent": 2.71, "first_audible": 2.78,
}  # fmt: skip


def turn(**marks: float | None) -> TurnRecord:
    known = {name: at for name, at in {**MARKS, **marks}.items() if at is not None}
    values: dict[str, Any] = {"session": "call", "turn": 4, "speech": [[1, 2]], "wants_answer": True, "marks": known}
    return TurnRecord.from_json(values)


def explained(one: TurnRecord, latency: float) -> float:
    return sum(part or 0.0 for key, part in one.contributions().items() if key != UNNAMED)


def sentence(one: TurnRecord, latency: float) -> str:
    residual = abs(latency - explained(one, latency))
    (found,) = unexplained_turns([Outcome(turn=one, latency=latency, residual=residual)])
    assert (found.session, found.turn, found.ms) == ("call", 4, round(residual * 1000, 1))
    return found.sentence


def test_marks_that_agree_with_the_recording_leave_nothing() -> None:
    assert unexplained_steps(turn(), 0.78) == []
    assert list(unexplained_turns([Outcome(turn=turn(), latency=0.78, residual=0.0)])) == []


@pytest.mark.parametrize(
    "unknown", [(), ("transcript_final",), ("llm_first_token", "turn_commit"), ("tts_first_sample",)]
)
@pytest.mark.parametrize("latency", [0.6, 0.78, 0.95])
@pytest.mark.parametrize("moved", [{}, {"first_sent": 3.2}, {"transcript_final": 2.5}])
def test_stages_and_unexplained_steps_add_up_to_the_recorded_latency(
    unknown: tuple[str, ...], latency: float, moved: dict[str, float]
) -> None:
    one = turn(**moved | dict.fromkeys(unknown))
    left = sum(step.seconds for step in unexplained_steps(one, latency))
    assert explained(one, latency) + left == pytest.approx(latency)


def test_a_missing_mark_is_named() -> None:
    assert sentence(turn(transcript_final=None), 0.78) == (
        "90 ms are unexplained, between vad_stop (2.200 s) and turn_commit (2.290 s): "
        "the server did not report transcript_final"
    )


def test_sound_later_than_the_client_reports_is_named() -> None:
    assert sentence(turn(), 0.9) == (
        "120 ms are unexplained, between first_audible (2.780 s) and the first audible sample of the recording "
        "(2.900 s)"
    )


def test_a_cause_after_its_effect_means_that_the_clocks_disagree() -> None:
    assert sentence(turn(first_sent=3.0), 0.78) == (
        "220 ms are unexplained: first_sent (3.000 s) comes after the first audible sample of the recording (2.780 s), "
        "so the clocks of server and client disagree"
    )


def test_the_longest_of_several_stretches_is_named_with_the_total() -> None:
    assert sentence(turn(transcript_final=None), 0.85) == (
        "160 ms are unexplained, 90 ms of them, between vad_stop (2.200 s) and turn_commit (2.290 s): "
        "the server did not report transcript_final"
    )


@pytest.mark.parametrize(("residual", "found"), [(None, 0), (0.02, 0), (0.0201, 1)])
def test_a_turn_is_flagged_above_20_ms(residual: float | None, found: int) -> None:
    assert len(list(unexplained_turns([Outcome(turn=turn(), latency=0.8003, residual=residual)]))) == found
