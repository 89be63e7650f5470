"""What a server says of its own calls, from the reports of their turns."""

import pytest

from latency.record.marks import Mark, Marks
from latency.record.requests import AnswerRecord, RequestRecord, Tokens
from latency.record.turn import EndedBy, ServerTurn
from pipelines.call_log.call_statistics import CallStatistics


def turn(number: int, *, ended_by: EndedBy = "smart_turn", latency: float | None = 0.7, **more: object) -> ServerTurn:
    """A turn whose speech ended at 10 s, which the detector reported at 10.2 s."""
    marks = Marks({Mark.VAD_STOP: 10.2, Mark.TURN_COMMIT: 10.3})
    if latency is not None:
        marks[Mark.FIRST_SENT] = 10.0 + latency
    return ServerTurn(turn=number, ended_by=ended_by, marks=marks, **more)  # type: ignore[arg-type]


def asked(number: int, *, clause: float, usd: float, first: str = "large", spoken: str = "large") -> ServerTurn:
    """A turn whose answer's text was there `clause` seconds after the commit at 10.3 s."""
    attempts = [
        RequestRecord(response=number, tier=first, request=10.3, outcome="cancelled", usd=usd),
        RequestRecord(
            response=number,
            tier=spoken,
            request=10.3,
            first_clause=10.3 + clause,
            outcome="spoken",
            usd=usd,
            tokens=Tokens(prompt=10, completion=5),
        ),
    ]
    answer = AnswerRecord(response=number, policy="fallback", commit=10.3, deadline=10.75)
    return turn(number, attempts=tuple(attempts if first != spoken else attempts[1:]), responses=(answer,))


def of_a_call() -> CallStatistics:
    return CallStatistics(stop=0.2, budget=0.45)


def test_a_turn_counts_once_when_nothing_can_be_added_to_it() -> None:
    statistics = of_a_call()
    statistics.note(turn(0, latency=None))
    statistics.note(turn(0))
    assert statistics.closed == []
    statistics.note(turn(1, latency=0.9))
    (first,) = statistics.closed
    assert first.outcome == "answered"
    assert first.latency == pytest.approx(0.7)
    statistics.close()
    assert [one.latency for one in statistics.closed[1:]] == [pytest.approx(0.9)]
    statistics.close()
    assert len(statistics.closed) == 2


@pytest.mark.parametrize(
    ("noted", "outcome"),
    [
        (turn(0, latency=None), "unanswered"),
        (turn(0, latency=None, interrupted=True), "interrupted"),
        (turn(0, latency=None, ended_by="nothing_heard"), "unheard"),
        (turn(0, latency=None, ended_by="own_voice"), "unheard"),
        (turn(0, latency=None, failed="the model is down"), "unanswered"),
    ],
)
def test_a_turn_without_an_answer_has_a_reason(noted: ServerTurn, outcome: str) -> None:
    statistics = of_a_call()
    statistics.note(noted)
    statistics.close()
    assert [one.outcome for one in statistics.closed] == [outcome]


def test_speech_that_was_cut_short_by_the_end_of_the_call_is_no_turn() -> None:
    statistics = of_a_call()
    statistics.note(ServerTurn(turn=0, marks=Marks({Mark.VAD_STOP: 10.2})))
    statistics.close()
    assert statistics.closed == []


def test_a_call_is_one_line() -> None:
    statistics = of_a_call()
    statistics.note(asked(0, clause=0.3, usd=0.001))
    statistics.note(asked(1, clause=0.4, usd=0.001, spoken="fast"))
    statistics.note(asked(2, clause=0.9, usd=0.001))
    statistics.note(turn(3, latency=None))
    statistics.close()
    assert len(statistics.closed) == 4
    assert statistics.line("the caller hung up", 61.4) == (
        "ended after 61 s (the caller hung up): 4 turns (unanswered 1), turn latency p50 700 p95 700 ms, "
        "LLM budget (within 1, rescued 1, missed 1), cost $0.0040"
    )


def test_a_call_without_turns_is_a_line_too() -> None:
    assert of_a_call().line("it could not begin", 0.2) == "ended after 0 s (it could not begin): 0 turns"


def test_what_observers_missed_stands_in_the_line_of_the_call() -> None:
    statistics = of_a_call()
    assert "missed" not in statistics.line("the caller hung up", 3)
    statistics.missed()
    statistics.missed()
    assert statistics.line("the caller hung up", 3).endswith(": 0 turns, 2 events missed by observers")
