from collections.abc import Callable, Iterable

import pocketsphinx
import pytest

from voice.asr.sphinx.cepstral_mean import CepstralMean
from voice.asr.sphinx.overlap import (
    LONGEST,
    UNKNOWN,
    Grammar,
    OverlapSearch,
    interrupting,
    listening,
    phones_in,
    spoken_in_phones,
)
from voice.asr.sphinx.worker import load_decoder

Speak = Callable[[str], bytes]
MEAN = CepstralMean().estimate()


def takes(grammar: Grammar, words: Iterable[str]) -> bool:
    """Whether the grammar has a path from its beginning to its end that says these words."""

    def silently(states: set[int]) -> set[int]:
        before: set[int] = set()
        while before != states:
            before = states
            states = states | {one[1] for one in grammar.transitions if len(one) == 3 and one[0] in states}
        return states

    states = silently({0})
    for word in words:
        states = silently({one[1] for one in grammar.transitions if one[0] in states and one[3:] == (word,)})
    return grammar.final in states


@pytest.mark.parametrize("said", ["yeah", "of course", "yeah right", "uh-huh", "[M-HH-M]"])
def test_a_listener_says_backchannels(said: str) -> None:
    assert takes(listening(lambda _: True), said.split())
    assert not takes(interrupting(lambda _: True), said.split())


@pytest.mark.parametrize("said", ["stop", "hold on", "hold on [P] [L] [IY] [Z]", "no [DH] [AE] [T]"])
def test_an_interruption_is_a_stop_and_anything_after_it(said: str) -> None:
    assert takes(interrupting(lambda _: True), said.split())
    assert not takes(listening(lambda _: True), said.split())


@pytest.mark.parametrize("said", ["of", "hold", "and", "", "[P]"])
def test_neither_is_half_a_phrase_nor_what_leads_on(said: str) -> None:
    assert not takes(listening(lambda _: True), said.split())
    assert not takes(interrupting(lambda _: True), said.split())


def test_phrases_without_a_pronunciation_are_left_out() -> None:
    known = {"hold", "on", "stop", "yeah"}
    for grammar in (listening(known.__contains__), interrupting(known.__contains__)):
        assert grammar.words() <= known | spoken_in_phones().keys()
    assert takes(interrupting(known.__contains__), ["hold", "on"])
    assert not takes(interrupting(known.__contains__), ["hang", "on"])


def test_phones_after_a_stop_are_counted() -> None:
    assert phones_in("hold on") == 0
    assert phones_in("<sil> hold on [P] [L]") == 2


@pytest.fixture(scope="module")
def dictionary() -> pocketsphinx.Decoder:
    return load_decoder()


@pytest.fixture
def search(dictionary: pocketsphinx.Decoder) -> OverlapSearch:
    return OverlapSearch(dictionary)


def evidence(search: OverlapSearch, pcm: bytes) -> float | None:
    """What the sound leans to, with a quarter of a second before and after it."""
    search.start(MEAN)
    pcm = pcm[8000:-8000]
    for at in range(0, len(pcm), 640):
        search.hear(pcm[at : at + 640])
    return search.finish()


@pytest.mark.parametrize("said", ["stop", "never mind", "no no wait", "say that again"])
def test_interruptions_lean_to_interruptions(search: OverlapSearch, speak: Speak, said: str) -> None:
    assert (evidence(search, speak(said)) or 0) >= UNKNOWN


@pytest.mark.parametrize("said", ["yeah", "uh huh", "mm hmm", "okay right"])
def test_backchannels_lean_to_backchannels(search: OverlapSearch, speak: Speak, said: str) -> None:
    assert (evidence(search, speak(said)) or 99) < 20


@pytest.mark.parametrize("said", ["good morning", "cough"])
def test_what_is_like_no_phrase_of_either_kind_leans_to_an_interruption_by_little(
    search: OverlapSearch, speak: Speak, said: str
) -> None:
    told = evidence(search, speak(said))
    assert told is None or told <= UNKNOWN


def test_a_search_tells_of_each_utterance_alone(search: OverlapSearch, speak: Speak) -> None:
    first = evidence(search, speak("stop"))
    evidence(search, speak("okay right"))
    search.start(MEAN)
    search.hear(speak("yeah"))
    search.stop()
    assert search.evidence() is None
    assert evidence(search, speak("stop")) == pytest.approx(first, abs=20)


def test_nothing_is_told_of_too_little_and_of_long_speech(search: OverlapSearch, speak: Speak) -> None:
    pcm = speak("stop")[8000:-8000]
    assert search.evidence() is None
    search.start(MEAN)
    search.hear(pcm[:6400])
    assert search.evidence() is None
    search.hear(pcm[6400:])
    assert search.evidence() is not None
    search.hear(bytes(int(LONGEST * 32000)))
    assert search.evidence() is None
    assert search.finish() is None


def test_nothing_is_told_of_silence(search: OverlapSearch) -> None:
    assert evidence(search, bytes(40000)) is None
