"""The loudspeaker's sound is taken out of the microphone's, in a simulated room with recorded voices."""

import builtins
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.voice.client.sound.scripted_card import ScriptedCard
from tests.voice.client.sound.simulated_room import SimulatedRoom
from voice.client.fixtures.audio_file import read_audio
from voice.client.sound.device_line import DeviceLine
from voice.client.sound.echo_canceller import FRAME, HELD_BACK, EchoCanceller, webrtc
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm
from voice.client.sound.sound_card import CARD_BLOCK
from voice.errors import ComponentError

SAMPLES = Path(__file__).parents[4] / "samples"


def spoken(*paths: str) -> Pcm:
    return np.concatenate([read_audio(SAMPLES / path).samples for path in paths])


@pytest.fixture(scope="module")
def bot() -> Pcm:
    """Fourteen seconds of speech."""
    return spoken(*(f"tour/{number:02d}.wav" for number in (3, 4, 5, 7, 9)))[: 14 * RATE]


def cleaned(heard: Pcm, played: Pcm, *, latency: float = 0.0, block: int = CARD_BLOCK) -> Pcm:
    canceller = EchoCanceller(latency=latency)
    blocks = range(0, len(heard), block)
    return np.concatenate([canceller.clean(heard[at : at + block], played[at : at + block]) for at in blocks])


def attenuation(heard: Pcm, left: Pcm, *, since: float) -> float:
    """dB by which the echo is softer, from `since` seconds on."""
    first, last = round(since * RATE), min(len(heard), len(left))
    before, after = (float(np.mean(one[first:last].astype(np.float64) ** 2)) for one in (heard, left))
    return float(10 * np.log10(before / max(after, 1e-9)))


@pytest.mark.parametrize(("level", "delay", "least"), [(-6, 0.04, 25), (-12, 0.2, 25), (-20, 0.3, 20)])
def test_the_agents_voice_is_taken_out_within_two_seconds(bot: Pcm, level: float, delay: float, least: float) -> None:
    heard = SimulatedRoom(delay=delay, level=level, drift=50).hear(bot)
    assert attenuation(heard, cleaned(heard, bot), since=2) > least


def test_an_echo_whose_delay_jumps_is_found_again_within_four_seconds(bot: Pcm) -> None:
    early, late = (SimulatedRoom(delay=delay, level=-12).hear(bot) for delay in (0.05, 0.17))
    heard = np.concatenate([early[: 5 * RATE], late[5 * RATE :]])
    assert attenuation(heard, cleaned(heard, bot), since=9) > 20


def test_a_card_that_is_slower_than_the_canceller_can_find_is_given_the_reference_later(bot: Pcm) -> None:
    latency = 0.8
    heard = SimulatedRoom(delay=latency + 0.01, level=-12).hear(bot)
    assert attenuation(heard, cleaned(heard, bot, latency=latency), since=3) > 25
    assert attenuation(heard, cleaned(heard, bot, latency=HELD_BACK), since=3) < 20


def test_the_users_speech_stays_where_and_as_loud_as_it_was(bot: Pcm) -> None:
    user = spoken("tour/02.wav", "tour/04.wav", "tour/09.wav")
    silent = np.zeros(len(user), np.int16)
    alone = cleaned(SimulatedRoom(delay=0.1, level=-12).hear(silent, user), silent)
    size = len(alone)
    fast = 1 << (2 * size - 1).bit_length()
    both = np.fft.irfft(np.fft.rfft(alone, fast) * np.conj(np.fft.rfft(user[:size], fast)), fast)
    assert int(np.argmax(both)) in (*range(4), *range(fast - 3, fast)), "samples by which speech is late"
    assert abs(attenuation(user, alone, since=1)) < 8, "dB by which the gain control changes an ordinary voice"


@pytest.mark.parametrize("block", [64, CARD_BLOCK, 3 * FRAME + 1])
def test_samples_come_out_in_order_in_whole_frames(block: int) -> None:
    calls: list[tuple[int, int]] = []

    def unchanged(heard: Pcm, played: Pcm) -> Pcm:
        calls.append((len(heard), len(played)))
        return heard - played

    canceller = EchoCanceller(latency=0.0, process=unchanged, late=0)
    heard = np.arange(10 * RATE // 10, dtype=np.int16)
    outs = [canceller.clean(heard[at : at + block], heard[at : at + block]) for at in range(0, len(heard), block)]
    out = np.concatenate(outs)
    assert not out.any(), "both sides stay aligned"
    assert len(heard) - len(out) < FRAME
    assert all(near == far and near % FRAME == 0 for near, far in calls)


async def test_a_call_sends_what_the_canceller_leaves_and_at_most_one_block_later() -> None:
    card = ScriptedCard(latency=(0.01, 0.02))
    latencies: list[float] = []

    def canceller(latency: float) -> EchoCanceller:
        latencies.append(latency)
        return EchoCanceller(latency=latency, process=lambda heard, played: heard + 1, late=0)

    line = DeviceLine(canceller=canceller, open_stream=card.open)
    line.open(keep=True)
    heard = np.arange(20 * MESSAGE_SAMPLES, dtype=np.int16)
    await card.exchange(np.concatenate([heard, np.zeros(CARD_BLOCK, np.int16)]))
    frames = line.frames()
    got = np.concatenate([await anext(frames) for _ in range(20)])
    await frames.aclose()
    assert np.array_equal(got, heard + 1)
    assert latencies == [pytest.approx(0.03)]


def test_a_missing_package_is_named_with_the_way_around(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Callable[..., Any] = builtins.__import__

    def missing(name: str, *rest: Any, **options: Any) -> Any:
        if name == "pywebrtc_audio":
            raise ImportError("no module")
        return found(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ComponentError, match="--no-echo-cancellation"):
        webrtc()
