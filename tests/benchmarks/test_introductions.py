"""How an introduction joins the rest of its clause: the pause, the words that Whisper recognises, and the pitch.

python -m pytest tests/benchmarks/test_introductions.py -m slow -s

Each sentence is spoken whole and in two pieces as a call speaks them; the voices draw their noise anew each time.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
import soxr

from latency.judge.answer import word_errors
from tests.pulled import use_pulled
from voice.models.store import find
from voice.tts.piper.pieces import AUDIBLE, samples_of
from voice.tts.piper.voice import LEAD_FIRST, LEAD_LATER, Voice, embedded_voice

pytestmark = pytest.mark.slow
SENTENCES = """\
Sure, I can help you with that.
Sure, your order left the warehouse this morning.
Okay, I have set a timer for ten minutes.
Okay, let me explain how that works.
Well, it depends on the time of day.
Well, there are three good options near you.
Yes, the shop is open until nine tonight.
Yes, you can change the booking at any time.
No, you do not need to pay in advance.
No, the train does not stop there on Sundays.
Of course, I would be happy to explain.
Of course, when would you like to come?
Sorry, I did not catch the last part.
Sorry, that table is already taken.
Great, your table is booked for two people.
Great, is there anything else you need?
Certainly, I will send you a confirmation.
Absolutely, that is included in the price.
I'm sorry, but I can't assist with that.
Actually, the moon is much smaller than the earth.
Hello, how can I help you today?
Unfortunately, I cannot turn on the lights.
Thanks, I have noted your address.
Right, then we will meet at the station.
In general, it takes about two weeks.
For example, you could visit the old castle.
Thank you, your payment has arrived.
No problem, I can read the list again.
No worries, you can try again later.
I see, then you should take the earlier train.
Perfect, your coffee will be ready soon.
Got it, two tickets for the evening show.
Understood, I have cancelled the order.
Definitely, the view is better from the top.
I apologize, that film is not available.
Hi, what can I do for you?
""".splitlines()
DRAWS = 1
WINDOW, HOP = 0.04, 0.01
LOWEST, HIGHEST = 65.0, 300.0

Sound = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Spoken:
    """A sentence's sound, and the sample at which its introduction ends."""

    sound: Sound
    seam: int


def whole(voice: Voice, sentence: str, words: int) -> Spoken:
    pieces = [piece for some in voice.pieces(sentence, lead=LEAD_FIRST) for piece in some]
    ends = np.cumsum([len(piece.samples) for piece in pieces])
    known = np.cumsum([len(piece.words) for piece in pieces])
    return Spoken(as_sound(samples_of(pieces)), int(ends[np.argmax(known >= words)]))


def in_two(voice: Voice, introduction: str, rest: str) -> Spoken:
    asyncio.run(voice.prepare_introductions([introduction]))
    first = samples_of(voice.prepared(introduction) or ())
    return Spoken(as_sound(np.concatenate([first, voice.synthesize(rest, lead=LEAD_LATER)])), len(first))


def as_sound(samples: npt.NDArray[np.int16]) -> Sound:
    return (samples / 32768).astype(np.float32)


