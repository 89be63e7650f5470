"""What sounds over an answer are like, whatever their words: backchannels or interruptions.

A language model of whole sentences writes some word for every short sound. Two small grammars, of what a listener says
and of what interrupts, know only how a sound may continue, so that their scores tell which of the two it is like. Each
has a decoder of its own beside the recogniser's, because one decoder has one search at a time. They share its acoustic
model and the pronunciations of its words, and take a tenth of a second of processor time for a second of sound.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pocketsphinx

from voice.asr.sphinx.messages import BYTES_PER_SECOND, SAMPLE_RATE
from voice.language.english.turns import ENGLISH

LONGEST = 1.5
"""Seconds of an utterance that are heard; no backchannel is as long, and more words tell more."""
_SHORTEST = 0.5
"""Seconds of an utterance, with the silence before the sound, from which there is something to tell."""
_NATS = 1024.0
"""The decoder's acoustic scores are logarithms, divided by this."""
_BEAM = 1e-48
UNKNOWN = 40.0
"""The most that is told, in nats, of a sound that is like no backchannel, but like no "stop" either."""
_MORE = 1
"""Phones after a "stop" with which a sound is still like it: its last consonant, drawn out."""

PHONES = (
    "AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D", "DH", "EH", "ER", "EY", "F", "G", "HH", "IH", "IY", "JH", "K",
    "L", "M", "N", "NG", "OW", "OY", "P", "R", "S", "SH", "T", "TH", "UH", "UW", "V", "W", "Y", "Z", "ZH",
)  # fmt: skip
"""The phones of the acoustic model, any of which may follow in an interruption."""
HUMS = ("M HH M", "M M", "HH M", "AH HH AH", "M", "AH", "HH AH HH AH HH AH", "HH AA HH AA", "AH M HH M")
"""Sounds of a listener that are no words, in phones: "mm-hm", "uh-huh", laughter."""
AGAIN = math.exp(-10)
"""The weight of another backchannel after one: vowels and hums in a row could be anything."""
VOWELS = frozenset(("ya", "huh", "ha", "ah", "oh", "uh", "um", "er", "eh", "aw", "ooh", "M M", "M", "AH"))
VOWEL = math.exp(-8)
"""The weight of these beside other backchannels, likewise."""
LEADS_ON = frozenset(("and", "so", "then"))
"""Backchannels that are no more like listening than like the beginning of an interruption."""

Transition = tuple[int, int, float] | tuple[int, int, float, str]
"""From one state to another, with a probability and, unless nothing is said, a word."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A finite-state grammar that begins in state 0.

    Parameters:
        transitions: between its states.
        final: the state in which it ends.
    """

    transitions: tuple[Transition, ...]
    final: int

    def words(self) -> set[str]:
        """All words in it."""
        return {one[3] for one in self.transitions if len(one) == 4}


def listening(is_known: Callable[[str], bool]) -> Grammar:
    """One backchannel, or several in a row; `is_known` tells for which words there is a pronunciation."""
    listens = [one for one in (*ENGLISH.backchannels, "uh-huh") if one not in LEADS_ON]
    weights = {one: VOWEL if one in VOWELS else 1.0 for one in _pronounceable(listens, is_known)}
    weights |= {_spelled(phones): VOWEL if phones in VOWELS else 1.0 for phones in HUMS}
    return Grammar((*_phrases(weights, first=2), (1, 0, AGAIN)), final=1)


def interrupting(is_known: Callable[[str], bool]) -> Grammar:
    """A "stop", and after it anything at all, phone by phone."""
    phrases = _phrases(dict.fromkeys(_pronounceable(ENGLISH.stops, is_known), 1.0), first=4)
    anything = [(3, 3, 1 / len(PHONES), _spelled(phone)) for phone in PHONES]
    return Grammar((*phrases, (1, 2, 1.0), (1, 3, 1.0), *anything, (3, 2, 1.0)), final=2)


def spoken_in_phones() -> dict[str, str]:
    """The phones of the words of these grammars that no dictionary has."""
    return {_spelled(phones): phones for phones in (*HUMS, *PHONES)}


def phones_in(said: str) -> int:
    """How many of the words are single phones: what followed a "stop"."""
    return sum(word[1:-1] in PHONES for word in said.split() if word.startswith("["))


