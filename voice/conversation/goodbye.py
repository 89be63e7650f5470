"""Ends a call after a farewell: the caller has said goodbye, the agent has answered, and silence follows."""

import asyncio
import re
from functools import cache

from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EndFrame,
    EndWorkerFrame,
    Frame,
    OutputTransportMessageUrgentFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage, standard_message_text
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords
from voice.turns.words.agent_question import asked
from voice.wire.messages import EndedMessage, to_rtvi

MOST_WORDS = 12
"""The most characters of a mere farewell."""
GRACE = 2.0
"""Seconds after the agent's farewell within which the caller can still continue the call."""


def is_farewell(text: str, language: TurnWords = ENGLISH) -> bool:
    """Whether `text` is a farewell and nothing else: "okay, thanks, bye", but not "say goodbye to her"."""
    words = re.sub(r"[^\w\s']", " ", text.lower().replace("’", "'")).split()
    return 0 < len(words) <= MOST_WORDS and _farewell(language).fullmatch(" ".join(words)) is not None


@cache
def _farewell(language: TurnWords) -> re.Pattern[str]:
    said, around = language.farewell, language.around_farewell
    return re.compile(rf"(?:(?:{around}) )*(?:{said})(?: (?:{said}|{around}))*")


class EndsAtGoodbye(FrameProcessor):
    """Precedes the output and ends the call once a farewell has been answered and played, after informing the client.

    The call goes on if the caller speaks again within `grace` seconds, or if the answer asks something ("Is there
    anything else?").

    Args:
        context: the call's conversation.
        grace: seconds between the end of the agent's farewell and that of the call.
        language: the words of the spoken language.
    """

    def __init__(self, context: LLMContext, *, grace: float = GRACE, language: TurnWords = ENGLISH) -> None:
        super().__init__()
        self._context = context
        self._grace, self._language = grace, language
        self._speaking = self._answered = False
        self._ending: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follow who speaks; pass everything on."""
        await super().process_frame(frame, direction)
        match frame:
            case UserStartedSpeakingFrame():
                self._speaking, self._answered = True, False
                await self._go_on()
            case UserStoppedSpeakingFrame():
                self._speaking = False
            case BotStoppedSpeakingFrame() if not self._speaking:
                self._answered = True
                self._wait()
            case VADUserStoppedSpeakingFrame():
                # It was not a turn: a cough, or a word to somebody else.
                self._wait()
            case VADUserStartedSpeakingFrame() | BotStartedSpeakingFrame() | EndFrame() | CancelFrame():
                await self._go_on()
            case _:
                pass
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        """The call is over."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated
        await self._go_on()

    def _wait(self) -> None:
        if self._answered and self._ending is None and is_farewell(self._last("user"), self._language):
            self._ending = self.create_task(self._end(), "end after a farewell")

    async def _end(self) -> None:
        await asyncio.sleep(self._grace)
        self._ending = None
        if asked(self._last("assistant"), self._language) is None:
            logger.info("The caller said goodbye: the call ends.")
            reason = "the caller said goodbye"
            await self.push_frame(OutputTransportMessageUrgentFrame(message=to_rtvi(EndedMessage(reason))))
            await self.push_frame(EndWorkerFrame(reason=reason))

    async def _go_on(self) -> None:
        ending, self._ending = self._ending, None
        if ending is not None:
            await self.cancel_task(ending)

    def _last(self, role: str) -> str:
        """The text of the latest message with this role."""
        for message in reversed(self._context.get_messages()):
            if not isinstance(message, LLMSpecificMessage) and message.get("role") == role:
                return standard_message_text(message) or ""
        return ""
