"""`voice calibrate`: measures how Whisper decodes best on this machine, and shows the measurements."""

from collections.abc import Iterator, Sequence

from latency.command_line import FINE, folded
from pipelines import auto
from pipelines.calibrating.calibrate import calibrate
from pipelines.calibrating.decision import MARGIN, PATIENCE, POWER, compare
from pipelines.calibrating.stored import Calibration
from pipelines.engines.whisper import Whisper
from voice.cache import user_cache
from voice.errors import ConfigurationError

RULE = (
    "A short context is chosen if it is faster and makes extra errors (over full) in at most "
    f"{MARGIN * 100:g} % of the words in 95 % of 10,000 resamples of the utterances (the bound); a beam, if it makes "
    f"fewer errors in 95 % of them and its pass takes at most {PATIENCE * 1000:.0f} ms, because every answer waits for "
    "it; more threads, if they save a tenth of the time."
)


def run_calibrate(recordings: Sequence[str], pipeline: str, overrides: Sequence[str]) -> int:
    """Run the command; returns 0.

    Args:
        recordings: labelled recordings, as `voice replay` takes them; empty for our samples.
        pipeline: a name or the path of a .toml file.
        overrides: single settings, as `--set` takes them.

    Raises:
        ConfigurationError: the pipeline does not use Whisper, or its weights are scripted.
        FixtureError, NothingDecidedError, ComponentError: see `calibrate`.
    """
    asr = auto.resolve(pipeline, overrides).settings.asr
    if not isinstance(asr, Whisper):
        raise ConfigurationError(
            f"Only Whisper is calibrated, and this pipeline recognises with {asr.summary}: add --pipeline local or "
            '--set asr.engine="whisper".'
        )
    least = asr.decoding(None).least_context
    found = calibrate(asr.weights(), recordings, folder=user_cache(), least_context=least)
    print("\n".join(table(found)))
    if asr.context != "measured":
        print(folded(f'asr.context is "{asr.context}" here: --set asr.context="measured" uses this calibration.'))
    return FINE


def table(found: Calibration) -> Iterator[str]:
    """The lines of the table, with the choice marked, and the rule behind it."""
    yield f"  {'decoding':<42} {'mean':>8} {'WER':>7}  over full (bound)"
    reference = found.rows[0]
    comparisons = [compare(row, reference, found.words) for row in found.rows]
    for row, more in zip(found.rows, comparisons, strict=True):
        mark = "→" if row is found.taken else " "
        against = f"{more.difference * 100:+.1f} % ({more.at_most * 100:+.1f})" if row is not reference else ""
        yield (
            f"{mark} {row.decoding!s:<42} {row.mean_seconds * 1000:>5.0f} ms {found.error_rate(row) * 100:>5.1f} %  "
            f"{against}"
        ).rstrip()
    if found.chosen.threads > 1:
        yield f"  on {found.chosen.threads} threads, which save a tenth of the time or more"
    needed = comparisons[1].words_needed
    yield folded(
        f"{len(found.words)} utterances with {sum(found.words)} words, from {found.recordings}; of two ways that are "
        f"alike, {needed} words show it in {POWER * 100:.0f} % of cases. On {found.conditions.cpu} with "
        f"{found.conditions.cores} cores."
    )
    yield folded(RULE)
