import pytest

from tests.voice.responder.skills.conversing import NOW, answer
from voice.responder.dialogue import Responder


@pytest.mark.parametrize(
    ("heard", "part"),
    [
        ("hello", "Hello"), ("hi there", "help"), ("hey", "H"), ("good morning", "Good morning"),
        ("good evening", "Good evening"),
        ("thank you very much", "welcome"), ("thanks", "welcome"), ("nice to meet you", "Nice to meet you"),
        ("can you hear me", "Yes"), ("what can you do", "tell the time"),
        ("help", "set timers"),
        ("stop", "Okay."), ("never mind", "Okay."), ("forget it", "Okay."), ("okay", "Okay."),
        ("goodbye", "Goodbye."), ("bye bye", "Goodbye."), ("good by", "Goodbye."), ("thank you goodbye", "Goodbye."),
    ],
)  # fmt: skip
def test_courtesies_are_returned(heard: str, part: str) -> None:
    assert part in answer(heard)


def test_only_a_goodbye_ends_the_call() -> None:
    assert Responder().reply("goodbye", NOW).ends_call
    assert not Responder().reply("good evening", NOW).ends_call