def pause(spoken: Spoken, rate: int) -> tuple[int, int]:
    """First sample of the longest silence within 0.15 s of the seam, and the sample after its last."""
    size, reach = rate // 400, round(0.15 * rate)
    blocks = spoken.sound[: len(spoken.sound) // size * size].reshape(-1, size)
    silent = np.concatenate([[False], np.sqrt((blocks**2).mean(axis=1)) < AUDIBLE, [False]]).astype(np.int8)
    runs = zip(np.flatnonzero(np.diff(silent) == 1) * size, np.flatnonzero(np.diff(silent) == -1) * size, strict=True)
    near = [(int(a), int(b)) for a, b in runs if a < spoken.seam + reach and b > spoken.seam - reach]
    return max(near, key=lambda run: run[1] - run[0], default=(spoken.seam, spoken.seam))


def pitches(sound: Sound, rate: int) -> npt.NDArray[np.float64]:
    """Semitones above 1 Hz at the voiced places, by autocorrelation under a Hann window."""
    size = round(WINDOW * rate)
    window = np.hanning(size)
    own = np.fft.irfft(np.abs(np.fft.rfft(window, 4 * size)) ** 2)[:size]
    found = []
    for start in range(0, len(sound) - size, round(HOP * rate)):
        part = sound[start : start + size]
        if np.sqrt((part**2).mean()) < 4 * AUDIBLE:
            continue
        repeated = np.fft.irfft(np.abs(np.fft.rfft((part - part.mean()) * window, 4 * size)) ** 2)[:size]
        repeated = repeated / repeated[0] / np.maximum(own / own[0], 0.1)
        low, high = int(rate / HIGHEST), int(rate / LOWEST)
        period = low + int(np.argmax(repeated[low:high]))
        if repeated[period] > 0.6:
            found.append(12 * np.log2(rate / period))
    return np.array(found)


def steps(spoken: Spoken, rate: int) -> Iterator[float]:
    """The pitch of the last 0.1 s before the seam and of the first after it, in semitones above the sentence's."""
    begin, end = pause(spoken, rate)
    middle = float(np.median(pitches(spoken.sound, rate)))
    for part in (spoken.sound[:begin][-round(0.15 * rate) :], spoken.sound[end:][: round(0.15 * rate)]):
        yield float(np.median(heard)) - middle if len(heard := pitches(part, rate)) else float("nan")


@pytest.mark.parametrize("name", ["en_US-joe-medium", "embedded"])
def test_an_introduction_and_the_rest_are_heard_as_one_sentence(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from faster_whisper import WhisperModel

    use_pulled(monkeypatch, "tiny.en", "base", "en_US-joe-medium")
    voice = Voice((find(name) if name != "embedded" else None) or embedded_voice())
    models = {model: WhisperModel(str(find(model)), device="cpu", compute_type="int8") for model in ("tiny.en", "base")}
    rate = voice.sample_rate
    pauses: dict[str, list[float]] = {"whole": [], "two": []}
    levels: dict[str, list[list[float]]] = {"whole": [], "two": []}
    errors = {(model, kind): [0, 0, 0] for model in models for kind in pauses}
    for sentence in SENTENCES * DRAWS:
        introduction, _, rest = sentence.partition(", ")
        introduction += ","
        sounds = {
            "whole": whole(voice, sentence, len(introduction.split())),
            "two": in_two(voice, introduction, rest),
        }
        for kind, spoken in sounds.items():
            begin, end = pause(spoken, rate)
            pauses[kind].append((end - begin) / rate)
            levels[kind].append(list(steps(spoken, rate)))
            for model, whisper in models.items():
                sound = soxr.resample(spoken.sound, rate, 16000)
                segments, _ = whisper.transcribe(sound, language="en", beam_size=1)
                heard = " ".join(segment.text.strip() for segment in segments)
                wrong, said = word_errors(sentence, heard)
                cut = len(heard.rstrip(".?! ").replace("?", ".").split(". ")) > 1
                errors[model, kind] = [a + b for a, b in zip(errors[model, kind], (wrong, said, cut), strict=True)]
    for kind in pauses:
        lasting, (before, after) = np.array(pauses[kind]) * 1000, np.nanmedian(np.array(levels[kind]), axis=0)
        print(
            f"\n{name}, {kind}: pause p50 {np.median(lasting):.0f}, p95 {np.percentile(lasting, 95):.0f}, "
            f"max {lasting.max():.0f} ms; pitch before it {before:+.1f}, after it {after:+.1f} semitones"
        )
        for model in models:
            wrong, said, cut = errors[model, kind]
            print(f"  {model}: {wrong} of {said} words wrong, {cut} of {len(SENTENCES) * DRAWS} heard as two sentences")
    assert max(pauses["two"]) <= 0.13
    voice.close()
