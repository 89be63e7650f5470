"""`voice check`: checks, part by part, whether a pipeline works on this machine.

Nothing is downloaded, and a paid model is asked for a token only at the user's request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from latency.command_line import FINE, MISSING, folded
from pipelines import auto
from pipelines.engines.engine import AsrTable, EngineTable, TtsTable
from pipelines.providers.provider import TierTable
from pipelines.providers.responder import ResponderTable
from pipelines.reader_loading import PREFERRED, load_reader, reader_file
from pipelines.settings import Settings
from pipelines.tiers.table import Tiers
from voice.errors import ComponentError
from voice.redaction import redacted


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one part of a pipeline.

    Parameters:
        part: the table in the pipeline file, such as "llm.large".
        works: whether nothing is missing.
        text: the part that was found, or the missing one and the remedy.
    """

    part: str
    works: bool
    text: str


def run_check(pipeline: str, overrides: Sequence[str], *, ask: bool) -> int:
    """`voice check`: print one line for each finding.

    Args:
        pipeline: a name or the path of a .toml file.
        overrides: single settings, as `--set` takes them.
        ask: whether paid models are also asked for a token.

    Returns:
        0 success, 4 something is missing or does not answer.

    Raises:
        ConfigurationError: a setting is wrong.
    """
    choice = auto.resolve(pipeline, overrides)
    _check_tiers(choice.settings)
    works = True
    _show("settings", True, f"{choice.settings.name}: all keys and values are valid")
    for reason in choice.reasons:
        _show("chosen", True, reason)
    for finding in findings(choice.settings, ask=ask):
        _show(finding.part, finding.works, finding.text)
        works = works and finding.works
    return FINE if works else MISSING


def findings(pipeline: Settings, *, ask: bool = False) -> Iterator[Finding]:
    """The findings, one part after the other.

    Raises:
        ConfigurationError: a name is not a valid name of a model or a voice.
    """
    yield from _here("asr", pipeline.asr)
    yield from _reader(pipeline)
    if isinstance(pipeline.llm, Tiers):
        for name, tier in pipeline.llm.tiers.items():
            yield from _tier(f"llm.{name}", tier, ask=ask)
    else:
        yield from _here("llm", pipeline.llm)
    yield from _here("tts", pipeline.tts)
    for notice in pipeline.notices():
        yield Finding("language", True, notice)


def _reader(pipeline: Settings) -> Iterator[Finding]:
    """The model that judges how words read; loads a language model."""
    turns = pipeline.turns
    try:
        if file := reader_file(turns, pipeline.language):
            load_reader(file).close()
            yield Finding("turns", True, f"words are read by {file.name}")
        elif turns.adaptive and turns.detector == "smart-turn" and pipeline.language == "en":
            better = f"; {PREFERRED} reads better: voice models pull {PREFERRED}" if turns.reader == "auto" else ""
            yield Finding("turns", True, f"words are read by the built-in trigrams{better}")
    except ComponentError as error:
        yield Finding("turns", False, str(error))


def _check_tiers(pipeline: Settings) -> None:
    """Refuse tiers that do not fit their policy, and simulated models that do not exist.

    Raises:
        ConfigurationError: there is such a tier.
    """
    if not isinstance(pipeline.llm, Tiers) or any(tier.needs() for tier in pipeline.llm.tiers.values()):
        return
    pipeline.llm.language_models(pipeline.language)


def _tier(part: str, tier: TierTable, *, ask: bool) -> Iterator[Finding]:
    # Imported here because its HTTP client takes a tenth of a second to import.
    from pipelines.providers.model_server import run

    if notice := tier.notice:
        yield Finding(part, False, notice)
    state = run(tier.try_server(ask=ask))
    if state is None:
        yield from _here(part, tier)
        return
    yield from (Finding(part, False, need) for need in tier.needs())
    yield Finding(part, state.works, f"{tier.summary}: {state.text}")


def _here(part: str, table: AsrTable | ResponderTable | TierTable | TtsTable) -> Iterator[Finding]:
    """The findings for a part that runs on this machine."""
    needs = table.needs()
    yield from (Finding(part, False, need) for need in needs)
    if needs:
        return
    try:
        yield Finding(part, True, table.try_out() if isinstance(table, EngineTable) else table.summary)
    except ComponentError as error:
        yield Finding(part, False, str(error))


def _show(part: str, works: bool, text: str) -> None:
    print(folded(redacted(text), first=f"{'ok' if works else 'FAILED':<7} {part:<10} ", indent=19), flush=True)
