"""Saves what the detectors reported as JSON lines, the detectors first, and reads it again.

What was saved counts only as long as nothing has changed: recordings and models are compared by checksum.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from latency.record.json_form import TurnError, from_json, parse
from pipelines.lab.curve.recorded import FORM, Clip, Detectors, Recorded
from voice.errors import FixtureError


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The first line of a file."""

    form: int
    detectors: Detectors


def save(recorded: Recorded, path: Path) -> None:
    """Write a file, or replace it.

    Raises:
        FixtureError: it cannot be written.
    """
    lines = [Head(form=FORM, detectors=recorded.detectors), *recorded.clips]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    except OSError as error:
        raise FixtureError(f"{path} cannot be written: {error.strerror}.") from error


def load(path: Path, detectors: Detectors) -> tuple[Recorded, list[str]]:
    """Read a file; returns sentences for the user as well.

    Args:
        path: the file.
        detectors: those of this installation.

    Raises:
        FixtureError: it is no such file, or a recording or a detector has changed since.
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


def _read(path: Path) -> Recorded:
    clips: list[Clip] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        first = parse(lines[0]) if lines else None
        if not isinstance(first, dict) or "form" not in first:
            raise FixtureError(f"{path} holds no reports of detectors; record them with --save.")
        if first["form"] != FORM:
            raise FixtureError(f"{path} was written by another version; record it again with --save.")
        head = from_json(Head, first)
        for line in lines[1:]:
            clips.append(from_json(Clip, parse(line)))
    except (OSError, UnicodeDecodeError) as error:
        raise FixtureError(f"{path} cannot be read: {error}.") from error
    except TurnError as error:
        raise FixtureError(f"{path} after {len(clips)} recordings: {error}.") from error
    return Recorded(detectors=head.detectors, clips=tuple(clips))


def _difference(then: Detectors, now: Detectors) -> str | None:
    """What has changed, as the beginning of a sentence; None if nothing has."""
    if then.silero != now.silero:
        return "the voice detector (Silero) has changed"
    if then.smart_turn != now.smart_turn:
        return "Smart Turn has changed"
    for package, version in then.versions.items():
        if now.versions.get(package) != version:
            return f"{package} has changed from {version} to {now.versions.get(package, 'none')}"
    return None if then == now else "the voice detector's settings have changed"
