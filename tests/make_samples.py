"""Makes the recorded conversations in samples/ from conversations.yaml, with the flite speech synthesiser.

    python tests/make_samples.py --out samples

The same flite build always gives the same bytes. Labels are exact because speech is placed: each part of a sentence is
synthesised alone, trimmed to its audible part and placed between digital silence (or under noise of a known level). The
audible part begins with the first 5 ms block above -36 dBFS (some flite voices breathe at -39 dBFS before a word) and
ends with the last one above -45 dBFS (final consonants die away), in a recording whose peak is -3 dBFS.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import wave
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

CONVERSATIONS = Path(__file__).with_name("conversations.yaml")
CHECKSUMS = "SHA256SUMS"
VOICES = ("rms", "slt", "kal16", "awb")
RATE = 16000
PEAK = round(32767 * 10 ** (-3 / 20))
BLOCK, RAMP = RATE // 200, RATE // 1000
ONSET, END = 10 ** (-33 / 20), 10 ** (-42 / 20)
"""Lowest levels of the first and last audible block, relative to the recording's peak."""
LEAD, TAIL, NOISE_LEAD = 0.3, 0.3, 0.4
"""Seconds before and after the speech."""
PINK_ROWS = 10
FAR_DB = 26.0
"""How much softer a voice far off is than the caller's."""
NO_TURNS = ("backchannel", "cough", "laughter", "knock", "far")
"""Labels, and keys of conversations.yaml, of sounds that are not said to the agent."""

Signal = npt.NDArray[np.float64]
Pcm = npt.NDArray[np.int16]
Label = tuple[float, float, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One recording; `parts` are texts (or flite phones) with the seconds of silence between them."""

    parts: tuple[str | float, ...]
    text: str
    voice: str
    stretch: float
    is_phones: bool
    label: str
    """What the sound is: speech, or one that is no turn."""
    barge_in_ms: int | None
    contains: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One folder of samples/."""

    name: str
    about: str
    noise: str | None
    snr_db: float
    turns: tuple[Turn, ...]


def read_conversations(path: Path = CONVERSATIONS) -> list[Conversation]:
    """Read the conversations to make; a comment in the file describes its format."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [_conversation(name, entry) for name, entry in data.items()]


def _conversation(name: str, entry: Mapping[str, Any]) -> Conversation:
    noise = entry.get("noise", {})
    return Conversation(
        name=name,
        about=entry["about"],
        noise=noise.get("kind"),
        snr_db=float(noise.get("snr_db", 0)),
        turns=tuple(_turn(turn, entry) for turn in entry["turns"]),
    )


def _turn(turn: Mapping[str, Any], entry: Mapping[str, Any]) -> Turn:
    label = next((kind for kind in NO_TURNS if kind in turn), "speech")
    said = turn["say"] if label == "speech" else turn[label]
    listed = said if isinstance(said, list) else [said]
    parts = tuple(part if isinstance(part, str) else float(part) for part in listed)
    contains = turn.get("contains", [])
    return Turn(
        parts=(turn["phones"],) if "phones" in turn else parts,
        text=" ".join(part for part in parts if isinstance(part, str)),
        voice=turn.get("voice", entry["voice"]),
        stretch=float(turn.get("stretch", entry.get("stretch", 1))),
        is_phones="phones" in turn,
        label=label,
        barge_in_ms=turn.get("barge_in"),
        contains=tuple(contains) if isinstance(contains, list) else (contains,),
    )


def flite_version() -> str:
    """The version that flite reports."""
    printed = subprocess.run([_flite(), "--version"], capture_output=True, text=True, check=False).stdout
    return next(
        line.partition("version:")[2].split("(")[0].strip() for line in printed.splitlines() if "version:" in line
    )


def flite_fingerprint() -> str:
    """A checksum of one word in each voice, which distinguishes flite builds whose samples differ."""
    words = b"".join(synthesise("hello", voice=voice).tobytes() for voice in VOICES)
    return hashlib.sha256(words).hexdigest()[:16]


def synthesise(text: str, *, voice: str, stretch: float = 1.0, is_phones: bool = False) -> Pcm:
    """Synthesise `text` (or phones) with flite, 16 kHz mono.

    Raises:
        SystemExit: flite is missing, fails, or lacks the voice and speaks at another rate.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "speech.wav")
        options = ["-voice", voice, "--setf", f"duration_stretch={stretch}", "-p" if is_phones else "-t", text]
        done = subprocess.run([_flite(), *options, "-o", str(file)], capture_output=True, text=True, check=False)
        if done.returncode or not file.exists():
            sys.exit(f"flite could not say {text!r}: {done.stderr.strip()}")
        with wave.open(str(file)) as reader:
            if (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) != (RATE, 1, 2):
                sys.exit(f"flite's voice {voice} is not 16 kHz mono 16 bit; take one of {', '.join(VOICES)}.")
            return np.frombuffer(reader.readframes(reader.getnframes()), np.dtype("<i2"))


