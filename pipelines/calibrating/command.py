"""`voice calibrate`: measures how this machine's Whisper decodes best, and shows the table it was decided by."""

from collections.abc import Iterator, Sequence

from latency.command_line import FINE, folded
from pipelines import auto
from pipelines.calibrating.calibrate import calibrate
from pipelines.calibrating.decision import MARGIN, compare
from pipelines.calibrating.stored import Calibration
from pipelines.engines.whisper import Whisper
from voice.asr.whisper.decoding import Decoding
from voice.cache import user_cache
from voice.errors import ConfigurationError

RULE = (
    "A shorter context is taken if the errors that it makes more than full are below "
    f"{MARGIN * 100:g} % of the words in 95 % of 10,000 resamples of the utterances (the bound); an option that takes "
    "longer, if it makes fewer errors in 95 % of them; more threads, if they save a tenth of the time."
)


def run_calibrate(recordings: Sequence[str], pipeline: str, overrides: Sequence[str]) -> int:
    """Run the command; returns 0.

    Args:
        recordings: labelled recordings, as `voice replay` takes them; none for our samples.
        pipeline: a name or the path of a .toml file.
        overrides: single settings, as `--set` takes them.

    Raises:
        ConfigurationError: the pipeline does not recognise with Whisper, or its weights are scripted.
        FixtureError, NothingDecidedError, ComponentError: see `calibrate`.
    """
    asr = auto.resolve(pipeline, overrides).settings.asr
    if not isinstance(asr, Whisper):
        raise ConfigurationError(
            f"Only Whisper is calibrated, and this pipeline recognises with {asr.summary}: add --pipeline local or "
            '--set asr.engine="whisper".'
        )
    found = calibrate(asr.weights(), recordings, folder=user_cache())
    print("\n".join(table(found)))
    if asr.context != "measured":
        print(folded(f'The pipeline says asr.context = "{asr.context}", which wins over this calibration.'))
    return FINE


def table(found: Calibration) -> Iterator[str]:
    """The lines of the table, the choice marked, and how it was made."""
    yield f"  {'decoding':<42} {'mean':>8} {'WER':>7}  over full (bound)"
    reference, shown = found.rows[0], set[Decoding]()
    for row in found.rows:
        # The choice is measured again beside more threads.
        is_again = row.decoding in shown
        shown.add(row.decoding)
        mark = "→" if row.decoding == found.chosen and not is_again else " "
        name = "  the same again, beside more threads:" if is_again else str(row.decoding)
        more = compare(row, reference, found.words)
        against = f"{more.difference * 100:+.1f} % ({more.at_most * 100:+.1f})" if row is not reference else ""
        yield (
            f"{mark} {name:<42} {row.mean_seconds * 1000:>5.0f} ms {found.error_rate(row) * 100:>5.1f} %  {against}"
        ).rstrip()
    yield folded(
        f"{len(found.words)} utterances with {sum(found.words)} words, from {found.recordings}; on "
        f"{found.conditions.cpu} with {found.conditions.cores} cores."
    )
    yield folded(RULE)
