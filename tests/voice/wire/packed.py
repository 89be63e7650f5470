"""pipecat's protobuf frames, written without any of the code under test."""

from pipecat.frames.protobufs import frames_pb2


def audio(pcm: bytes, *, rate: int = 16000, channels: int = 1) -> bytes:
    """A frame with audio."""
    frame = frames_pb2.Frame()
    frame.audio.audio, frame.audio.sample_rate, frame.audio.num_channels = pcm, rate, channels
    return bytes(frame.SerializeToString())


def message(text: str) -> bytes:
    """A frame with a message; `text` is JSON unless it is meant to be refused."""
    frame = frames_pb2.Frame()
    frame.message.data = text
    return bytes(frame.SerializeToString())


def text_frame(text: str) -> bytes:
    """A frame with text, which only servers send."""
    frame = frames_pb2.Frame()
    frame.text.text = text
    return bytes(frame.SerializeToString())
