"""A call's pipecat service on a local model."""

from contextlib import aclosing
from typing import Any

from pipecat.frames.frames import Frame, LLMContextFrame, LLMFullResponseEndFrame, LLMFullResponseStartFrame, StartFrame
from pipecat.metrics.metrics import LLMTokenUsage
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings

from voice.frames import LLMFailureFrame
from voice.inference_queue import InferenceJob
from voice.llm.context_adapter import PassThroughAdapter
from voice.llm.wires.in_process.engine import GenerationError, Message, Role, Usage
from voice.llm.wires.in_process.model import OwnModel

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "user"}
"""A small model follows pipecat's developer messages better if they come from the user."""


class OwnLLMService(LLMService[Any]):
    """Answers with a model in this process, without tools: models of this size make up their arguments.

    Cancelling the request, or the call's end, stops generation at the next token.

    Args:
        model: shared by all calls.
        prompt: the system prompt.
        max_tokens: the longest answer.
    """

    adapter_class = PassThroughAdapter

    def __init__(self, model: OwnModel, *, prompt: str, max_tokens: int, **kwargs: Any) -> None:
        settings = LLMSettings(
            model=model.name,
            system_instruction=prompt,
            max_tokens=max_tokens,
            # pipecat complains about missing settings.
            temperature=None,
            top_p=None,
            top_k=None,
            frequency_penalty=None,
            presence_penalty=None,
            seed=None,
            filter_incomplete_user_turns=False,
            user_turn_completion_config=None,
        )
        super().__init__(settings=settings, **kwargs)
        self._own, self._prompt, self._longest = model, prompt, max_tokens
        self._reading: InferenceJob[Usage] | None = None

    def can_generate_metrics(self) -> bool:
        """True: time to first token and usage are reported."""
        return True

    async def start(self, frame: StartFrame) -> None:
        """The call begins: have the model read its prompt."""
        await super().start(frame)
        self._reading = self._own.read(self._prompt)

    def read_ahead(self, context: LLMContext) -> None:
        """Have the model process the conversation so far, so that the next request adds only the caller's new words."""
        if self._reading:
            self._reading.cancel()
        self._reading = self._own.read(self._prompt, said(context))

    async def cleanup(self) -> None:
        """Withdraw requests that are no longer needed."""
        if self._reading:
            self._reading.cancel()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer contexts, and pass all other frames on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            if self._reading:
                # The part processed so far is kept.
                self._reading.cancel()
            await self._answer(frame.context)
        else:
            await self.push_frame(frame, direction)

    async def _answer(self, context: LLMContext) -> None:
        await self.push_frame(LLMFullResponseStartFrame())
        await self.start_processing_metrics()
        await self.start_ttfb_metrics()
        try:
            await self._speak(context)
        except GenerationError as error:
            await self.push_frame(LLMFailureFrame(text="", reason=f"{self._own.name} in this process: {error}."))
        finally:
            await self.stop_processing_metrics()
            await self.push_frame(LLMFullResponseEndFrame())

    async def _speak(self, context: LLMContext) -> None:
        async with aclosing(self._own.stream(self._prompt, said(context), longest=self._longest)) as pieces:
            async for piece in pieces:
                await self.stop_ttfb_metrics()
                if isinstance(piece, Usage):
                    await self._report(piece)
                else:
                    await self._push_llm_text(piece)

    async def _report(self, usage: Usage) -> None:
        await self.start_llm_usage_metrics(
            LLMTokenUsage(
                prompt_tokens=usage.prompt,
                completion_tokens=usage.answer,
                total_tokens=usage.prompt + usage.answer,
                cache_read_input_tokens=usage.kept,
            )
        )


def said(context: LLMContext) -> list[Message]:
    """A call's conversation in plain text, without tool calls, their results, and messages without words."""
    messages = []
    for message in context.get_messages():
        if isinstance(message, LLMSpecificMessage) or message.get("role") not in _ROLES:
            continue
        text = _text(message.get("content"))
        if text:
            messages.append(Message(_ROLES[message["role"]], text))
    return messages or [Message("user", "Hello.")]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return " ".join(text.strip() for text in texts if isinstance(text, str))
