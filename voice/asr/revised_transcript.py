"""Frames of a recogniser that hears the stretches of speech of one turn together, each time the user goes on."""

from dataclasses import dataclass

from pipecat.frames.frames import EagerTranscriptionFrame, TranscriptionFrame


@dataclass
class RevisedTranscriptionFrame(TranscriptionFrame):
    """The text of the latest stretch of speech and of the one before it: it replaces the latest `TranscriptionFrame`.

    As that one may have been revised itself, its text can be that of the whole turn.
    """


@dataclass
class RevisedEagerTranscriptionFrame(EagerTranscriptionFrame):
    """An eager text in whose place a `RevisedTranscriptionFrame` will come."""
