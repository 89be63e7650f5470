"""Joins a caller's words to a turn that was committed too early, so that the conversation has one message."""

from collections.abc import Callable

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    LLMContextAssistantTurnFrame,
    StartFrame,
    TranscriptionFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMUserAggregator,
    LLMUserAggregatorParams,
    UserTurnMessageAddedMessage,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.utils.string import TextPartForConcatenation

from voice.frames import CheckedTranscriptionFrame, RevisedTranscriptionFrame, TurnJoinsFrame, WordsCorrectedFrame
from voice.llm.interruption import latest, mark
from voice.second_pass import WordCheck
from voice.turns.turn_so_far import joined


class JoiningUserAggregator(LLMUserAggregator):
    """pipecat's user aggregator, with committed turns that can go on (`TurnJoinsFrame`).

    The earlier turn's message is removed from the conversation, and the joined words are added, and answered, when the
    turn ends. The heard part of the first answer stays before them, marked as interrupted, if it has a whole word. Tool
    calls and their results stay: they have taken effect, and the model that answers the joined words must know.

    A transcript that revises the latest one (`RevisedTranscriptionFrame`) replaces it. So does one by a check
    (`CheckedTranscriptionFrame`), even if its turn has been committed: the turn is then answered anew. Nothing of the
    first answer has been heard as long as the check is awaited. Event: `on_user_turn_message_corrected`.

    Unless a later part listens, the caller's audio ends here; otherwise it would pass through half of the pipeline, 31
    times a second in each call.

    Args:
        context: the call's conversation.
        params: as for pipecat's.
        passes_audio: whether the caller's audio is passed on.
        audio_through: called when a frame of the caller's audio arrives here.
        check: the checks of the call's transcripts.
    """

    def __init__(
        self,
        context: LLMContext,
        *,
        params: LLMUserAggregatorParams,
        passes_audio: bool = True,
        audio_through: Callable[[], None] = lambda: None,
        check: WordCheck | None = None,
    ) -> None:
        super().__init__(context, params=params)
        self._check = check or WordCheck()
        self._last: str | None = None
        self._correctable: str | None = None
        """The latest transcript, if it is the end of the last committed turn."""
        self._passes_audio, self._audio_through = passes_audio, audio_through
        self._written: str | None = None
        self._joining = False
        self.add_event_handler("on_user_turn_message_added", self._note)
        self._register_event_handler("on_user_turn_message_corrected")

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Take back the last turn if it goes on; then do as pipecat's."""
        match frame:
            case TurnJoinsFrame():
                self._take_back()
            case LLMContextAssistantTurnFrame() if self._joining:
                # The words that were heard of the first answer.
                mark(self.context, frame.text)
                self._joining = False
            case CheckedTranscriptionFrame() if not (self._check.awaits(frame.check) and self._aggregation):
                await self._correct(frame)
                return
            case _:
                pass
        await super().process_frame(frame, direction)
        if isinstance(frame, CheckedTranscriptionFrame):
            self._check.end(frame.check)
        if isinstance(frame, StartFrame):
            # pipecat detects a silent caller only once the agent has spoken, but a call may begin in silence.
            await self._user_idle_controller.wait_for_user()

    def aggregation_string(self) -> str:
        """The turn's message: the transcripts of its stretches of speech, joined as one text."""
        if any(part.includes_inter_part_spaces for part in self._aggregation):
            return super().aggregation_string()
        return joined(part.text for part in self._aggregation)

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Pass a frame on, unless it is audio that no later part listens to."""
        is_audio = isinstance(frame, InputAudioRawFrame)
        if is_audio:
            self._audio_through()
        if self._passes_audio or not is_audio:
            await super().push_frame(frame, direction)

    async def _handle_transcription(self, frame: TranscriptionFrame) -> None:
        if isinstance(frame, RevisedTranscriptionFrame):
            del self._aggregation[-1:]
        self._last, self._correctable = frame.text, None
        await super()._handle_transcription(frame)

    async def _note(self, _: LLMUserAggregator, message: UserTurnMessageAddedMessage) -> None:
        self._written, self._joining, self._correctable = message.content, False, self._last

    async def _correct(self, frame: CheckedTranscriptionFrame) -> None:
        """Replace the last transcript in the message of the committed turn, and have it answered anew."""
        if not self._check.awaits(frame.check):
            return
        before, last = self._written, self._correctable
        found = None if before is None else latest(self.context, "user", before)
        if found is None or before is None or last is None or not before.endswith(last):
            self._check.drop()
            return
        after = joined([before.removesuffix(last).rstrip(), frame.text])
        found["content"] = after
        self._written, self._correctable = after, frame.text
        self._check.correct(frame.check)
        await self.broadcast_frame(WordsCorrectedFrame, text=before, corrected=after)
        await self._user_turn_controller.process_frame(WordsCorrectedFrame(text=before, corrected=after))
        await self.push_context_frame()
        await self._call_event_handler(
            "on_user_turn_message_corrected",
            UserTurnMessageAddedMessage(content=after, timestamp=self._user_turn_start_timestamp),
        )

    def _take_back(self) -> None:
        text = self._written
        found = None if text is None else latest(self.context, "user", text)
        if text is None or found is None:
            return
        messages = self.context.get_messages()
        self.context.set_messages([message for message in messages if message is not found])
        self._aggregation.insert(0, TextPartForConcatenation(text, includes_inter_part_spaces=False))
        self._written, self._joining = None, True
