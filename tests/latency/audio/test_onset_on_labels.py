"""How far off onsets are, measured on recordings whose truth is labelled, in quiet and in noise."""

import wave
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from latency.audio.onset import estimated_speech, utterances
from latency.judge.session import judge_session
from latency.record.session import Session
from latency.record.turn import TurnRecord
from latency.selftest import synthetic

RATE = 16000
FRAME = 0.0101
ROOT = Path(__file__).resolve().parents[3]
SAMPLES, HUMAN = ROOT / "samples", ROOT.parent / "shared" / "audio" / "human"
AROUND = 0.6
"""Seconds of the line before and after a recording."""
needs_human = pytest.mark.skipif(not HUMAN.is_dir(), reason="recordings of people are not beside this repository")


def clips(kind: str) -> Iterator[tuple[Any, list[tuple[float, float]]]]:
    """Recordings and their true speech, without those that hold other sounds or coarse labels."""
    # The librivox labels are good to 60 ms, by their own account.
    files = sorted(SAMPLES.glob("*/*.wav") if kind == "synthetic" else HUMAN.glob("ast_*.wav"))
    for file in files:
        rows = [line.split("\t") for line in file.with_suffix(".txt").read_text(encoding="utf-8").splitlines()]
        if any(label not in ("speech", "backchannel") for _, _, label in rows):
            continue
        with wave.open(str(file)) as reader:
            samples = np.frombuffer(reader.readframes(reader.getnframes()), "<i2") / 32768
        yield samples, [(float(start), float(end)) for start, end, _ in rows]


def errors(kind: str, snr: float | None, *, pink: bool = True) -> tuple[Any, Any]:
    """By how much the estimated first start and last end of each clip are off, seconds."""
    random = np.random.default_rng(1)
    starts, ends = [], []
    for samples, speech in clips(kind):
        line = np.pad(samples, round(AROUND * RATE))
        if snr is not None:
            said = np.concatenate([samples[round(start * RATE) : round(end * RATE)] for start, end in speech])
            level = 10 * np.log10(np.mean(said**2)) - snr
            line = line + hum(len(line), random, level, pink=pink)
        found = estimated_speech(line, RATE)
        starts.append(abs(found[0].start - AROUND - speech[0][0]) if found else np.inf)
        ends.append(abs(found[-1].end - AROUND - speech[-1][1]) if found else np.inf)
    return np.array(starts), np.array(ends)


