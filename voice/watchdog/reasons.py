"""What is said and noted when a part of a call hangs."""

from latency.record.turn import Part
from voice.language.phrases import Phrases
from voice.watchdog.watch import Hang

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


def spoken(part: Part, hang: Hang, phrases: Phrases) -> str:
    """What the caller is told."""
    if part == "synthesis":
        return phrases.went_wrong
    if part == "tool":
        return phrases.unfinished
    if part == "language model":
        return phrases.broke_off if hang.answered else phrases.not_answering
    return phrases.say_again if hang.part is not None and hang.times == 1 else phrases.cannot_hear
