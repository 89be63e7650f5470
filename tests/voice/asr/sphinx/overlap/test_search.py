from collections.abc import Callable

import pocketsphinx
import pytest

from voice.asr.sphinx.cepstral_mean import CepstralMean
from voice.asr.sphinx.overlap.search import LONGEST, UNKNOWN, OverlapSearch
from voice.asr.sphinx.worker import load_decoder

Speak = Callable[[str], bytes]
MEAN = CepstralMean().estimate()


@pytest.fixture(scope="module")
def dictionary() -> pocketsphinx.Decoder:
    return load_decoder()


@pytest.fixture
def search(dictionary: pocketsphinx.Decoder) -> OverlapSearch:
    return OverlapSearch(dictionary)


def leaning(search: OverlapSearch, pcm: bytes) -> float | None:
    """What the sound leans to, with a quarter of a second before and after it."""
    search.start(MEAN)
    pcm = pcm[8000:-8000]
    for at in range(0, len(pcm), 640):
        search.hear(pcm[at : at + 640])
    return search.finish()


@pytest.mark.parametrize("said", ["stop", "never mind", "no no wait", "say that again"])
def test_interruptions_lean_to_interruptions(search: OverlapSearch, speak: Speak, said: str) -> None:
    assert (leaning(search, speak(said)) or 0) >= UNKNOWN


@pytest.mark.parametrize("said", ["yeah", "uh huh", "mm hmm", "okay right"])
def test_backchannels_lean_to_backchannels(search: OverlapSearch, speak: Speak, said: str) -> None:
    assert (leaning(search, speak(said)) or 99) < 20


@pytest.mark.parametrize("said", ["good morning", "cough"])
def test_what_is_like_no_phrase_of_either_kind_leans_to_an_interruption_by_little(
    search: OverlapSearch, speak: Speak, said: str
) -> None:
    told = leaning(search, speak(said))
    assert told is None or told <= UNKNOWN


def test_a_search_tells_of_each_utterance_alone(search: OverlapSearch, speak: Speak) -> None:
    first = leaning(search, speak("stop"))
    leaning(search, speak("okay right"))
    search.start(MEAN)
    search.hear(speak("yeah"))
    search.forget_speaker()
    assert search.leaning() is None
    assert leaning(search, speak("stop")) == pytest.approx(first, abs=20)


def test_nothing_is_told_of_too_little_and_of_long_speech(search: OverlapSearch, speak: Speak) -> None:
    pcm = speak("stop")[8000:-8000]
    assert search.leaning() is None
    search.start(MEAN)
    search.hear(pcm[:6400])
    assert search.leaning() is None
    search.hear(pcm[6400:])
    assert search.leaning() is not None
    search.hear(bytes(int(LONGEST * 32000)))
    assert search.leaning() is None
    assert search.finish() is None


def test_nothing_is_told_of_silence(search: OverlapSearch) -> None:
    assert leaning(search, bytes(40000)) is None