def hum(count: int, random: np.random.Generator, level: float, *, pink: bool) -> Any:
    """Steady noise of so many samples, dBFS; made in whole seconds, of which a spectrum is quickly taken."""
    return synthetic.noise(-(-count // RATE), RATE, random, level=level, pink=pink)[:count]


def within(values: Any) -> float:
    return float(np.mean(np.array(values) <= FRAME))


KINDS = ["synthetic", pytest.param("human", marks=needs_human)]


@pytest.mark.parametrize("kind", KINDS)
def test_in_quiet_starts_and_ends_are_found_to_10_ms(kind: str) -> None:
    starts, ends = errors(kind, None)
    print(f"{kind} in quiet, {len(starts)} turns: {within(starts):.0%} of starts, {within(ends):.0%} of ends")
    assert within(starts) >= 0.95
    assert within(ends) >= 0.95


@pytest.mark.parametrize("pink", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_at_20_db_starts_are_found_to_10_ms(kind: str, pink: bool) -> None:
    starts, ends = errors(kind, 20, pink=pink)
    print(f"{kind} at 20 dB, {len(starts)} turns: {within(starts):.0%} of starts, {within(ends):.0%} of ends")
    assert within(starts) >= 0.95
    # A voice dies away below the noise; its end, as labelled, is no longer in the recording.
    assert within(ends) >= 0.5


@pytest.mark.parametrize("pink", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_at_10_db_the_starts_that_are_lost_are_soft_consonants(kind: str, pink: bool) -> None:
    starts, _ = errors(kind, 10, pink=pink)
    print(
        f"{kind} at 10 dB, {len(starts)} turns: {within(starts):.0%} of starts, 90 % to {np.quantile(starts, 0.9):.3f}"
    )
    assert within(starts) >= 0.7
    assert np.quantile(starts, 0.9) < 0.1


@cache
def call(kind: str, noise: float | None, most: int | None = None) -> tuple[list[TurnRecord], Any, list[float]]:
    """Clips as questions and as answers, the questions under noise; and the true latencies."""
    random, turns, truth, parts, at = np.random.default_rng(2), [], [], [], 0.0
    for number, (samples, speech) in enumerate(islice(clips(kind), most)):
        gap, labelled = 0.2 + 0.0137 * number, [[at + start, at + end] for start, end in speech]
        lead = round((len(samples) / RATE - speech[-1][1] + gap) * RATE)
        turns.append(TurnRecord(session="s", turn=number, speech=tuple(map(tuple, labelled)), wants_answer=True))
        answered = at + len(samples) / RATE + lead / RATE + speech[0][0]
        truth.append(answered - labelled[-1][1])
        quiet = np.zeros(lead)
        user, bot = np.r_[samples, quiet, np.zeros(len(samples))], np.r_[np.zeros(len(samples)), quiet, samples]
        level = None if noise is None else 10 * np.log10(np.mean(samples**2)) - noise
        if level is not None:
            user = user + hum(len(user), random, level, pink=True)
        pause = np.zeros((RATE // 2, 2))
        parts += [np.stack([user, bot], axis=1), pause]
        at += (len(user) + len(pause)) / RATE
    return turns, np.concatenate(parts), truth


def latencies(turns: list[TurnRecord], stereo: Any) -> list[float | None]:
    samples = np.round(stereo * 32767).clip(-32768, 32767).astype(np.int16)
    return [one.latency for one in judge_session(Session(name="s"), turns, samples).outcomes]


@pytest.mark.parametrize("kind", KINDS)
def test_the_latency_of_a_labelled_turn_is_right_to_10_ms(kind: str) -> None:
    turns, stereo, truth = call(kind, None)
    found = latencies(turns, stereo)
    off = [abs(value - true) if value is not None else np.inf for value, true in zip(found, truth, strict=True)]
    print(f"{kind}, {len(off)} turns: {within(off):.0%} of latencies, worst {max(off):.4f} s")
    assert within(off) >= 0.95


def test_noise_under_a_labelled_user_plays_no_part_in_latency() -> None:
    turns, stereo, _ = call("synthetic", None, 6)
    noisy_turns, noisy, _ = call("synthetic", 10.0, 6)
    assert latencies(noisy_turns, noisy) == latencies(turns, stereo)


def changed(stereo: Any, how: str) -> Any:
    random = np.random.default_rng(3)
    said = stereo[:, 1][np.abs(stereo[:, 1]) > 0.01]
    level = 10 * np.log10(np.mean(said**2))
    levels = {"white 20 dB": level - 20, "pink 25 dB": level - 25, "-50 dBFS": -50.0, "-60 dBFS": -60.0}
    if how == "30 dB softer":
        return stereo * 10 ** (-30 / 20)
    return stereo + hum(len(stereo), random, levels[how], pink=how.startswith("pink"))[:, None]


@pytest.mark.parametrize("how", ["30 dB softer", "white 20 dB", "pink 25 dB", "-50 dBFS", "-60 dBFS"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_recording_softer_or_noisier_has_the_same_answers(kind: str, how: str) -> None:
    turns, stereo, _ = call(kind, None, 24)
    before, after = latencies(turns, stereo), latencies(turns, changed(stereo, how))
    moved = [abs(a - b) if a is not None and b is not None else np.inf for a, b in zip(before, after, strict=True)]
    print(f"{kind}, {how}: {within(moved):.0%} of {len(moved)} within a frame, worst {max(moved):.4f} s")
    assert within(moved) >= 0.95


def test_an_utterance_keeps_its_place_when_other_speech_is_added() -> None:
    _, stereo, _ = call("synthetic", None, 24)
    part = stereo[: 20 * RATE, 1]
    alone = utterances(part, RATE)
    longer = utterances(np.concatenate([part, np.zeros(RATE), stereo[20 * RATE : 40 * RATE, 1]]), RATE)
    assert [one.start for one in longer[: len(alone)]] == pytest.approx([one.start for one in alone], abs=FRAME)


def missed(kind: str, snr: float, *, pink: bool, seeds: int = 2) -> tuple[Any, list[float]]:
    """Errors of the starts on a bot's channel under noise, seconds, and how loud what was missed is, dB of the noise.

    The truth is what the same rule finds in the clean recording: it is what a listener to that can hear.
    """
    off, covered = [], []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        for samples, speech in clips(kind):
            line = np.pad(samples, round(AROUND * RATE))
            said = np.concatenate([samples[round(start * RATE) : round(end * RATE)] for start, end in speech])
            level = 10 * np.log10(np.mean(said**2)) - snr
            true = utterances(line, RATE)[0].start
            found = utterances(line + hum(len(line), random, level, pink=pink), RATE)[0].start
            off.append(found - true)
            if found - true > FRAME:
                lost = line[round(true * RATE) : round((found - 0.005) * RATE)]
                covered.append(10 * np.log10(np.mean(lost**2)) - level)
    return np.array(off), covered


@pytest.mark.parametrize("pink", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("snr", "share"), [(20, 0.95), (15, 0.95), (10, 0.8)])
def test_the_starts_that_noise_on_the_bots_own_channel_hides_are_softer_than_the_noise(
    kind: str, snr: float, share: float, pink: bool
) -> None:
    off, covered = missed(kind, snr, pink=pink)
    tail = np.quantile(np.abs(off), 0.95)
    print(f"{kind}, {snr} dB: {within(np.abs(off)):.0%} of {len(off)}, 95 % to {tail:.3f}; missed {np.round(covered)}")
    assert within(np.abs(off)) >= share
    assert tail < 0.06
    # A first consonant below the noise is not there to be found to 10 ms, by any ear.
    assert all(level < -3 for level in covered)
    # Noise is taken for the beginning of speech once in fifty times at the most.
    assert np.mean(off < -FRAME) <= 0.05
