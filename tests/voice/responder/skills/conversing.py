"""What the responder answers to one text at a fixed time."""

from datetime import datetime

from voice.responder.dialogue import Responder

NOW = datetime(2026, 11, 20, 16, 10)


def answer(text: str) -> str:
    """The responder's answer to `text`."""
    return Responder().reply(text, NOW).text
