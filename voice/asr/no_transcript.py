"""Frames with which a speech recogniser reports that an utterance has no text, so that no turn waits for it."""

from dataclasses import dataclass

from pipecat.frames.frames import SystemFrame


@dataclass
class NothingHeardFrame(SystemFrame):
    """The utterance that the voice activity detector has just ended contains no words.

    Pushed downstream instead of a final TranscriptionFrame after a cough, a click, or speech too faint to recognise.
    """


@dataclass
class RecogniserFailedFrame(SystemFrame):
    """The recogniser failed during the user's utterance, whose text is lost; the next utterance works again.

    Parameters:
        reason: One sentence for a log or a report.
    """

    reason: str = ""