def _flite() -> str:
    return shutil.which("flite") or sys.exit("flite is missing: apt-get install flite")


def audible(signal: Signal, peak: float) -> Signal:
    """The audible part of `signal` (see the module docstring), with its edges faded over 1 ms."""
    blocks = signal[: len(signal) // BLOCK * BLOCK].reshape(-1, BLOCK)
    level = np.sqrt((blocks**2).mean(axis=1))
    first = int(np.flatnonzero(level >= ONSET * peak)[0])
    last = int(np.flatnonzero(level >= END * peak)[-1])
    cut = signal[first * BLOCK : (last + 1) * BLOCK].copy()
    ramp = np.arange(1, RAMP + 1) / RAMP
    cut[:RAMP] *= ramp
    cut[-RAMP:] *= ramp[::-1]
    return cut


def speak(turn: Turn, *, lead: float) -> tuple[Signal, list[tuple[int, int]]]:
    """A turn between silences with its peak at -3 dBFS, and the samples [first, end) of each stretch of speech."""
    parts = [
        part
        if isinstance(part, float)
        else NOISES[turn.label]()
        if turn.label in NOISES
        else synthesise(part, voice=turn.voice, stretch=turn.stretch, is_phones=turn.is_phones).astype(np.float64)
        for part in turn.parts
    ]
    peak = max(float(np.abs(part).max()) for part in parts if isinstance(part, np.ndarray))
    pieces: list[Signal] = [np.zeros(round(lead * RATE))]
    stretches: list[tuple[int, int]] = []
    at = len(pieces[0])
    for part in parts:
        piece = np.zeros(round(part * RATE)) if isinstance(part, float) else audible(part, peak) * (PEAK / peak)
        if isinstance(part, np.ndarray):
            stretches.append((at, at + len(piece)))
        pieces.append(piece)
        at += len(piece)
    return np.concatenate([*pieces, np.zeros(round(TAIL * RATE))]), stretches


def pink_noise(length: int, *, seed: int, murmur: bool) -> Signal:
    """Noise of power 1 whose spectrum falls by 3 dB per octave (Voss's sum of held random values).

    Args:
        length: number of samples.
        seed: seed of the noise; the raw generator gives the same numbers in every version of numpy.
        murmur: the level changes four times a second between 1/4 and 7/4, like voices in a room.
    """
    raw = np.random.PCG64(seed)
    total = np.zeros(length, np.int64)
    for row in range(PINK_ROWS):
        held = _raw_values(raw, length // 2**row + 1)
        total += np.repeat(held, 2**row)[:length]
    noise = total.astype(np.float64)
    if murmur:
        swell = 1 + 0.75 * _raw_values(raw, length * 4 // RATE + 2) / 2**15
        noise *= np.interp(np.arange(length) * 4 / RATE, np.arange(len(swell)), swell)
    noise -= noise.mean()
    noise /= np.sqrt((noise**2).mean())
    return noise


def _raw_values(raw: "np.random.PCG64", count: int) -> npt.NDArray[np.int64]:
    return (raw.random_raw(count) >> np.uint64(48)).astype(np.int64) - 2**15


def cough() -> Signal:
    """A cough: two bursts of noise, the second one softer, each with a sudden start; 0.5 s."""
    bursts = []
    for seed, (seconds, level, decay) in enumerate(((0.22, 1.0, 0.07), (0.28, 0.6, 0.09)), 11):
        time = np.arange(round(seconds * RATE)) / RATE
        noise = np.diff(pink_noise(len(time) + 1, seed=seed, murmur=False))
        bursts.append(level * noise * np.minimum(1, time / 0.004) * np.exp(-time / decay))
    return 8000 * np.concatenate(bursts)


def knock() -> Signal:
    """Three knocks on wood: damped tones; 0.6 s."""
    time = np.arange(round(0.2 * RATE)) / RATE
    one = (np.sin(2 * np.pi * 180 * time) + 0.5 * np.sin(2 * np.pi * 410 * time)) * np.exp(-time / 0.025)
    return 8000 * np.concatenate([one, one, one])


NOISES = {"cough": cough, "knock": knock}
"""Sounds that are not spoken, by their labels."""


def noise_seed(conversation: str, number: int) -> int:
    """The seed of a recording's noise, different for each recording."""
    return zlib.crc32(f"{conversation}/{number:02d}".encode())


def record(conversation: Conversation, number: int) -> tuple[Pcm, list[Label]]:
    """Recording `number` (from 1) of a conversation and its labels."""
    turn = conversation.turns[number - 1]
    signal, stretches = speak(turn, lead=NOISE_LEAD if conversation.noise else LEAD)
    labels = [(first / RATE, end / RATE, turn.label) for first, end in stretches]
    if turn.label == "far":
        signal *= 10 ** (-FAR_DB / 20)
    if conversation.noise is not None:
        speech_power = np.concatenate([signal[first:end] for first, end in stretches])
        level = np.sqrt((speech_power**2).mean()) * 10 ** (-conversation.snr_db / 20)
        seed = noise_seed(conversation.name, number)
        signal += level * pink_noise(len(signal), seed=seed, murmur=conversation.noise == "murmur")
        signal *= PEAK / np.abs(signal).max()
        labels.insert(0, (0.0, len(signal) / RATE, "noise"))
    return np.rint(signal).astype(np.int16), labels


def scenario(conversation: Conversation) -> str:
    """The conversation as a pipecat eval scenario file."""
    lines = [
        f"# {conversation.about}",
        "# Made by tests/make_samples.py from tests/conversations.yaml; change it there.",
        f"name: {conversation.name}",
        "user:",
        "  modality: audio",
        "scenarios:",
        "  - name: call",
        "    turns:",
    ]
    for number, turn in enumerate(conversation.turns, 1):
        # JSON strings are YAML strings.
        lines += [f"      - user: {json.dumps(turn.text)}", f"        audio: {number:02d}.wav"]
        lines.append(f"        speaker: {json.dumps(f'sim:flite {turn.voice}')}")
        if turn.barge_in_ms is not None:
            lines.append(f"        send_after: {{event: bot_started_speaking, delay_ms: {turn.barge_in_ms}}}")
        if turn.contains:
            lines.append("        expect:")
        for text in turn.contains:
            lines += ["          - event: response", f"            text_contains: {json.dumps(text)}"]
    return "\n".join(lines) + "\n"


def make(conversation: Conversation, folder: Path) -> None:
    """Write a conversation's scenario, recordings and labels into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scenario.yaml").write_text(scenario(conversation), encoding="utf-8")
    for number in range(1, len(conversation.turns) + 1):
        samples, labels = record(conversation, number)
        with wave.open(str(folder / f"{number:02d}.wav"), "wb") as writer:
            writer.setnchannels(1)
            writer.setsampwidth(2)
            writer.setframerate(RATE)
            writer.writeframes(samples.astype("<i2").tobytes())
        text = "".join(f"{start:.6f}\t{end:.6f}\t{label}\n" for start, end, label in labels)
        (folder / f"{number:02d}.txt").write_text(text, encoding="utf-8")


def checksums(out: Path) -> str:
    """Checksums of all files in the folders of `out`, people included, in the format of `sha256sum --check`."""
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.parent != out)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out).as_posix()}\n" for path in files]
    return f"# made with {flite_version()}, voices' fingerprint {flite_fingerprint()}\n" + "".join(sums)


def main(argv: Sequence[str] | None = None) -> int:
    """Make all conversations, or the named ones."""
    parser = argparse.ArgumentParser(description="Make the recorded conversations from tests/conversations.yaml.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into: samples")
    parser.add_argument("--conversations", type=Path, default=CONVERSATIONS, metavar="FILE", help="take them from here")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="make only these conversations, and no checksums")
    arguments = parser.parse_args(argv)
    conversations = {conversation.name: conversation for conversation in read_conversations(arguments.conversations)}
    if unknown := set(arguments.only or ()) - conversations.keys():
        parser.error(f"no conversation is called {', '.join(sorted(unknown))}; there are {', '.join(conversations)}")
    for name in arguments.only or conversations:
        make(conversations[name], arguments.out / name)
    if not arguments.only:
        (arguments.out / CHECKSUMS).write_text(checksums(arguments.out), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
