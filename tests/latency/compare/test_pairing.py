from dataclasses import replace
from typing import Any

import pytest

from latency.compare.pairing import Pair, Place, pair
from latency.judge.session import SessionOutcome
from latency.judge.turn import Outcome, Unanswered
from latency.record.session import Session
from tests.latency.compare.paired_turns import outcome


def call(
    name: str, *, turns: int = 2, sha: str = "x", scenario: str = "tour/call", folder: str = "tour"
) -> SessionOutcome:
    files = {f"{n}.wav": f"{sha}{n}" for n in range(turns)}
    outcomes = tuple(
        outcome(400.0, session=name, turn=n, scenario=scenario, fixture=f"{folder}/{n}.wav") for n in range(turns)
    )
    return SessionOutcome(session=Session(name=name, fixtures=files), outcomes=outcomes, recorded=True)


def places(found: tuple[Pair, ...]) -> list[tuple[str, int, int]]:
    return [tuple(one.place) for one in found]  # type: ignore[misc]


def test_repetitions_are_paired_in_order_whatever_their_sessions_are_called() -> None:
    found = pair([call("tour")], [call("tour-1"), call("tour-2")])
    assert places(found.pairs) == [("tour/call", 1, 0), ("tour/call", 1, 1)]
    assert (dict(found.only_a), dict(found.only_b), dict(found.changed)) == ({}, {"tour/call": 2}, {})


def test_the_order_of_conversations_does_not_matter_and_folders_tell_them_apart() -> None:
    units, more = call("units", scenario="call", folder="units"), call("more", scenario="call", folder="more")
    found = pair([units, more], [more, units])
    assert {one.place.conversation for one in found.pairs} == {"units/call", "more/call"}
    assert len(found.pairs) == 4


def test_the_rest_is_listed() -> None:
    found = pair([call("tour", turns=3), call("x", scenario="x/call", folder="x")], [call("tour", turns=2)])
    assert len(found.pairs) == 2
    assert dict(found.only_a) == {"tour/call": 1, "x/call": 2}


def test_another_recording_is_not_the_same_turn() -> None:
    found = pair([call("tour")], [call("tour", sha="y")])
    assert (found.pairs, dict(found.changed)) == ((), {"tour/call": 2})


@pytest.mark.parametrize(("words", "paired"), [(("hello", "hello"), 1), (("hello", "bye"), 0), ((None, None), 0)])
def test_without_checksums_the_words_decide(words: tuple[str | None, str | None], paired: int) -> None:
    sides = [
        SessionOutcome(session=Session(name="a"), outcomes=(outcome(1.0, text=text, fixture=None),), recorded=True)
        for text in words
    ]
    assert len(pair(sides[:1], sides[1:]).pairs) == paired


def unanswered(why: Unanswered) -> Outcome:
    return replace(outcome(None), unanswered=why)


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (outcome(1.0), outcome(1.0), None),
        (outcome(1.0), unanswered(Unanswered.NO_SPEECH), None),
        (unanswered(Unanswered.FAILED), unanswered(Unanswered.NO_SPEECH), "unanswered in A and B"),
        (outcome(1.0), unanswered(Unanswered.NO_RECORDING), "recording lost in B"),
        (outcome(1.0, cold=True), outcome(1.0), "cold"),
        (outcome(1.0, barge_in=True), outcome(1.0, barge_in=True), "barge-in"),
        (outcome(1.0), replace(outcome(1.0), cut_off=True), "cut off in B"),
        (outcome(None, wants_answer=False), outcome(None, wants_answer=False), "wants no answer"),
    ],
)
def test_turns_that_have_no_place_among_the_latencies(a: Outcome, b: Outcome, why: str | None) -> None:
    assert Pair(Place("x", 1, 0), a, b).apart == why


def test_an_empty_session_is_no_call() -> None:
    empty: dict[str, Any] = {"session": Session(name="a"), "outcomes": (), "recorded": False}
    assert pair([SessionOutcome(**empty)], [SessionOutcome(**empty)]).pairs == ()
