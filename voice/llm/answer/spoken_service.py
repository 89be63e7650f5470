"""A language model service with spoken answers: synthesised while held back, and divided into parts if long."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    EagerEndOfTurnCancelFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    SystemFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings

from latency.record.requests import AnswerPart
from voice.frames import AnswerTextFrame, EarlySynthesisFrame, WordsCorrectedFrame
from voice.language.turn_words import TurnWords
from voice.llm.answer.conversation import last_assistant_text, last_user_text
from voice.llm.answer.held_answers import HeldAnswers
from voice.llm.answer.introduction import Introduces, never
from voice.llm.answer.long_answer import Part, Piece
from voice.llm.interruption import BROKEN_OFF
from voice.second_pass import WordCheck
from voice.turns.words.short_replies import means_go_on, was_asked


@dataclass(frozen=True, slots=True)
class PartRules:
    """When and how the caller is asked whether to go on.

    Parameters:
        seconds: the longest answer without a question.
        question: the question.
        words: those of the spoken language.
    """

    seconds: float
    question: str
    words: TurnWords


def _always(_text: str) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRules:
    """How the answers of a call are spoken.

    Parameters:
        prepares: whether the first clauses of speculative answers are synthesised early.
        is_wanted: whether a speculative answer to these words is still useful.
        parts: when a long answer is interrupted by a question; None to speak every answer to its end.
        introduction: how long a beginning such as "Sure," lasts if it may be spoken alone.
        check: the checks of the caller's words, for which answers wait.
    """

    prepares: bool = False
    is_wanted: Callable[[str], bool] = _always
    parts: PartRules | None = None
    introduction: Introduces = never
    check: WordCheck = field(default_factory=WordCheck)


@dataclass
class AnswerPartFrame(SystemFrame):
    """The answer under way is part of a longer one.

    Parameters:
        part: for the record.
    """

    part: AnswerPart = AnswerPart()


class SpokenLLMService(LLMService[Any], HeldAnswers):
    """Speaks answers early, but not before the caller's words have been checked, and long ones in parts.

    pipecat's speculation gate holds a speculative answer back. Its first clause still goes to synthesis, as an
    `EarlySynthesisFrame`, so that its audio is ready when the gate releases the answer.

    A long answer is spoken up to the end of a sentence; the caller is then asked whether to go on. The question ends
    the answer, and stays in the conversation. After a yes, the rest is spoken at once as the next answer, without the
    model. After anything else, or if the model had not finished when the caller spoke, the rest is dropped and the
    caller is answered as usual; the conversation then holds only the words heard.

    Args:
        model: its name. pipecat's other settings of a model do not apply.
        rules: how the call's answers are spoken.
        kwargs: for pipecat's `LLMService`.
    """

    def __init__(self, *, model: str, rules: SpeechRules | None = None, **kwargs: Any) -> None:
        settings = LLMSettings(
            model=model,
            system_instruction=None,
            temperature=None,
            max_tokens=None,
            top_p=None,
            top_k=None,
            frequency_penalty=None,
            presence_penalty=None,
            seed=None,
            filter_incomplete_user_turns=False,
            user_turn_completion_config=None,
        )
        super().__init__(settings=settings, **kwargs)
        self._rules = rules or SpeechRules()
        self.hold_for(self._rules.check, prepares=self._rules.prepares)
        self._prepares = False
        """Whether the answer's first clause is still to be synthesised early."""
        self._part: Part | None = None
        self._number = 1
        self._before: tuple[Part | None] | None = None
        """The part that preceded the present speculative answer, in case that is discarded."""
        self._spaced = False
        """Whether the text spoken so far ends with white space."""
        self._in_order = asyncio.Lock()

    def is_wanted(self, frame: LLMContextFrame) -> bool:
        """Whether to answer a context.

        A cancellation may overtake the context that starts the speculation. pipecat then finds nothing to cancel, and
        the end of the turn would release an answer to words that the user never said.
        """
        return not frame.speculation or self._rules.is_wanted(last_user_text(frame.context) or "")

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follow the call; an interruption discards a speculative answer, and the turn strategy is notified.

        Such an interruption comes not from the user's voice but, for example, from a text that the client sends during
        a turn. The gate drops the held answer; if it were confirmed later, the turn would never be answered.
        """
        if isinstance(frame, InterruptionFrame | EagerEndOfTurnCancelFrame):
            if self._before and self._speculation_gate.is_speculating:
                (self._part,), self._before = self._before, None
            if isinstance(frame, InterruptionFrame) and self._part:
                self._part.cut()
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame) and self._speculation_gate.is_speculating:
            await self.broadcast_frame(EagerEndOfTurnCancelFrame)
        if isinstance(frame, UserStoppedSpeakingFrame):
            self._before = None
        elif isinstance(frame, BotStoppedSpeakingFrame) and self._part:
            async with self._in_order:
                await self._push_pieces(self._part.release())

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Push a frame, unless it belongs to the rest of a long answer."""
        rules = self._rules.parts
        if rules is None or self._skip_tts or direction is not FrameDirection.DOWNSTREAM:
            await self._push(frame, direction)
            return
        match frame:
            case LLMFullResponseStartFrame():
                self._begin(rules)
                await self._push(frame)
            case AnswerTextFrame() if self._part:
                async with self._in_order:
                    await self._take(frame, self._part, rules)
            case LLMFullResponseEndFrame() if self._part:
                async with self._in_order:
                    await self._push_pieces(self._part.end())
                # The question has ended the answer.
                if not self._part.asks:
                    await self._push(frame)
            case _:
                await self._push(frame)

    async def _push(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Push a frame; if it completes a speculative answer's first clause, have that synthesised."""
        clause = self._first_clause(frame) if direction is FrameDirection.DOWNSTREAM else None
        await super().push_frame(frame, direction)
        if clause is not None:
            await super().push_frame(EarlySynthesisFrame(text=clause))

    def _first_clause(self, frame: Frame) -> str | None:
        match frame:
            case LLMFullResponseStartFrame():
                self._prepares = self._rules.prepares and self._speculation_gate.is_speculating
            case AnswerTextFrame(clauses=(first, *_)) if self._prepares:
                self._prepares = False
                return first
        return None

    async def goes_on(self, frame: LLMContextFrame) -> bool:
        """Speak the rest of the last answer if the caller asks for it; returns whether so.

        For a speculative context, it is a speculative answer, which can be discarded.
        """
        part, rules = self._part, self._rules.parts
        if rules is None or part is None or not part.can_go_on:
            return False
        heard = (last_assistant_text(frame.context) or "").removesuffix(BROKEN_OFF)
        text = last_user_text(frame.context) or ""
        if not (means_go_on(text, rules.words) and was_asked(heard, rules.question)):
            return False
        rest, self._number = part.rest, part.number + 1
        await self.push_frame(LLMFullResponseStartFrame())
        try:
            await self.push_frame(AnswerPartFrame(part=AnswerPart(number=part.number + 1)))
            for place, piece in enumerate(rest):
                text = piece.text if place else piece.text.lstrip()
                await self.push_frame(AnswerTextFrame(text, clauses=piece.clauses))
        finally:
            await self.push_frame(LLMFullResponseEndFrame())
        return True

    async def _handle_eager_end_of_turn_cancel(self, frame: EagerEndOfTurnCancelFrame) -> None:
        """Stop generating a discarded answer: a speculative one, or one to words that have been corrected."""
        if isinstance(frame, WordsCorrectedFrame):
            await self._start_interruption()  # type: ignore[no-untyped-call]  # as pipecat does
            await self.stop_all_metrics()  # type: ignore[no-untyped-call]
        else:
            await super()._handle_eager_end_of_turn_cancel(frame)

    def drop_rest(self) -> None:
        """Drop the rest of a long answer, because another service answers."""
        self._part = None

    def _begin(self, rules: PartRules) -> None:
        if self._speculation_gate.is_speculating and self._before is None:
            self._before = (self._part,)
        self._part, self._number = Part(rules.seconds, number=self._number), 1

    async def _take(self, frame: AnswerTextFrame, part: Part, rules: PartRules) -> None:
        asked = part.asks
        for piece in part.take(Piece(frame.text, frame.clauses)):
            self._spaced = piece.text[-1:].isspace()
            whole = (piece.text, piece.clauses) == (frame.text, frame.clauses)
            await self._push(frame if whole else replace(frame, text=piece.text, clauses=piece.clauses))
        if part.asks and not asked:
            record = AnswerPart(number=part.number, asks=True)
            question = rules.question if self._spaced else f" {rules.question}"
            await self._push(AnswerPartFrame(part=record))
            await self._push(AnswerTextFrame(question, clauses=(rules.question,)))
            await self._push(LLMFullResponseEndFrame())

    async def _push_pieces(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            await self._push(AnswerTextFrame(piece.text, clauses=piece.clauses))
