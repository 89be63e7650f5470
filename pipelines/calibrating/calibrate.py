"""Calibrates weights: what is kept for them, or measured now."""

import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from latency.command_line import folded
from pipelines.calibrating.decision import TOO_MANY_ERRORS, too_little
from pipelines.calibrating.measuring import Weights, measure_all
from pipelines.calibrating.recordings import utterances
from pipelines.calibrating.stored import Calibration, Conditions, load, save
from pipelines.samples import SAMPLES
from voice.asr.whisper.decoding import always
from voice.client.fixtures.fixture import load_fixtures
from voice.errors import ConfigurationError, VoiceError
from voice.pass_queue import IsWanted

Say = Callable[[str], None]
OURS = "the package's samples"


def announce(line: str) -> None:
    """Show a line on standard error."""
    print(folded(line), file=sys.stderr, flush=True)


class NothingDecidedError(VoiceError):
    """The recordings cannot decide; the sentence says why and what would help."""

    exit_code = 3


def calibration(
    weights: Weights, *, folder: Path, say: Say = announce, is_wanted: IsWanted = always
) -> Calibration | None:
    """What is kept for these weights on this machine, or else measured now with our samples.

    Args:
        weights: not scripted ones.
        folder: where calibrations are kept.
        say: shows a line.
        is_wanted: whether anybody still waits for the result.

    Returns:
        None if nothing can be decided here; `say` has been given the reason.

    Raises:
        ConfigurationError, ComponentError: the weights cannot be run.
        WithdrawnError: nobody waits any more.
    """
    conditions = Conditions.of(weights)
    if found := load(conditions, folder, say=say):
        return found
    if not SAMPLES.is_dir():
        say(
            "asr.context stays full: the sample recordings that would decide are not installed; "
            "`voice calibrate RECORDING …` takes yours."
        )
        return None
    say(
        f"Calibrating Whisper {weights.name} for this machine, once: how little of its window may be encoded before "
        'its words get worse (--set asr.context="full" goes without)'
    )
    try:
        result = _measured(weights, conditions, [SAMPLES], OURS, say=say, is_wanted=is_wanted)
    except NothingDecidedError as error:
        say(f"asr.context stays full: {error}")
        return None
    save(result, folder, say=say)
    say(f"Whisper {weights.name} is {result.why}")
    return result


def calibrate(weights: Weights, paths: Sequence[str], *, folder: Path, say: Say = announce) -> Calibration:
    """Measure now, and keep the result.

    Args:
        weights: what is calibrated.
        paths: the user's recordings, as `voice replay` takes them; none for our samples.
        folder: where calibrations are kept.
        say: shows a line.

    Raises:
        ConfigurationError: the weights are scripted, or cannot be run as set.
        FixtureError: a recording cannot be used.
        NothingDecidedError: the recordings are too few, or their words are not what is heard.
        ComponentError: the weights cannot be run.
    """
    if is_scripted(weights.name):
        raise ConfigurationError(
            f"{weights.name} hears scripted words, so its errors mean nothing: calibrate real weights, such as "
            '--set asr.model="tiny.en".'
        )
    say(f"Calibrating Whisper {weights.name} for this machine")
    sources: Sequence[str | Path] = paths or [SAMPLES]
    recordings = ", ".join(paths) or OURS
    result = _measured(weights, Conditions.of(weights), sources, recordings, say=say)
    save(result, folder, say=say)
    return result


def is_scripted(name: str) -> bool:
    """Whether a model of this name hears scripted words."""
    return name.startswith("scripted:")


def _measured(
    weights: Weights,
    conditions: Conditions,
    sources: Sequence[str | Path],
    recordings: str,
    *,
    say: Say,
    is_wanted: IsWanted = always,
) -> Calibration:
    found = utterances(load_fixtures(sources))
    if problem := too_little([one.words for one in found]):
        raise NothingDecidedError(
            f"{problem}; a scenario file says what each recording's words are (samples/README.md), and "
            "`voice calibrate` without recordings takes ours."
        )
    measured = measure_all(weights.hear(is_wanted), found, say=say)
    result = Calibration(
        conditions=conditions,
        created=date.today().isoformat(),
        weights=weights.name,
        recordings=recordings,
        words=measured.words,
        rows=measured.rows,
        chosen=measured.chosen,
    )
    rate = result.error_rate(result.rows[0])
    if rate >= TOO_MANY_ERRORS:
        raise NothingDecidedError(
            f"{weights.name} gets {rate * 100:.0f} % of the words of {recordings} wrong even with its whole window; "
            "check the transcripts, the language and the weights."
        )
    return result
