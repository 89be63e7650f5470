from typing import Any

import pytest

from latency.audio.onset import Span
from latency.judge.turn import PHRASE_SLACK, first_answer
from latency.record.json_form import to_json
from latency.record.turn import TurnRecord

PHRASE = 0.8
"""Seconds of the phrase's audio; its last 0.1 s are silent."""
SPOKEN = [{"tier": "large", "outcome": "spoken"}]


def turn(**report: Any) -> TurnRecord:
    told = {
        "turn": 0,
        "marks": {"turn_commit": 12.2},
        "opening": None,
        "opening_seconds": None,
        "attempts": SPOKEN,
        **report,
    }
    return TurnRecord.from_json(
        {"session": "s", "turn": 0, "speech": [[10, 12]], "wants_answer": True, "server_turns": [told]}
    )


def bridged(*at: float | None, seconds: float | None = PHRASE, text_at: float | None = None) -> TurnRecord:
    said = [{"at": instant, "kind": "hold", "text": "One moment."} for instant in at]
    marks = {"turn_commit": 12.2, "llm_first_clause": text_at}
    return turn(opening="One moment.", opening_seconds=seconds, responses=[{"said": said}], marks=marks)


def spans(*stretches: tuple[float, float]) -> list[Span]:
    return [Span(*stretch) for stretch in stretches]


def test_without_a_phrase_the_first_utterance_is_the_answer() -> None:
    assert first_answer(turn(), spans((12.6, 14.0)), []) == 12.6


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(TurnRecord(session="s", turn=0, wants_answer=False), id="no report"),
        pytest.param(turn(marks={}), id="a report of a turn that was never committed"),
        pytest.param(turn(attempts=[{"outcome": "failed"}]), id="an apology"),
        pytest.param(bridged(12.5, seconds=None), id="a phrase of unknown length"),
        pytest.param(bridged(None, None), id="phrases of unknown instants"),
        pytest.param(bridged(12.5, 19.0), id="a phrase that was not heard"),
    ],
)
def test_an_answer_that_cannot_be_separated_from_a_phrase_is_unknown(record: TurnRecord) -> None:
    heard = spans((12.6, 13.3), (15.0, 16.0))
    assert first_answer(record, heard, heard) is None


def test_silence_holds_no_answer() -> None:
    assert first_answer(turn(), [], []) is None


@pytest.mark.parametrize(
    ("sounds", "answer"),
    [
        pytest.param([(12.6, 13.3), (15.0, 16.0)], 15.0, id="after a long pause"),
        pytest.param([(12.6, 13.3), (13.41, 15.0)], 13.41, id="at once"),
        pytest.param([(12.6, 12.9), (13.0, 13.3), (13.41, 15.0)], 13.41, id="after a phrase with a pause in it"),
        pytest.param([(12.6, 13.39), (13.41, 15.0)], 13.41, id="after a phrase that ends with a sound"),
        pytest.param([(12.6, 15.0)], 12.6 + PHRASE - PHRASE_SLACK, id="without a pause"),
        pytest.param([(12.6, 13.3)], None, id="never: interrupted"),
        pytest.param([(12.6, 13.3), (40.0, 41.0)], None, id="never: that is the next turn's"),
    ],
)
def test_the_answer_is_the_first_sound_after_the_phrase(sounds: list[tuple[float, float]], answer: float) -> None:
    found = first_answer(bridged(12.5), spans((12.6, 16.0)), spans((5.0, 9.0), *sounds))
    assert found == (answer if answer is None else pytest.approx(answer))


def test_no_answer_is_heard_before_its_text_was_there() -> None:
    heard = spans((12.6, 13.3), (13.7, 13.9), (15.0, 16.0))
    assert first_answer(bridged(12.5, text_at=14.2), heard, heard) == 15.0


def test_of_several_phrases_the_last_one_has_to_be_over() -> None:
    heard = spans((12.6, 13.3), (14.6, 15.3), (15.41, 17.0))
    found = first_answer(bridged(12.5, 14.5, seconds=1.5), spans((12.6, 13.3), (14.6, 17.0)), heard)
    assert found == 15.41


def test_the_last_committed_report_is_the_turns() -> None:
    record = turn()
    first = to_json(record.server_turns[0])
    reports = [{**first, "opening": "One moment."}, first, {"turn": 1, "marks": {}}]
    record = TurnRecord.from_json({**record.to_json(), "server_turns": reports})
    assert first_answer(record, spans((12.6, 13.3)), []) == 12.6
