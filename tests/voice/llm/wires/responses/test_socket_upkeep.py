"""Sockets are opened before they are needed, and given up only when another can take over."""

import pytest

from voice.llm.wires.responses.socket_upkeep import (
    LONGEST_RETRY_PAUSE,
    SHORTEST_RETRY_PAUSE,
    OpenSocket,
    State,
    Upkeep,
    pause,
    upkeep,
)

LIFE = 3300.0


def held(opened: float = 0.0, state: State = "free", used: float | None = None) -> OpenSocket:
    return OpenSocket(opened, used, state)


def plan(*sockets: OpenSocket, now: float = 10.0, opening: int = 0) -> Upkeep:
    return upkeep(sockets, opening=opening, now=now, rotate_after=LIFE)


@pytest.mark.parametrize(
    ("sockets", "opening", "opened"),
    [
        ((), 0, 2),
        ((), 2, 0),
        ((held(),), 0, 1),
        ((held(),), 1, 0),
        ((held(), held()), 0, 0),
        ((held(state="busy"), held()), 0, 0),
        ((held(state="busy"), held(state="busy")), 0, 1),
        ((held(state="draining"), held(state="busy")), 0, 1),
        ((held(state="draining"), held(state="busy")), 1, 0),
    ],
)
def test_one_is_always_ready(sockets: tuple[OpenSocket, ...], opening: int, opened: int) -> None:
    todo = plan(*sockets, opening=opening)
    assert (todo.open, todo.retire) == (opened, ())


def test_it_is_asked_again_when_the_next_one_wears_out() -> None:
    assert plan(held(5.0), held(2.0)).wake_at == LIFE + 2.0
    assert plan().wake_at is None


def test_worn_ones_stay_until_a_fresh_one_is_there() -> None:
    old = held(0.0, used=100.0)
    assert plan(old, old, now=LIFE) == Upkeep(2, (), None)
    assert plan(old, old, held(LIFE), now=LIFE + 1, opening=1) == Upkeep(0, (0, 1), 2 * LIFE)


def test_a_worn_one_finishes_its_request_first() -> None:
    fresh = held(LIFE)
    assert plan(held(0.0, "busy"), fresh, fresh, now=LIFE + 1).retire == ()
    assert plan(held(0.0, "draining"), fresh, fresh, now=LIFE + 1).retire == ()
    assert plan(held(0.0), fresh, fresh, now=LIFE + 1).retire == (0,)


def test_too_many_are_given_up_the_longest_unused_first_and_one_stays_ready() -> None:
    assert plan(held(used=5.0), held(used=9.0), held()).retire == (2,)
    assert plan(held(used=5.0), held(used=9.0), held(used=7.0), held(used=6.0)).retire == (0, 3)
    assert plan(held(state="busy"), held(state="busy"), held()).retire == ()
    assert plan(held(state="draining"), held(used=5.0), held()).retire == (), "the draining one may not come back"


def test_pauses_between_tries_grow_to_a_limit() -> None:
    pauses = [pause(failures) for failures in range(1, 40)]
    assert pauses[0] == SHORTEST_RETRY_PAUSE
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_RETRY_PAUSE
