"""A language model service whose long answers come in parts."""

import asyncio
from dataclasses import dataclass, replace
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

from latency.record.requests import AnswerPart
from voice.frames import AnswerTextFrame
from voice.language.turn_words import TurnWords
from voice.llm.answer.early_synthesis import EarlySynthesisLLMService, last_assistant_text, last_user_text
from voice.llm.interruption import BROKEN_OFF
from voice.llm.long_answers.part import Part, Piece
from voice.turns.words.short_replies import means_go_on, was_asked


@dataclass(frozen=True, slots=True)
class PartRules:
    """When and how the caller is asked.

    Parameters:
        seconds: how long an answer may be without a question.
        question: what is asked then.
        words: those of the language that is spoken.
    """

    seconds: float
    question: str
    words: TurnWords


@dataclass
class AnswerPartFrame(SystemFrame):
    """The answer under way is part of a longer one.

    Parameters:
        part: for the record.
    """

    part: AnswerPart = AnswerPart()


class PartsLLMService(EarlySynthesisLLMService):
    """Speaks a long answer up to the border of a sentence, and asks whether to go on.

    The question ends the answer, and stays in the conversation. When the caller says yes, the rest is spoken at once as
    the answer to that; the model is not asked. Anything else drops the rest, and is answered as usual: the conversation
    has only what was heard. So it is when the model had not finished before the caller spoke.

    Args:
        kwargs: for `EarlySynthesisLLMService`.
    """

    part_rules: PartRules | None = None
    """None to speak every answer to its end; set per call."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._part: Part | None = None
        self._number = 1
        self._before: tuple[Part | None] | None = None
        """The part before the speculative answer under way, which may be discarded."""
        self._spaced = False
        """Whether the text spoken so far ends with white space."""
        self._in_order = asyncio.Lock()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follow the call."""
        if isinstance(frame, InterruptionFrame | EagerEndOfTurnCancelFrame):
            if self._before and self._speculation_gate.is_speculating:
                (self._part,), self._before = self._before, None
            if isinstance(frame, InterruptionFrame) and self._part:
                self._part.cut()
        await super().process_frame(frame, direction)
        if isinstance(frame, UserStoppedSpeakingFrame):
            self._before = None
        elif isinstance(frame, BotStoppedSpeakingFrame) and self._part:
            async with self._in_order:
                await self._push_pieces(self._part.release())

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Push a frame, unless it belongs to the rest of a long answer."""
        rules = self.part_rules
        if rules is None or self._skip_tts or direction is not FrameDirection.DOWNSTREAM:
            await super().push_frame(frame, direction)
            return
        match frame:
            case LLMFullResponseStartFrame():
                self._begin(rules)
                await super().push_frame(frame, direction)
            case AnswerTextFrame() if self._part:
                async with self._in_order:
                    await self._take(frame, self._part, rules)
            case LLMFullResponseEndFrame() if self._part:
                async with self._in_order:
                    await self._push_pieces(self._part.end())
                # The question has ended the answer.
                if not self._part.asks:
                    await super().push_frame(frame, direction)
            case _:
                await super().push_frame(frame, direction)

    async def goes_on(self, frame: LLMContextFrame) -> bool:
        """Speak the rest of the last answer if that is what the caller asks for; returns whether it is.

        A speculative context gets it as a speculative answer, which can be discarded.
        """
        part, rules = self._part, self.part_rules
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

    def drop_rest(self) -> None:
        """Another service answers: the rest of a long answer is not asked for any more."""
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
            await super().push_frame(frame if whole else replace(frame, text=piece.text, clauses=piece.clauses))
        if part.asks and not asked:
            record = AnswerPart(number=part.number, asks=True)
            question = rules.question if self._spaced else f" {rules.question}"
            await super().push_frame(AnswerPartFrame(part=record))
            await super().push_frame(AnswerTextFrame(question, clauses=(rules.question,)))
            await super().push_frame(LLMFullResponseEndFrame())

    async def _push_pieces(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            await super().push_frame(AnswerTextFrame(piece.text, clauses=piece.clauses))
