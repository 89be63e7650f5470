import pytest

from tests.voice.responder.skills.conversing import NOW, answer
from voice.responder.dialogue import Responder


@pytest.mark.parametrize(
    ("heard", "part"),
    [
        ("hello", "Hello"), ("hi there", "help"), ("hey", "H"), ("good morning", "Good morning"),
        ("good evening", "Good evening"),
        ("how are you", "thank you"), ("what's up", "thank you"), ("thank you very much", "welcome"),
        ("thanks", "welcome"),
        ("who are you", "I am Turnaround's embedded responder"), ("what is your name", "Turnaround"),
        ("are you a robot", "program"), ("are you human", "program"), ("nice to meet you", "Nice to meet you"),
        ("can you hear me", "Yes"), ("who made you", "open source"), ("what can you do", "tell the time"),
        ("help", "set timers"),
        ("stop", "Okay."), ("never mind", "Okay."), ("forget it", "Okay."), ("okay", "Okay."), ("sorry", "No problem"),
        ("goodbye", "Goodbye."), ("bye bye", "Goodbye."), ("good by", "Goodbye."), ("thank you goodbye", "Goodbye."),
        ("good night", "Good night"), ("you are great", "kind"),
    ],
)  # fmt: skip
def test_courtesies_are_returned(heard: str, part: str) -> None:
    assert part in answer(heard)


def test_only_a_goodbye_ends_the_call() -> None:
    assert Responder().reply("goodbye", NOW).ends_call
    assert not Responder().reply("good night", NOW).ends_call
