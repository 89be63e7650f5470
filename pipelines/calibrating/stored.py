"""The calibration of some weights on this machine, kept in the user's cache folder."""

import hashlib
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from pipelines.calibrating.decision import Measurement
from pipelines.calibrating.measuring import Weights
from pipelines.versions import version
from voice.asr.whisper.decoding import FULL, Decoding
from voice.priority import core_count

EDITION = 2
"""Rises when what is measured or how it is decided changes: older calibrations are then made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a calibration depends on.

    Parameters:
        sha256: of the weights' model.bin.
        device, compute_type: where and how precisely they run.
        cpu: the processor's name.
        cores: how many of its cores this process may use.
        software: versions of what runs the weights, and the edition of this procedure.
    """

    sha256: str
    device: str
    compute_type: str
    cpu: str
    cores: int
    software: Mapping[str, str]

    @classmethod
    def of(cls, weights: Weights) -> "Conditions":
        """Those of these weights on this machine; reads the whole of the weights."""
        with (weights.path / "model.bin").open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        software = {name: version(name) for name in ("faster-whisper", "ctranslate2")}
        return cls(
            sha256=digest,
            device=weights.device,
            compute_type=weights.compute_type,
            cpu=_cpu(),
            cores=core_count(),
            software={**software, "edition": str(EDITION)},
        )

    @property
    def file(self) -> str:
        """The name of the calibration's file; newer software overwrites what older software left."""
        key = [self.sha256, self.device, self.compute_type, self.cpu, self.cores]
        return f"whisper-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A choice, and the table that it was decided by.

    Parameters:
        conditions: what it holds for.
        created: the day, as 2026-11-22.
        weights: their name.
        recordings: what they were: "the package's people" or the user's paths.
        words: how many words each utterance has.
        rows: what was measured on one thread, the reference first.
        chosen: how to decode, and on how many threads.
    """

    conditions: Conditions
    created: str
    weights: str
    recordings: str
    words: tuple[int, ...]
    rows: tuple[Measurement, ...]
    chosen: Decoding

    @property
    def why(self) -> str:
        """The choice beside the reference, in a few words."""
        taken = self.taken
        shown = [self.rows[0]] if taken is self.rows[0] else [self.rows[0], taken]
        return f"calibrated on {self.created} with {len(self.words)} utterances: " + "; ".join(
            f"{row.decoding} {row.mean_seconds * 1000:.0f} ms, WER {self.error_rate(row) * 100:.1f} %" for row in shown
        )

    @property
    def taken(self) -> Measurement:
        """The row of the choice, on one thread."""
        return next(row for row in self.rows if row.decoding == replace(self.chosen, threads=1))

    def error_rate(self, row: Measurement) -> float:
        """The errors of a row as a share of all words."""
        return sum(row.errors) / sum(self.words)


def load(conditions: Conditions, folder: Path, *, say: Callable[[str], None]) -> Calibration | None:
    """The calibration made under these conditions; None if there is none that can be used.

    Args:
        conditions: those of now.
        folder: where calibrations are kept.
        say: is given one sentence when a calibration is there but cannot be used.
    """
    path = folder / conditions.file
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Calibration)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        say(f"The Whisper calibration {path} cannot be read ({error}), so it is not used.")
        return None
    if found.conditions != conditions:
        changed = [name for name, value in asdict(conditions).items() if asdict(found.conditions)[name] != value]
        say(f"The Whisper calibration {path} was made with other {' and '.join(changed)}, so it is not used.")
        return None
    if not _is_sound(found):
        say(f"The Whisper calibration {path} is not whole, so it is not used.")
        return None
    return found


def save(calibration: Calibration, folder: Path, *, say: Callable[[str], None]) -> None:
    """Keep a calibration; `say` is given one sentence if that is not possible."""
    path = folder / calibration.conditions.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(msgspec.json.format(msgspec.json.encode(calibration)))
        os.replace(file.name, path)
    except OSError as error:
        say(f"The calibration cannot be kept in {path} ({error.strerror}), so nothing will use it.")


def _is_sound(found: Calibration) -> bool:
    """Whether the file says what this program writes."""
    return (
        bool(found.words)
        and bool(found.rows)
        and all(len(row.errors) == len(found.words) and row.seconds for row in found.rows)
        and found.rows[0].decoding == FULL
        and any(row.decoding == replace(found.chosen, threads=1) for row in found.rows)
    )


def _cpu() -> str:
    """The processor's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()
