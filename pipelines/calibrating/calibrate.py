"""Calibrates weights, and finds their earlier calibrations."""

import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from latency.command_line import folded
from pipelines.calibrating.decision import TOO_MANY_ERRORS, too_little, undecided, ways
from pipelines.calibrating.measuring import Weights, measure_all, utterances
from pipelines.calibrating.stored import Calibration, Conditions, load, save
from pipelines.samples import PEOPLE, SAMPLES
from voice.asr.whisper.decoding import LEAST_CONTEXT
from voice.client.fixtures.fixture import load_fixtures
from voice.errors import ConfigurationError, VoiceError

Say = Callable[[str], None]


def announce(line: str) -> None:
    """Show a line on standard error."""
    print(folded(line), file=sys.stderr, flush=True)


class NothingDecidedError(VoiceError):
    """The recordings cannot decide; the message gives the reason and the remedy."""

    exit_code = 3


def kept(weights: Weights, *, folder: Path, say: Say = announce) -> Calibration | None:
    """The stored calibration of these weights on this machine; None, with a line of advice, if there is none."""
    found = load(Conditions.of(weights), folder, say=say)
    if found is None:
        say(
            'asr.context = "measured", but Whisper '
            f"{weights.name} has not been calibrated on this machine: run `voice calibrate`; until then it is auto."
        )
    return found


def calibrate(
    weights: Weights, paths: Sequence[str], *, folder: Path, least_context: float = LEAST_CONTEXT, say: Say = announce
) -> Calibration:
    """Measure now, and keep the result.

    Args:
        weights: the weights.
        paths: the user's recordings, as `voice replay` takes them; empty for ours.
        folder: where calibrations are kept.
        least_context: seconds that a short context encodes at least.
        say: shows a line.

    Raises:
        ConfigurationError: the weights are scripted, or cannot be run as set.
        FixtureError: a recording cannot be used.
        NothingDecidedError: the recordings are too few, or their transcripts do not match the audio.
        ComponentError: the weights cannot be run.
    """
    if is_scripted(weights.name):
        raise ConfigurationError(
            f"{weights.name} hears scripted words, so its errors mean nothing: calibrate real weights, such as "
            '--set asr.model="tiny.en".'
        )
    sources: Sequence[str | Path] = paths or [_ours()]
    found = utterances(load_fixtures(sources))
    if problem := too_little([one.words for one in found]):
        raise NothingDecidedError(
            f"{problem}; give each recording's words in a scenario file (samples/README.md), or run `voice calibrate` "
            "without recordings to use ours."
        )
    say(f"Calibrating Whisper {weights.name} for this machine")
    measured = measure_all(weights.hear(), found, ways(least_context), say=say)
    result = Calibration(
        conditions=Conditions.of(weights),
        created=date.today().isoformat(),
        weights=weights.name,
        recordings=", ".join(paths) or f"the package's {'people' if sources == [PEOPLE] else 'samples'}",
        words=measured.words,
        rows=measured.rows,
        chosen=measured.chosen,
    )
    if (rate := result.error_rate(result.rows[0])) >= TOO_MANY_ERRORS:
        raise NothingDecidedError(
            f"{weights.name} gets {rate * 100:.0f} % of the words of {result.recordings} wrong even with its whole "
            "window; check the transcripts, the language and the weights."
        )
    if (needed := undecided(result.rows, result.words)) is not None:
        raise NothingDecidedError(
            f"{sum(result.words)} words do not show whether a shorter context is as good; about {needed} would. "
            'Run it on an idle machine, which decodes more, or give more recordings; asr.context stays "auto".'
        )
    save(result, folder, say=say)
    return result


def _ours() -> Path:
    """Our recordings: of people if they are installed, else of synthetic voices.

    Raises:
        NothingDecidedError: neither is installed.
    """
    for folder in (PEOPLE, SAMPLES):
        if folder.is_dir():
            return folder
    raise NothingDecidedError(
        "The sample recordings are not installed: pass your own to `voice calibrate RECORDING …`."
    )


def is_scripted(name: str) -> bool:
    """Whether the model of this name is scripted."""
    return name.startswith("scripted:")
