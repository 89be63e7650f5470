"""Frames by which language models report to the rest of the pipeline."""

from dataclasses import dataclass

from pipecat.frames.frames import LLMTextFrame, SystemFrame, TTSSpeakFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.utils.text.base_text_aggregator import TextType

from latency.record.requests import AnswerRecord, AttemptRecord, PhraseKind

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
class SpeakAheadFrame(SystemFrame):
    """The first clause of a speculative answer: synthesis prepares its audio and holds it back.

    The prepared audio is used when that clause arrives as text, and discarded at an `EagerEndOfTurnCancelFrame`, an
    interruption or another `SpeakAheadFrame`.

    Parameters:
        text: the clause, the first of those in the answer's `AnswerTextFrame`s.
    """

    text: str = ""


@dataclass
class AttemptsFrame(SystemFrame):
    """What became of the requests for one answer so far; sent again whenever that changes.

    Instants are seconds on `time.monotonic`, None while unknown.

    Parameters:
        answer: the answer.
        attempts: the requests made for it, in order.
        final: whether nothing will change any more.
    """

    answer: AnswerRecord = AnswerRecord()
    attempts: tuple[AttemptRecord, ...] = ()
    final: bool = False
