from typing import Any

import pytest

from latency.record.contributions import CONTRIBUTIONS, UNNAMED
from latency.record.turn import TurnRecord
from latency.report.critical_path import OF_THE_MODEL, WORK, Stage, overlap, stages, waiting_for

# Smart Turn decided 40 ms after the last words came; the model had been asked 50 ms before that.
OVERLAPPED = {
    "vad_stop": 2.2, "transcript_final": 2.25, "turn_commit": 2.29, "llm_request": 2.24, "llm_first_token": 2.40,
    "clause_ready": 2.45, "clause_to_tts": 2.55, "tts_first_sample": 2.60, "first_sent": 2.61, "first_audible": 2.66,
}  # fmt: skip


def turn(marks: dict[str, float], **values: Any) -> TurnRecord:
    return TurnRecord.from_json(
        {"session": "s", "turn": 0, "wants_answer": True, "speech": [[1, 2]], "marks": marks, **values}
    )


def by_key(record: TurnRecord) -> dict[str, Stage]:
    return {stage.key: stage for stage in stages(record)}


def test_every_named_contribution_has_a_start_and_an_end_in_the_same_order() -> None:
    assert tuple(key for key, _, _ in WORK) == tuple(key for key in CONTRIBUTIONS if key != UNNAMED)
    assert set(OF_THE_MODEL) < set(CONTRIBUTIONS)


@pytest.mark.parametrize(
    "marks",
    [
        OVERLAPPED,
        {key: at for key, at in OVERLAPPED.items() if key not in ("transcript_final", "clause_ready")},
        {key: at for key, at in OVERLAPPED.items() if key in ("turn_commit", "first_audible")},
        {**OVERLAPPED, "llm_first_token": 2.9, "clause_ready": 3.0},
        {**OVERLAPPED, "transcript_final": 2.1, "llm_request": 2.0, "llm_first_token": 2.1, "clause_ready": 2.2},
    ],
    ids=["overlapping", "two marks missing", "two marks known", "bridged", "speculated"],
)
def test_the_critical_path_tiles_the_turn_as_its_contributions_do(marks: dict[str, float]) -> None:
    record = turn(marks)
    path = sorted(part for stage in stages(record) for part in stage.path)
    assert path[0][0] == 2.0
    assert path[-1][1] == 2.66
    assert all(one[1] == pytest.approx(other[0]) for one, other in zip(path, path[1:], strict=False))
    waited = {stage.key: stage.waited for stage in stages(record)}
    expected = {key: part for key, part in record.contributions().items() if part and part > 1e-6}
    assert {key: seconds for key, seconds in waited.items() if seconds} == pytest.approx(expected)


def test_work_during_the_wait_for_another_stage_is_off_the_path() -> None:
    found = by_key(turn(OVERLAPPED))
    assert found["turn_detection"].work == (2.2, 2.29)
    assert found["turn_detection"].path == ((2.25, 2.29),)
    assert found["llm_inference"].work == (2.24, 2.40)
    assert found["llm_inference"].path == ((2.29, 2.40),)
    assert found["tier_hold"].path == ((2.45, 2.55),)


def test_without_tier_hold_a_clause_ends_where_synthesis_starts() -> None:
    found = by_key(turn({key: at for key, at in OVERLAPPED.items() if key != "clause_ready"}))
    assert found["sentence_aggregation"].work == (2.40, 2.55)
    assert "tier_hold" not in found


def test_a_bridged_model_continues_to_work_off_the_path() -> None:
    found = by_key(turn({**OVERLAPPED, "llm_first_token": 2.9, "clause_ready": 3.0}))
    assert found["llm_inference"].path == ((2.29, 2.55),)
    assert found["llm_inference"].work == (2.24, 2.9)
    assert found["sentence_aggregation"].path == ()


def test_unknown_instants_leave_unnamed_stretches() -> None:
    found = by_key(turn({"vad_stop": 2.2, "turn_commit": 2.3, "clause_to_tts": 2.5, "tts_first_sample": 2.6}))
    assert found[UNNAMED].path == ((2.2, 2.3), (2.3, 2.5))
    assert found[UNNAMED].waited == pytest.approx(0.3)


def test_an_unknown_turn_has_no_stages() -> None:
    assert stages(turn({})) == ()
    assert stages(turn({}, speech=[], wants_answer=False)) == ()


@pytest.mark.parametrize(
    ("start", "end", "key"),
    [(2.0, 2.1, "endpointing_wait"), (2.24, 2.30, "turn_detection"), (2.3, 2.5, "llm_inference"), (2.7, 2.9, None)],
)
def test_the_awaited_stage_is_the_one_with_the_largest_share(start: float, end: float, key: str | None) -> None:
    assert waiting_for(turn(OVERLAPPED), start, end) == key


def test_stretches_that_only_touch_share_nothing() -> None:
    assert overlap((1.0, 2.0), (2.0, 3.0)) == 0.0
    assert overlap((1.0, 2.5), (2.0, 3.0)) == 0.5
