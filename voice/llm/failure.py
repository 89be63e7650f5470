"""The frame of a turn whose language model failed."""

from dataclasses import dataclass

from pipecat.frames.frames import LLMTextFrame


@dataclass
class LLMFailureFrame(LLMTextFrame):
    """Words that are spoken because the language model failed; they are not its own.

    Parameters:
        reason: what happened, in one sentence.
    """

    reason: str = ""
