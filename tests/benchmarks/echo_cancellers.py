"""The echo cancellers that were compared, each behind one call; their packages are optional."""

from collections.abc import Callable

import numpy as np

from voice.client.sound.echo_canceller import FRAME, Process, webrtc
from voice.client.sound.pcm import RATE, Pcm


def livekit() -> Process:
    """LiveKit's AudioProcessingModule: all of its features, as its documentation has them."""
    from livekit import rtc

    module = rtc.AudioProcessingModule(
        echo_cancellation=True, noise_suppression=True, high_pass_filter=True, auto_gain_control=True
    )

    def process(heard: Pcm, played: Pcm) -> Pcm:
        module.process_reverse_stream(rtc.AudioFrame(bytearray(played.tobytes()), RATE, 1, FRAME))
        frame = rtc.AudioFrame(bytearray(heard.tobytes()), RATE, 1, FRAME)
        module.set_stream_delay_ms(0)
        module.process_stream(frame)
        return np.frombuffer(bytes(frame.data), np.int16)

    return process


def aec_audio_processing() -> Process:
    """The package `aec-audio-processing` with its defaults."""
    from aec_audio_processing import AudioProcessor

    processor = AudioProcessor(enable_aec=True, enable_ns=True, enable_agc=True, enable_vad=False)
    processor.set_stream_format(RATE, 1, RATE, 1)
    processor.set_reverse_stream_format(RATE, 1)
    processor.set_stream_delay(0)

    def process(heard: Pcm, played: Pcm) -> Pcm:
        processor.process_reverse_stream(played.tobytes())
        return np.frombuffer(processor.process_stream(heard.tobytes()), np.int16)

    return process


def pywebrtc_defaults() -> Process:
    """The package `pywebrtc-audio` with the suppression and gain that its documentation shows."""
    from pywebrtc_audio import AudioProcessor

    process: Process = AudioProcessor(
        sample_rate=RATE, echo_cancellation=True, noise_suppression=True, auto_gain_control=True, agc_max_gain_db=12.0
    ).process
    return process


CANCELLERS: dict[str, Callable[[], Process]] = {
    "livekit": livekit,
    "aec-audio-processing": aec_audio_processing,
    "pywebrtc-audio, defaults": pywebrtc_defaults,
    "pywebrtc-audio, ours": webrtc,
}
"""What is compared; the last one is what `voice talk` uses."""


def cleaned(process: Process, heard: Pcm, played: Pcm) -> Pcm:
    """A whole recording, frame by frame."""
    frames = range(0, len(heard) - FRAME + 1, FRAME)
    return np.concatenate([process(heard[at : at + FRAME], played[at : at + FRAME]) for at in frames])
