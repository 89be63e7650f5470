"""A faster speed buys tokens a second and no earlier first token; on a timetable, without any clock."""

import pytest

from pipelines.lab.simulator.rate_limits import Bucket
from pipelines.lab.simulator.simulator import ServedModel, Simulator
from pipelines.lab.simulator.timetable import SendText, SendThought, timetable

ANSWER = "This is what I have found out for you about that, in some more words than are needed. " * 3
THOUGHT = "I should answer this briefly. " * 4


def times(served: ServedModel, thought: str = "") -> tuple[float, float, float]:
    """The first token, the first text and the end, seconds after the request."""
    actions = list(timetable(ANSWER, served.latency, now=0.0, thought=thought))
    assert all(isinstance(action, SendText | SendThought) for action in actions)
    return actions[0].at, next(a.at for a in actions if isinstance(a, SendText)), actions[-1].at


@pytest.mark.parametrize(("model", "speed", "factor"), [("opus", "fast", 170 / 65), ("gpt-5.4", "priority", 1.5)])
def test_the_first_token_is_unchanged_and_decoding_faster_by_the_factor(model: str, speed: str, factor: float) -> None:
    standard, fast = (times(Simulator(seed=3).serve(model, speed=speed)) for speed in (None, speed))
    assert fast[0] == standard[0]
    assert (standard[2] - standard[0]) / (fast[2] - fast[0]) == pytest.approx(factor)


def test_effort_and_speed_are_separate_axes() -> None:
    """Thinking delays the first text by its tokens; the speed divides that delay and leaves the first token alone."""
    found = {
        (speed, bool(thought)): times(Simulator(seed=3).serve("opus", speed=speed), thought)
        for speed in (None, "fast")
        for thought in ("", THOUGHT)
    }
    assert len({first for first, _, _ in found.values()}) == 1
    delay = {key: text - first for key, (first, text, _) in found.items()}
    assert delay[None, False] == delay["fast", False] == 0
    assert delay[None, True] / delay["fast", True] == pytest.approx(170 / 65)
    assert delay[None, True] > 0.2


def test_a_model_may_serve_at_another_speed_than_was_asked_for() -> None:
    served = Simulator(seed=1).serve("opus?serves=standard", speed="fast")
    assert served.speed == "standard"
    assert served.latency.profile.tokens_per_s == 65


def test_an_allowance_refills_evenly_and_says_when() -> None:
    now = 0.0
    bucket = Bucket(60, lambda: now)
    now = 10.0
    bucket.take(80)
    assert bucket.remaining == 0
    assert bucket.enough_in(1) == pytest.approx(21)
    now = 31.0
    assert bucket.remaining == 1
    assert bucket.full_in == pytest.approx(59)
    now = 1000.0
    assert bucket.remaining == 60
    empty = Bucket(0, lambda: now)
    assert (empty.remaining, empty.enough_in(1)) == (0, 60), "not provisioned"