def _spelled(phones: str) -> str:
    """A word that no dictionary has, for phones."""
    return f"[{phones.replace(' ', '-')}]"


def _pronounceable(phrases: Iterable[str], is_known: Callable[[str], bool]) -> list[str]:
    return [phrase for phrase in phrases if all(map(is_known, phrase.split()))]


def _phrases(weights: Mapping[str, float], *, first: int) -> list[Transition]:
    """Transitions of phrases with their weights from state 0 to 1, with states between them from `first` on."""
    transitions: list[Transition] = []
    state = first
    for phrase, weight in weights.items():
        words, at = phrase.split(), 0
        for index, word in enumerate(words):
            is_last = index == len(words) - 1
            transitions.append((at, 1 if is_last else state, 1.0 if index else weight / len(weights), word))
            at = state
            state += not is_last
    return transitions


class OverlapSearch:
    """Hears one utterance at a time.

    Args:
        dictionary: a decoder whose dictionary has the pronunciations.

    Raises:
        RuntimeError: PocketSphinx cannot load its acoustic model.
    """

    def __init__(self, dictionary: pocketsphinx.Decoder) -> None:
        def is_known(word: str) -> bool:
            return dictionary.lookup_word(word) is not None

        self._listening = _decoder(listening(is_known), dictionary)
        self._interrupting = _decoder(interrupting(is_known), dictionary)
        self._bytes = 0
        self._hears = False

    def start(self, mean: str) -> None:
        """Begin an utterance of a speaker with this cepstral mean, in the decoder's notation."""
        self.stop()
        for decoder in (self._listening, self._interrupting):
            decoder.set_cmn(mean)
            decoder.start_utt()
        self._bytes, self._hears = 0, True

    def hear(self, pcm: bytes) -> None:
        """More of the utterance; after `LONGEST` it is given up."""
        if not self._hears:
            return
        self._bytes += len(pcm)
        if self._bytes > LONGEST * BYTES_PER_SECOND:
            self.stop()
            return
        self._listening.process_raw(pcm)
        self._interrupting.process_raw(pcm)

    def evidence(self) -> float | None:
        """By how many nats the sound so far is more like an interruption than like a backchannel.

        None while no utterance is heard, or too little of it, and where a grammar has no such sound.
        """
        if not self._hears or self._bytes < _SHORTEST * BYTES_PER_SECOND:
            return None
        return self._difference()

    def finish(self) -> float | None:
        """End the utterance; returns what `evidence` tells of all of it."""
        if not self._hears:
            return None
        self._hears = False
        self._listening.end_utt()
        self._interrupting.end_utt()
        return self._difference()

    def _difference(self) -> float | None:
        interrupts, listens = self._interrupting.hyp(), self._listening.hyp()
        if not interrupts or not listens or not interrupts.score or not listens.score:
            return None
        nats = _NATS * math.log(interrupts.score / listens.score)
        return nats if phones_in(interrupts.hypstr) <= _MORE else min(nats, UNKNOWN)

    def stop(self) -> None:
        """Forget the utterance."""
        self.finish()


def _decoder(grammar: Grammar, dictionary: pocketsphinx.Decoder) -> pocketsphinx.Decoder:
    acoustic_model = Path(pocketsphinx.get_model_path()) / "en-us" / "en-us"
    decoder = pocketsphinx.Decoder(
        hmm=str(acoustic_model), dict=None, lm=None, samprate=SAMPLE_RATE, loglevel="FATAL", bestpath=False,
        maxhmmpf=-1, beam=_BEAM, wbeam=_BEAM, pbeam=_BEAM, lw=1.0, wip=1.0, pip=1.0,
    )  # fmt: skip
    in_phones = spoken_in_phones()
    for word in sorted(grammar.words()):
        if word in in_phones:
            decoder.add_word(word, in_phones[word], False)
            continue
        spelling, number = word, 1
        while (phones := dictionary.lookup_word(spelling)) is not None:
            decoder.add_word(spelling, phones, False)
            number += 1
            spelling = f"{word}({number})"
    decoder.add_fsg("grammar", decoder.create_fsg("grammar", 0, grammar.final, grammar.transitions))
    decoder.activate_search("grammar")
    return decoder
