"""pipecat's eval harness as a call's client: it sends JSON instead of protobuf frames, and has more rights than others.

Its first message, `eval-connect`, identifies it and says whether it wants the agent's speech. It may then set the
conversation, subscribe to tool calls and end the call, so it needs the server's own token.
"""

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from pipecat.frames.frames import Frame, InputAudioRawFrame, InputTransportMessageFrame, LLMConfigureOutputFrame

from voice.errors import WireError
from voice.plain_text import plain_values

if TYPE_CHECKING:
    from pipecat.evals.serializer import EvalSerializer

AUDIO = "raw-audio"
"""The type of messages with the user's audio."""


@dataclass(frozen=True, slots=True)
class Harness:
    """The harness at the other end of one call."""

    serializer: "EvalSerializer"
    """pipecat's serializer for the agent's side."""
    skip_tts: bool
    """Whether the harness wants answers as text only."""

    @classmethod
    def that_connects(cls, first: str) -> Self | None:
        """The harness, if this is its first message; None for another client's.

        Raises:
            WireError: its flags cannot be read.
        """
        if "eval-connect" not in first:
            return None
        from pipecat.evals.serializer import EvalSerializer, parse_eval_connect

        try:
            flags = parse_eval_connect(json.loads(first))
        except (ValueError, RecursionError) as error:
            raise WireError("the flags of eval-connect cannot be read") from error
        if flags is None:
            return None
        serializer = EvalSerializer()
        serializer.set_capture_audio(flags.capture_bot_audio)
        serializer.set_capture_images(flags.capture_bot_images)
        return cls(serializer, flags.skip_tts)

    def configuration(self) -> Frame:
        """The frame that sets the agent's output for this harness."""
        return LLMConfigureOutputFrame(skip_tts=self.skip_tts)

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """Turn a message into a frame; None if it needs no further handling.

        Raises:
            WireError: it is broken.
        """
        try:
            frame = await self.serializer.deserialize(data)
            if isinstance(frame, InputTransportMessageFrame) and frame.message.get("type") == AUDIO:
                return _audio(frame.message["data"])
            if isinstance(frame, InputTransportMessageFrame):
                frame.message = plain_values(frame.message)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise WireError("a message of the eval harness cannot be read") from error
        return frame


def _audio(data: dict[str, object]) -> InputAudioRawFrame:
    """The user's audio, as the harness sends it."""
    audio = base64.b64decode(str(data["base64Audio"]), validate=True)
    return InputAudioRawFrame(audio, int(str(data["sampleRate"])), int(str(data["numChannels"])))
