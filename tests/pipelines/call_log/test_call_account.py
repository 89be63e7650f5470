"""What a server says of its own calls, from the reports of their turns."""

import pytest

from latency.record.marks import Mark, Marks
from latency.record.requests import AnswerRecord, RequestRecord, Tokens
from latency.record.turn import EndedBy, ServerTurn
from pipelines.call_log.call_account import CallAccount


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


def account() -> CallAccount:
    return CallAccount(stop=0.2, budget=0.45)


def test_a_turn_counts_once_when_nothing_can_be_added_to_it() -> None:
    books = account()
    books.note(turn(0, latency=None))
    books.note(turn(0))
    assert books.closed == []
    books.note(turn(1, latency=0.9))
    (first,) = books.closed
    assert first.outcome == "answered"
    assert first.latency == pytest.approx(0.7)
    books.close()
    assert [one.latency for one in books.closed[1:]] == [pytest.approx(0.9)]
    books.close()
    assert len(books.closed) == 2


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
    books = account()
    books.note(noted)
    books.close()
    assert [one.outcome for one in books.closed] == [outcome]


def test_speech_that_was_cut_short_by_the_end_of_the_call_is_no_turn() -> None:
    books = account()
    books.note(ServerTurn(turn=0, marks=Marks({Mark.VAD_STOP: 10.2})))
    books.close()
    assert books.closed == []


def test_a_call_is_one_line() -> None:
    books = account()
    books.note(asked(0, clause=0.3, usd=0.001))
    books.note(asked(1, clause=0.4, usd=0.001, spoken="fast"))
    books.note(asked(2, clause=0.9, usd=0.001))
    books.note(turn(3, latency=None))
    books.close()
    assert len(books.closed) == 4
    assert books.line("the caller hung up", 61.4) == (
        "ended after 61 s (the caller hung up): 4 turns (unanswered 1), turn latency p50 700 p95 700 ms, "
        "LLM budget (within 1, rescued 1, missed 1), cost $0.0040"
    )


def test_a_call_without_turns_is_a_line_too() -> None:
    assert account().line("it could not begin", 0.2) == "ended after 0 s (it could not begin): 0 turns"


def test_what_observers_missed_stands_in_the_line_of_the_call() -> None:
    books = account()
    assert "missed" not in books.line("the caller hung up", 3)
    books.missed()
    books.missed()
    assert books.line("the caller hung up", 3).endswith(": 0 turns, 2 events missed by observers")
