"""A call keeps its speed; when it must leave the fast one, it does so once and does not come back."""

from voice.llm.answer.provider_note import ProviderNote, RateLimitPause
from voice.llm.wires.anthropic.speed import CallSpeed, FastPool

FULL = RateLimitPause(seconds=20.0, why="it is full")


def test_a_call_leaves_the_fast_speed_once_and_new_calls_wait_until_the_pool_is_whole() -> None:
    pool = FastPool()
    call = CallSpeed("fast", pool)
    call.begin(0.0)
    assert (call.current, call.news()) == ("fast", None)
    call.leave(FULL, 1.0)
    assert (call.current, call.news(), call.news()) == ("standard", "it is full", None)
    soon, late = CallSpeed("fast", pool), CallSpeed("fast", pool)
    soon.begin(20.9)
    late.begin(21.1)
    assert (soon.current, soon.news()) == ("standard", "it is full")
    assert (late.current, late.news()) == ("fast", None)
    call.begin(100.0)
    assert call.current == "standard", "its prefix is cached at standard speed by now"


def test_a_call_at_another_speed_never_looks_at_the_fast_pool() -> None:
    pool = FastPool()
    pool.close(FULL, 0.0)
    for speed in ("standard", None):
        call = CallSpeed(speed, pool)
        call.begin(1.0)
        call.leave(FULL, 1.0)
        assert (call.current, call.news()) == (speed, None)


def test_a_shorter_wait_does_not_open_a_pool_that_is_closed_for_longer() -> None:
    pool = FastPool()
    pool.close(FULL, 0.0)
    pool.close(RateLimitPause(seconds=1.0, why="again"), 2.0)
    assert pool.closed(19.0)
    assert pool.closed(20.0) is None


def test_a_later_note_adds_to_an_earlier_one_and_takes_nothing_away() -> None:
    first = ProviderNote(speed="fast", slowed="why")
    assert first.updated(ProviderNote(served="standard")) == ProviderNote(speed="fast", served="standard", slowed="why")


def test_a_caller_who_asks_for_the_fast_speed_gets_it_if_there_is_room_and_it_was_not_left_before() -> None:
    pool = FastPool()
    call = CallSpeed(None, pool)
    call.begin(0.0)
    call.use("fast")
    call.begin(1.0)
    assert call.current == "fast"
    call.use(None)
    assert call.current is None
    pool.close(FULL, 2.0)
    call.use("fast")
    call.begin(3.0)
    assert (call.current, call.news()) == ("standard", "it is full")
    call.use("fast")
    call.begin(100.0)
    assert call.current == "standard", "its prefix is cached at standard speed by now"
