"""What the responder answers to one text at a fixed time."""

import random
from datetime import datetime

from voice.responder.dialogue import Responder

NOW = datetime(2026, 11, 20, 16, 10)


def answer(text: str, seed: int = 1) -> str:
    """The responder's answer to `text`, with seeded random numbers."""
    return Responder(rng=random.Random(seed)).reply(text, NOW).text
