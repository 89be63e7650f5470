"""Classifies sounds over an answer, regardless of their words: backchannels or interruptions.

A language model of whole sentences finds some word for every short sound. So two small grammars, one of backchannels
and one of interruptions, score the sound, and their scores are compared. Each has its own decoder besides the
recogniser's, because a decoder runs one search at a time. They use the recogniser's acoustic model and pronunciations,
and take a tenth of a second of processor time per second of sound.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pocketsphinx

from voice.asr.sphinx.messages import BYTES_PER_SECOND, SAMPLE_RATE
from voice.language.english.turns import ENGLISH

LONGEST = 1.5
"""Seconds of an utterance that are scored; backchannels are shorter, and longer speech is better judged by its
words."""
_SHORTEST = 0.5
"""The least seconds of an utterance, with the silence before the sound, for any evidence."""
_NATS = 1024.0
"""The decoder divides its logarithmic acoustic scores by this."""
_BEAM = 1e-48
UNKNOWN = 40.0
"""The most evidence, in nats, for a sound that is neither like a backchannel nor like "stop"."""
_MORE = 1
"""Phones after a "stop" that may still belong to it: its last consonant, drawn out."""

PHONES = (
    "AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D", "DH", "EH", "ER", "EY", "F", "G", "HH", "IH", "IY", "JH", "K",
    "L", "M", "N", "NG", "OW", "OY", "P", "R", "S", "SH", "T", "TH", "UH", "UW", "V", "W", "Y", "Z", "ZH",
)  # fmt: skip
"""The phones of the acoustic model, any of which may follow in an interruption."""
HUMS = ("M HH M", "M M", "HH M", "AH HH AH", "M", "AH", "HH AH HH AH HH AH", "HH AA HH AA", "AH M HH M")
"""Non-verbal sounds of a listener, in phones: "mm-hm", "uh-huh", laughter."""
AGAIN = math.exp(-10)
"""The weight of another backchannel after one: vowels and hums in a row could be anything."""
VOWELS = frozenset(("ya", "huh", "ha", "ah", "oh", "uh", "um", "er", "eh", "aw", "ooh", "M M", "M", "AH"))
VOWEL = math.exp(-8)
"""The weight of these, compared to other backchannels, for the same reason."""
LEADS_ON = frozenset(("and", "so", "then"))
"""Backchannels that might as well begin an interruption."""

Transition = tuple[int, int, float] | tuple[int, int, float, str]
"""From one state to another, with a probability and, unless it is silent, a word."""


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
    """The grammar of one or several backchannels; `is_known` tells whether a word has a pronunciation."""
    listens = [one for one in (*ENGLISH.backchannels, "uh-huh") if one not in LEADS_ON]
    weights = {one: VOWEL if one in VOWELS else 1.0 for one in _pronounceable(listens, is_known)}
    weights |= {_spelled(phones): VOWEL if phones in VOWELS else 1.0 for phones in HUMS}
    return Grammar((*_phrases(weights, first=2), (1, 0, AGAIN)), final=1)


def interrupting(is_known: Callable[[str], bool]) -> Grammar:
    """The grammar of a "stop" followed by anything, phone by phone."""
    phrases = _phrases(dict.fromkeys(_pronounceable(ENGLISH.stops, is_known), 1.0), first=4)
    anything = [(3, 3, 1 / len(PHONES), _spelled(phone)) for phone in PHONES]
    return Grammar((*phrases, (1, 2, 1.0), (1, 3, 1.0), *anything, (3, 2, 1.0)), final=2)


def spoken_in_phones() -> dict[str, str]:
    """The phones of those words in the grammars that are in no dictionary."""
    return {_spelled(phones): phones for phones in (*HUMS, *PHONES)}


def phones_in(said: str) -> int:
    """The number of words that are single phones after a "stop"."""
    return sum(word[1:-1] in PHONES for word in said.split() if word.startswith("["))


def _spelled(phones: str) -> str:
    """An artificial word for a sequence of phones."""
    return f"[{phones.replace(' ', '-')}]"


def _pronounceable(phrases: Iterable[str], is_known: Callable[[str], bool]) -> list[str]:
    return [phrase for phrase in phrases if all(map(is_known, phrase.split()))]


def _phrases(weights: Mapping[str, float], *, first: int) -> list[Transition]:
    """Transitions for weighted phrases from state 0 to 1; states between them are numbered from `first`."""
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
    """Scores one utterance at a time.

    Args:
        dictionary: a decoder whose dictionary supplies the pronunciations.

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
        """Add audio of the utterance; after `LONGEST`, it is no longer scored."""
        if not self._hears:
            return
        self._bytes += len(pcm)
        if self._bytes > LONGEST * BYTES_PER_SECOND:
            self.stop()
            return
        self._listening.process_raw(pcm)
        self._interrupting.process_raw(pcm)

    def evidence(self) -> float | None:
        """The log-likelihood ratio of interruption to backchannel for the sound so far, in nats.

        None without an utterance, with too little audio, or if a grammar cannot match the sound.
        """
        if not self._hears or self._bytes < _SHORTEST * BYTES_PER_SECOND:
            return None
        return self._difference()

    def finish(self) -> float | None:
        """End the utterance; returns the `evidence` of all of it."""
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
