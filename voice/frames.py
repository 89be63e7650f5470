"""Our frames: answers and their requests, decisions on turns, lost words, hangs. All others are pipecat's."""

from dataclasses import dataclass, field

from pipecat.frames.frames import EagerTranscriptionFrame, LLMTextFrame, SystemFrame, TranscriptionFrame, TTSSpeakFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.utils.text.base_text_aggregator import TextType

from latency.record.requests import AnswerRecord, PhraseKind, RequestRecord
from latency.record.turn import EndedBy, HangRecord, OverlapRecord

HOLD_PHRASE = "hold_phrase"
"""The `text_type` of what TTS pushes for a `HoldPhraseFrame`; it tells them apart from an answer's clauses."""


@dataclass
class AnswerTextFrame(LLMTextFrame):
    """Text of an answer, and the clauses that it completes: an answer is cut into clauses once, where it is chosen.

    Our synthesis speaks the clauses and ignores the text, which is for pipecat's clients and for services that know
    nothing of clauses. The clauses do not travel as pipecat's `AggregatedTextFrame`s, which its `TTSService` would
    take: a TTS announces a clause by pushing that same frame, observers see a frame only when it is first pushed, and
    that must be the announcement. Nor would pipecat's clients then see the text of the model.

    Parameters:
        clauses: as they are to be spoken, in order. Empty for text inside a clause or without words.
    """

    clauses: tuple[str, ...] = ()


@dataclass
class LLMFailureFrame(AnswerTextFrame):
    """Words that are spoken because the language model failed; they are not part of its answer.

    Parameters:
        reason: what happened, in one sentence.
        was_taken: whether the provider had taken the request, which it then bills.
    """

    reason: str = ""
    was_taken: bool = False


@dataclass
class HoldPhraseFrame(TTSSpeakFrame):
    """A filler phrase that is said because no answer is ready yet; only an opening is kept in the context.

    Parameters:
        kind: "hold" when the budget is spent, "delay" when the answer takes unusually long, "opening" for the words
            that the answer goes on from.
    """

    append_to_context: bool = False
    text_type: TextType | str = HOLD_PHRASE
    kind: PhraseKind = "hold"


@dataclass
class ContextAnsweredFrame(SystemFrame):
    """A conversation whose last turn is answered here, for a language model further down that answers other turns.

    Parameters:
        context: the conversation.
    """

    context: LLMContext | None = None


@dataclass
class ToolCalledFrame(SystemFrame):
    """A tool runs that no model called; pipecat's own frames would have the conversation answered again."""


@dataclass
class ToolReturnedFrame(SystemFrame):
    """The tool of the last `ToolCalledFrame` has ended."""


@dataclass
class EarlySynthesisFrame(SystemFrame):
    """The first clause of a speculative answer: synthesis prepares its audio and holds it back.

    The prepared audio is used when that clause arrives as text, and discarded at an `EagerEndOfTurnCancelFrame`, an
    interruption or another `EarlySynthesisFrame`.

    Parameters:
        text: the clause, the first of those in the answer's `AnswerTextFrame`s.
    """

    text: str = ""


@dataclass
class RequestsFrame(SystemFrame):
    """What became of the requests for one answer so far; sent again whenever that changes.

    Instants are seconds on `time.monotonic`, None while unknown.

    Parameters:
        answer: the answer.
        attempts: the requests made for it, in order.
        final: whether nothing will change any more.
    """

    answer: AnswerRecord = AnswerRecord()
    attempts: tuple[RequestRecord, ...] = ()
    final: bool = False


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
class OverlapEvidenceFrame(SystemFrame):
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


@dataclass
class RevisedTranscriptionFrame(TranscriptionFrame):
    """The text of the latest stretch of speech and of the one before it: it replaces the latest `TranscriptionFrame`.

    As that one may have been revised itself, its text can be that of the whole turn.
    """


@dataclass
class RevisedEagerTranscriptionFrame(EagerTranscriptionFrame):
    """An eager text in whose place a `RevisedTranscriptionFrame` will come."""


@dataclass
class HangFrame(SystemFrame):
    """A part has hung; what is done about it follows.

    Parameters:
        hang: for the record.
        reason: one sentence.
    """

    hang: HangRecord = field(default_factory=lambda: HangRecord(part="processor"))
    reason: str = ""


@dataclass
class HangReasonFrame(HoldPhraseFrame):
    """The reason for a silence, to be spoken."""
