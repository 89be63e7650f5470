"""What is said and noted when a part of a call hangs."""

from latency.record.hang import Part
from voice.asr.reprompt import AGAIN, STILL_DEAF
from voice.llm.answer.bridging import BROKE_OFF, NOT_ANSWERING
from voice.watchdog.watch import Hang

UNFINISHED = "Sorry, that takes too long, and I have stopped it. Please ask me again."
UNSPOKEN = "Sorry, something went wrong. Please say that again."
"""Said when synthesis hangs, so it is prepared before the call."""
_NAMES: dict[Part, str] = {"turn taking": "turn taking", "synthesis": "speech synthesis"}
_DID_NOT: dict[Part, str] = {
    "voice detector": "let no audio through",
    "recogniser": "gave no text",
    "turn taking": "did not decide on the end of the turn",
    "language model": "gave no text",
    "tool": "did not return",
    "synthesis": "made no audio",
    "transport": "sent no audio",
    "processor": "let no audio through",
}


def sentence(part: Part, hang: Hang, name: str | None = None) -> str:
    """What happened, for log, record and report.

    Args:
        part: what hung.
        hang: how it was found.
        name: the name of the processor, where audio did not come through.
    """
    what = _NAMES.get(part, f"the {part}") + (f" ({name})" if name is not None else "")
    did_not = "let no audio through" if name is not None else _DID_NOT[part]
    return f"{what} {did_not} for {hang.seconds:.0f} s"


def spoken(part: Part, hang: Hang) -> str:
    """What the caller is told."""
    if part == "synthesis":
        return UNSPOKEN
    if part == "tool":
        return UNFINISHED
    if part == "language model":
        return BROKE_OFF if hang.answered else NOT_ANSWERING
    return AGAIN if hang.part is not None and hang.times == 1 else STILL_DEAF
