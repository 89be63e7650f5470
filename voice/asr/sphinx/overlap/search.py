"""What a sound over an answer is like, by two decoders with small grammars (`overlap.grammar`) beside the recogniser's.

They share its acoustic model and the pronunciations of its words. A decoder of its own for each grammar, because one
decoder has one search at a time. They cost a tenth of a second of processor time for a second of sound.
"""

import math
from pathlib import Path

import pocketsphinx

from voice.asr.sphinx.overlap.grammar import Grammar, interrupting, listening, phones_in, spoken_in_phones
from voice.asr.sphinx.worker_protocol import BYTES_PER_SECOND, SAMPLE_RATE

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

    def leaning(self) -> float | None:
        """By how many nats the sound so far is more like an interruption than like a backchannel.

        None while no utterance is heard, or too little of it, and where a grammar has no such sound.
        """
        if not self._hears or self._bytes < _SHORTEST * BYTES_PER_SECOND:
            return None
        return self._difference()

    def finish(self) -> float | None:
        """End the utterance; returns what `leaning` tells of all of it."""
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

    def forget_speaker(self) -> None:
        """Forget the utterance and the noise of the line, too."""
        self.stop()
        self._listening.reinit_feat()
        self._interrupting.reinit_feat()


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
