"""The detectors' reports on recordings. All times are in seconds of the recording's audio.

The reports contain all inputs of an endpointing rule, so a rule can be evaluated without the recordings. A file of
reports has a JSON line for the detectors, then one for each recording. It is used only while recordings and models are
unchanged, by their checksums.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from latency.record.json_form import TurnError, from_json, parse
from latency.record.turn import Truth
from voice.errors import FixtureError

FORM = 2
"""Version of the format; another one is not read."""
STEP = 0.016
"""Seconds of audio in a message of the caller, after each of which the silence is considered."""

Kind = Literal["pause", "inside", "end"]
"""A silence in a labelled pause; one inside a labelled stretch of speech; one after the end of the turn."""
Alignment = Literal["forced", "proportional", "none"]
"""The source of the words' times: PocketSphinx's forced alignment; if that failed, the labelled speech, over which the
words are spread by their letters; or none, for a recording without a transcript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedVerdict:
    """A verdict of Smart Turn."""

    after: float
    """How much silence turn taking had counted when Smart Turn was asked."""
    probability: float
    """The probability that the turn is complete, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRun:
    """Consecutive messages after each of which the silence is considered, `STEP` apart."""

    at: float
    """When the first of them had been heard."""
    counted: float
    """How much silence turn taking had counted then; each further message adds `STEP`."""
    messages: int
    doubtful: bool
    """Whether the latest sound may have been the start of speech all the while, so that no turn ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A silence that the voice detector noticed: at least that of the hint (`turns.hint_ms`)."""

    kind: Kind
    pause: int | None
    """The index of its labelled pause in the recording, from 0; None for the other kinds."""
    began: float
    """When it began, by the voice detector."""
    stopped: float | None
    """When the detector reported the end of speech; None when speech went on before that."""
    resumed: float | None
    """When the detector reported that speech went on; None when it did not."""
    counted: float
    """Its length as turn taking counts it, which leaves out sounds that may start speech."""
    runs: tuple[MessageRun, ...]
    """When it was considered, from the reported end of speech on; in a silence without an end, the last run goes on."""
    asked: tuple[TimedVerdict, ...]
    """Smart Turn's verdicts during the silence."""
    spoken: float | None
    """Seconds from the turn's first speech to the silence as turn taking counts them, pauses included."""
    speech: float
    """Seconds of speech in the turn so far, by the voice detector."""
    text: str
    """The words spoken so far, by the transcript, without punctuation at their end; empty without one."""
    pauses: tuple[float, ...]
    """The lengths of the turn's earlier pauses, as turn taking counts them."""
    heard: str | None = None
    """The words that the recogniser hears in the audio so far; None without a recogniser."""
    ends: float | None = None
    """The probability that the message ends after the words, by a language model; None without one."""

    @property
    def read(self) -> str:
        """The words as turn taking reads them: the recognised ones, or without a recogniser the transcript's."""
        return self.text if self.heard is None else self.heard

    @property
    def words(self) -> int:
        """The number of words spoken."""
        return len(self.text.split())

    @property
    def rate(self) -> float | None:
        """Words a second of speech; None without words."""
        return self.words / self.speech if self.text and self.speech > 0 else None

    def sound(self, after: float) -> float | None:
        """Smart Turn's latest probability by the time that this much silence was counted; None before the first."""
        known = [one.probability for one in self.asked if one.after <= after + STEP / 2]
        return known[-1] if known else None

    def reached(self, counted: float) -> float | None:
        """When a turn ends that needs this much silence; None when the silence is shorter, or in doubt to its end."""
        for number, run in enumerate(self.runs):
            goes_on = self.resumed is None and number == len(self.runs) - 1
            # Both are sums of many `STEP`s.
            waited = max(0, -int(-(counted - run.counted - 1e-9) // STEP))
            if not run.doubtful and (waited < run.messages or goes_on):
                return run.at + waited * STEP
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A recording of one turn."""

    name: str
    """`<conversation>/<file>`."""
    wav: str
    sha256: str
    speaker: str
    synthetic: bool
    """Whether a speech synthesiser speaks."""
    inserted: bool
    """Whether its pauses were inserted into a recording without them."""
    text: str
    truth: Truth
    speech: tuple[tuple[float, float], ...]
    """The labelled stretches of speech."""
    alignment: Alignment
    silences: tuple[Silence, ...]
    """In order. The end of the turn has none if the voice detector never noticed the speech, and several if sounds
    after it counted as speech."""

    @property
    def end(self) -> float:
        """When the speech ends, by its labels."""
        return self.speech[-1][1]

    @property
    def pauses(self) -> tuple[float, ...]:
        """The lengths of the labelled pauses."""
        return tuple(after - before for (_, before), (after, _) in self.gaps())

    def gaps(self) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
        """The labelled stretches before and after each pause."""
        return zip(self.speech, self.speech[1:], strict=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectors:
    """The detectors that found the silences, and their settings."""

    silero: str
    """SHA-256 of the model's file, as for Smart Turn's."""
    smart_turn: str
    versions: dict[str, str]
    """Versions of the packages that a measurement depends on."""
    confidence: float
    """The setting `vad.confidence`, 0 to 1; the voice detector's other settings follow."""
    start: float
    stop: float
    volume: float
    hint: float
    recogniser: str | None = None
    """The recogniser of the words; None if it was not here, so that the words are the transcript's."""
    reader: str | None = None
    """The language model that reads the ends of turns; None if it was not here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorReports:
    """The detectors' reports on a set of recordings."""

    detectors: Detectors
    clips: tuple[Clip, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHeader:
    """The first line of a file."""

    form: int
    detectors: Detectors


def save(recorded: DetectorReports, path: Path) -> None:
    """Write a file, or replace it.

    Raises:
        FixtureError: it cannot be written.
    """
    lines = [FileHeader(form=FORM, detectors=recorded.detectors), *recorded.clips]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    except OSError as error:
        raise FixtureError(f"{path} cannot be written: {error.strerror}.") from error


def load(path: Path, detectors: Detectors) -> tuple[DetectorReports, list[str]]:
    """Read a file; returns sentences for the user as well.

    Args:
        path: the file.
        detectors: those of this installation.

    Raises:
        FixtureError: it is not such a file, or a recording or a detector has changed since.
    """
    recorded = _read(path)
    if changed := _difference(recorded.detectors, detectors):
        raise FixtureError(f"{path}: {changed} since it was recorded; record it again with --save.")
    missing = 0
    for clip in recorded.clips:
        wav = Path(clip.wav)
        if not wav.is_file():
            missing += 1
        elif hashlib.sha256(wav.read_bytes()).hexdigest() != clip.sha256:
            raise FixtureError(f"{path}: {wav} has changed since it was recorded; record it again with --save.")
    if missing:
        return recorded, [f"{missing} of {len(recorded.clips)} recordings are not here, so they were not compared"]
    return recorded, []


def _read(path: Path) -> DetectorReports:
    clips: list[Clip] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        first = parse(lines[0]) if lines else None
        if not isinstance(first, dict) or "form" not in first:
            raise FixtureError(f"{path} holds no reports of detectors; record them with --save.")
        if first["form"] != FORM:
            raise FixtureError(f"{path} was written by another version; record it again with --save.")
        header = from_json(FileHeader, first)
        for line in lines[1:]:
            clips.append(from_json(Clip, parse(line)))
    except (OSError, UnicodeDecodeError) as error:
        raise FixtureError(f"{path} cannot be read: {error}.") from error
    except TurnError as error:
        raise FixtureError(f"{path} after {len(clips)} recordings: {error}.") from error
    return DetectorReports(detectors=header.detectors, clips=tuple(clips))


def _difference(then: Detectors, now: Detectors) -> str | None:
    """The change, as the beginning of a sentence; None if there is none."""
    if then.silero != now.silero:
        return "the voice detector (Silero) has changed"
    if then.smart_turn != now.smart_turn:
        return "Smart Turn has changed"
    for package, version in then.versions.items():
        if now.versions.get(package) != version:
            return f"{package} has changed from {version} to {now.versions.get(package, 'none')}"
    for name, before, after in (
        ("the recogniser", then.recogniser, now.recogniser),
        ("the reader of the words", then.reader, now.reader),
    ):
        if before != after:
            return f"{name} has changed from {before or 'none'} to {after or 'none'}"
    return None if then == now else "the voice detector's settings have changed"
