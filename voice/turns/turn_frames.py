"""Frames with which turn taking reports its decisions to the rest of the pipeline."""

from dataclasses import dataclass

from pipecat.frames.frames import SystemFrame

from latency.record.turn import EndedBy, OverlapRecord


@dataclass
class TurnEndFrame(SystemFrame):
    """The user's turn is about to be committed.

    Parameters:
        ended_by: what decided it; see `EndedBy`.
        probability: Smart Turn's probability that the turn is complete; None when it gave none.
        inference: how long Smart Turn took, in seconds.
        finished: probability, by all evidence, that the turn is over; None without evidence.
        silence: seconds of silence that the turn needed; None when silence did not decide.
        failed: one sentence when the turn failed.
        speculated: how many speculative answers were started before the commit.
        discarded: how many of those were discarded.
        early: how many were started because the words seemed to end, before silence said so.
        confirmed: whether the last of them is this turn's answer.
    """

    ended_by: EndedBy = "timeout"
    probability: float | None = None
    inference: float | None = None
    finished: float | None = None
    silence: float | None = None
    failed: str | None = None
    speculated: int = 0
    discarded: int = 0
    early: int = 0
    confirmed: bool = False


@dataclass
class TurnJoinsFrame(SystemFrame):
    """The turn that has just begun continues the one before it, which was committed too early: they are one message.

    Follows the interruption that stops the answer to the earlier turn.

    Parameters:
        text: the words of the earlier turn, which are also the first words of this one.
    """

    text: str = ""


@dataclass
class SilenceAskedFrame(SystemFrame):
    """The client asks the agent to be silent, by a key or with a text that it sends; the interruption follows."""


@dataclass
class OverlapFrame(SystemFrame):
    """The caller makes a sound during the answer: what was decided on it so far.

    Parameters:
        record: the sound and the decision.
        awaits: whether its words may still change the decision.
    """

    record: OverlapRecord = OverlapRecord(onset=0.0)
    awaits: bool = False


@dataclass
class LeaningFrame(SystemFrame):
    """What the sound that the caller makes during the answer is like so far; a text of it follows.

    Parameters:
        nats: by how much an interruption is likelier than a backchannel, by the sound alone.
    """

    nats: float = 0.0


@dataclass
class VoiceFadedFrame(SystemFrame):
    """The voice has become much softer, as between two words or at the end; the recogniser decodes the words so far.

    Parameters:
        lasting: it has stayed soft since the frame before, for longer than between most words.
    """

    lasting: bool = False


@dataclass
class EagerHintFrame(SystemFrame):
    """The user has been silent for long enough to suppose, but not to say, that speech has ended.

    Parameters:
        silence: how long, in seconds.
    """

    silence: float = 0.0


@dataclass
class SpeechResumedFrame(SystemFrame):
    """The last `EagerHintFrame` was wrong: the user went on before the silence was long enough for a stop."""


@dataclass
class OwnVoiceFrame(SystemFrame):
    """What seemed to be the user's speech was the agent's own voice; it comes in place of the transcript.

    Parameters:
        text: what the recogniser heard.
        final: whether it is the last transcript of this stretch of speech.
    """

    text: str = ""
    final: bool = True
