"""Calibrations of weights on this machine, kept in the user's cache folder."""

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
"""The procedure's version; a higher one makes older calibrations invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions that a calibration depends on.

    Parameters:
        sha256: of the weights' model.bin.
        device, compute_type: their device and precision.
        cpu: the processor's name.
        cores: how many of its cores this process may use.
        software: versions of the packages that run the weights, and of this procedure.
    """

    sha256: str
    device: str
    compute_type: str
    cpu: str
    cores: int
    software: Mapping[str, str]

    @classmethod
    def of(cls, weights: Weights) -> "Conditions":
        """The conditions of these weights on this machine; reads all of the weights."""
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
        """The name of the calibration's file; newer software overwrites an older calibration."""
        key = [self.sha256, self.device, self.compute_type, self.cpu, self.cores]
        return f"whisper-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A choice, and the measurements behind it.

    Parameters:
        conditions: the conditions under which it holds.
        created: the day, as 2026-11-22.
        weights: their name.
        recordings: "the package's people", or the user's paths.
        words: how many words each utterance has.
        rows: the measurements on one thread, the reference first.
        chosen: the way to decode, and its number of threads.
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
        """The choice and the reference, in a few words."""
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
    """The usable calibration for these conditions; None if there is none.

    Args:
        conditions: the present ones.
        folder: where calibrations are kept.
        say: gets one sentence if there is a calibration that cannot be used.
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
        say(f"The Whisper calibration {path} is incomplete, so it is not used.")
        return None
    return found


def save(calibration: Calibration, folder: Path, *, say: Callable[[str], None]) -> None:
    """Keep a calibration; `say` gets one sentence if that is not possible."""
    path = folder / calibration.conditions.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(msgspec.json.format(msgspec.json.encode(calibration)))
        os.replace(file.name, path)
    except OSError as error:
        say(f"The calibration cannot be written to {path} ({error.strerror}), so nothing will use it.")


def _is_sound(found: Calibration) -> bool:
    """Whether the values are ones that this program writes."""
    return (
        bool(found.words)
        and bool(found.rows)
        and all(len(row.errors) == len(found.words) and row.seconds for row in found.rows)
        and found.rows[0].decoding == FULL
        and any(row.decoding == replace(found.chosen, threads=1) for row in found.rows)
    )


def _cpu() -> str:
    """The processor's name, if the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()
