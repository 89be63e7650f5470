"""The recogniser's language model: PocketSphinx's general English, interpolated with expected sentences.

It is built once and kept in the user's cache folder, as a file that PocketSphinx loads instead of its own.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile

import pocketsphinx
from loguru import logger

from voice.asr.sphinx import DOMAIN_WEIGHT
from voice.asr.sphinx.ngram import DISCOUNT, count_domain, interpolate
from voice.asr.sphinx.trie_format import TrieFormatError, read_trie, write_trie
from voice.cache import user_cache
from voice.errors import ComponentError, ConfigurationError

_LAYOUT = 2  # raise it when the same sentences produce another file


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """A language model for a PocketSphinx worker.

    Parameters:
        name: its name in reports.
        path: the file; None for PocketSphinx's general model.
    """

    name: str
    path: Path | None


GENERAL = LanguageModel(name="en-us", path=None)
"""PocketSphinx's own model of general English."""


def build_language_model(
    sentences: Callable[[], Sequence[str]],
    *,
    edition: str,
    domain_weight: float = DOMAIN_WEIGHT,
    cache: Path | None = None,
) -> LanguageModel:
    """The general model interpolated with `sentences`; from the cache if it was built before.

    Building takes 2 to 3 seconds of one core and 500 MB of memory, and is logged. It blocks: call it before the event
    loop has work, or in a thread.

    Args:
        sentences: Returns the sentences as a recogniser writes them: lower case, no punctuation, numbers in words.
            Repeated sentences count more. Called only without a cached model of this edition.
        edition: Identifies the sentences: different sentences need different editions.
        domain_weight: From 0 (only the general model) to below 1; see `DOMAIN_WEIGHT`.
        cache: Folder for the result; None for the user's cache folder.

    Raises:
        ConfigurationError: The weight is out of range, or no sentence can be used.
        ComponentError: PocketSphinx's model cannot be read, or the cache cannot be written.
    """
    if not 0 <= domain_weight < 1:
        raise ConfigurationError(f"domain_weight is {domain_weight}; it must be at least 0 and below 1.")
    if domain_weight == 0:
        return GENERAL
    path = (cache or user_cache()) / f"en-us-{_key(edition, domain_weight)}.lm.bin"
    if not path.exists():
        start = time.perf_counter()
        usable = _usable(sentences())
        _build(usable, domain_weight, path)
        logger.info(
            f"Built the speech recogniser's language model from {len(usable)} sentences in "
            f"{time.perf_counter() - start:.1f} s, once: {path}"
        )
    return LanguageModel(name="en-us + expected sentences", path=path)


def pronounceable(sentences: Sequence[str]) -> tuple[list[str], set[str]]:
    """The sentences with all words in PocketSphinx's dictionary, and the missing words of the others."""
    dictionary = dictionary_words()
    unknown = {word for sentence in sentences for word in sentence.split()} - dictionary
    usable = [sentence for sentence in sentences if sentence.split() and unknown.isdisjoint(sentence.split())]
    return usable, unknown


def dictionary_words() -> set[str]:
    """The words that the recogniser can pronounce.

    Raises:
        ComponentError: PocketSphinx's dictionary cannot be read.
    """
    path = _models() / "cmudict-en-us.dict"
    try:
        with path.open(encoding="utf-8") as lines:
            return {line.split(None, 1)[0] for line in lines if line.strip()}
    except OSError as error:
        raise ComponentError(f"{path} cannot be read ({error.strerror}): reinstall pocketsphinx.") from error


def _models() -> Path:
    return Path(pocketsphinx.get_model_path()) / "en-us"


def _usable(sentences: Sequence[str]) -> list[str]:
    """The sentences that can be pronounced; missing words of the others are logged."""
    usable, unknown = pronounceable(sentences)
    if not usable:
        raise ConfigurationError(
            f"None of the {len(sentences)} sentences for the recogniser can be pronounced: write them in lower case, "
            "without punctuation and with numbers in words."
        )
    if skipped := len(sentences) - len(usable):
        logger.info(
            f"Speech recogniser: {skipped} of {len(sentences)} sentences skipped, because its dictionary "
            f"lacks {', '.join(sorted(unknown)[:8])}{' and more' if len(unknown) > 8 else ''}."
        )
    return usable


def _key(edition: str, domain_weight: float) -> str:
    facts = [str(_LAYOUT), version("pocketsphinx"), repr(domain_weight), repr(DISCOUNT), edition]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _build(sentences: list[str], domain_weight: float, path: Path) -> None:
    try:
        general = read_trie(_models() / "en-us.lm.bin")
    except (OSError, TrieFormatError) as error:
        raise ComponentError(f"PocketSphinx's own model cannot be used: {error} Reinstall pocketsphinx.") from error
    domain = count_domain((sentence.split() for sentence in sentences), general.words)
    model = interpolate(general, domain, domain_weight)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written next to its final path, then renamed: another process may look for it at any moment.
        with NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".part", delete=False) as part:
            unfinished = Path(part.name)
        try:
            write_trie(model, unfinished)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise ComponentError(
            f"The recogniser's language model cannot be written to {path.parent} ({error.strerror}): make it "
            "writable, or set XDG_CACHE_HOME to a folder that is."
        ) from error
