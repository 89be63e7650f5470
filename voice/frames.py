"""Our frames: answers and their requests, decisions on turns, lost words, hangs. All others are pipecat's."""

from dataclasses import dataclass, field

from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    InterimTranscriptionFrame,
    LLMTextFrame,
    SystemFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.utils.text.base_text_aggregator import TextType

from latency.record.requests import AnswerRecord, PhraseKind, RequestRecord
from latency.record.turn import CheckRecord, EndedBy, HangRecord, OverlapRecord

HOLD_PHRASE = "hold_phrase"
"""The `text_type` of TTS frames for a `HoldPhraseFrame`, which distinguishes them from an answer's clauses."""


@dataclass
class AnswerTextFrame(LLMTextFrame):
    """Text of an answer, with the clauses that it completes: an answer is cut into clauses once, where it is chosen.

    Our synthesis speaks the clauses and ignores the text, which is for pipecat's clients and for services without
    clauses. The clauses are not sent as pipecat's `AggregatedTextFrame`s: a TTS announces a clause by pushing that same
    frame, and observers see a frame only at its first push, which must be the announcement. pipecat's clients would
    also miss the model's text.

    Parameters:
        clauses: in order, in the form to be spoken. Empty for text inside a clause or without words.
    """

    clauses: tuple[str, ...] = ()


@dataclass
class LLMFailureFrame(AnswerTextFrame):
    """Words that are spoken because the language model failed; they are not part of its answer.

    Parameters:
        reason: what happened, in one sentence.
        was_taken: whether the provider had accepted, and so bills, the request.
    """

    reason: str = ""
    was_taken: bool = False


@dataclass
class HoldPhraseFrame(TTSSpeakFrame):
    """A filler phrase for the wait; only an opening is kept in the context.

    Parameters:
        kind: "hold" when the budget is exceeded, "delay" when the answer takes unusually long, "opening" for words that
            the answer continues.
    """

    append_to_context: bool = False
    text_type: TextType | str = HOLD_PHRASE
    kind: PhraseKind = "hold"


@dataclass
class ContextAnsweredFrame(SystemFrame):
    """A conversation whose last turn is answered here, for a downstream language model that answers other turns.

    Parameters:
        context: the conversation.
    """

    context: LLMContext | None = None


@dataclass
class ToolCalledFrame(SystemFrame):
    """A tool runs that was not called by a model; pipecat's own frames would trigger another answer."""


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
    """The state of the requests for one answer; sent again after each change.

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
        ended_by: the reason; see `EndedBy`.
        probability: Smart Turn's probability that the turn is complete; None when it gave none.
        inference: how long Smart Turn took, in seconds.
        finished: probability, by all evidence, that the turn is over; None without evidence.
        silence: the required silence in seconds; None if silence did not end the turn.
        failed: one sentence when the turn failed.
        speculated: the number of speculative answers started before the commit.
        discarded: the number of them that were discarded.
        early: the number started because the words seemed finished, before any silence.
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
    """The new turn continues the previous one, which was committed too early: both are one message.

    Follows the interruption that stops the answer to the earlier turn.

    Parameters:
        text: the words of the earlier turn, which are also the first words of this one.
    """

    text: str = ""


@dataclass
class SilenceAskedFrame(SystemFrame):
    """The client silences the agent, by a key or a text; an interruption follows."""


@dataclass
class OverlapFrame(SystemFrame):
    """A sound of the caller during the answer, with the decision so far.

    Parameters:
        record: the sound and the decision.
        awaits: whether its words may still change the decision.
    """

    record: OverlapRecord = OverlapRecord(onset=0.0)
    awaits: bool = False


@dataclass
class OverlapEvidenceFrame(SystemFrame):
    """The class of the caller's sound during the answer so far; its text follows.

    Parameters:
        nats: the log-likelihood ratio of interruption to backchannel, by the sound alone.
    """

    nats: float = 0.0


@dataclass
class VoiceFadedFrame(SystemFrame):
    """The voice has become much softer, as between words or at the end; the recogniser decodes the words so far.

    Parameters:
        lasting: whether it has stayed soft since the previous frame, for longer than between most words.
    """

    lasting: bool = False


@dataclass
class EagerHintFrame(SystemFrame):
    """The user has been silent long enough that speech has probably ended.

    Parameters:
        silence: how long, in seconds.
    """

    silence: float = 0.0


@dataclass
class SpeechResumedFrame(SystemFrame):
    """The last `EagerHintFrame` was wrong: the user went on before the silence was long enough for a stop."""


@dataclass
class OwnVoiceFrame(SystemFrame):
    """The supposed speech of the user was the agent's own voice; replaces the transcript.

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
    """The recogniser failed, and the utterance's text is lost; the next utterance works again.

    Parameters:
        reason: One sentence for a log or a report.
    """

    reason: str = ""


@dataclass
class DoubtfulTranscriptionFrame(InterimTranscriptionFrame):
    """Words over an answer which the recogniser itself doubts: enough for a "stop", but not for other words."""


@dataclass
class RevisedTranscriptionFrame(TranscriptionFrame):
    """The text of the latest two stretches of speech, which replaces the latest `TranscriptionFrame`.

    Since that one may itself be a revision, the text can be that of the whole turn.
    """


@dataclass
class RevisedEagerTranscriptionFrame(EagerTranscriptionFrame):
    """An eager text to be followed by a `RevisedTranscriptionFrame`."""


@dataclass
class CheckedTranscriptionFrame(RevisedTranscriptionFrame):
    """Other words that matter, heard by a second pass over the speech of the latest `TranscriptionFrame`.

    The text replaces that one's even after the commit of its turn, as long as nothing of the answer is being heard.

    Parameters:
        check: the number of the check; see `voice.second_pass.WordCheck`.
    """

    check: int = 0


@dataclass
class WordsCorrectedFrame(EagerEndOfTurnCancelFrame):
    """The words of the committed turn were corrected: the answer to them is withdrawn unheard, and another follows.

    Parameters:
        text: the former words of the turn.
        corrected: the new ones.
    """

    text: str = ""
    corrected: str = ""


@dataclass
class WordsCheckedFrame(SystemFrame):
    """A check of the latest words has ended.

    Parameters:
        record: its result.
    """

    record: CheckRecord = field(default_factory=lambda: CheckRecord(outcome="same"))


@dataclass
class AnswerHeldFrame(SystemFrame):
    """An answer that had to wait for the check of its words is spoken now.

    Parameters:
        seconds: how long its first clause waited.
    """

    seconds: float = 0.0


@dataclass
class HangFrame(SystemFrame):
    """A part has hung; the remedy follows.

    Parameters:
        hang: for the record.
        reason: one sentence.
    """

    hang: HangRecord = field(default_factory=lambda: HangRecord(part="processor"))
    reason: str = ""


@dataclass
class HangReasonFrame(HoldPhraseFrame):
    """The reason for a silence, to be spoken."""
