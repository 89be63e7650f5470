"""When each word of a recording is spoken, from its transcript."""

import re
from collections import deque
from collections.abc import Iterator

import numpy as np
import pocketsphinx
from num2words import num2words

from pipelines.lab.curve.recorded import Alignment
from pipelines.lab.scripted.spoken_words import Word
from voice.client.fixtures.fixture import FixtureTurn, Stretch

FRAME = 0.01
"""Seconds in a frame of PocketSphinx."""
LEAST_KNOWN = 0.6
"""The least share of a transcript's words that must be in the dictionary; the others lie between their neighbours."""
SEARCH = {"beam": 1e-80, "wbeam": 1e-60, "pbeam": 1e-80, "bestpath": False}
"""Wide beams keep paths through noise and slips of the tongue. The word lattice search after the alignment is off: it
would lose the last word of 17 of 44 telephone recordings."""
LONGEST_NUMBER = 4
"""The most digits that are read as one number; longer ones are read digit by digit."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_VARIANT = re.compile(r"\(\d+\)$")
"""The decoder's mark of a pronunciation, as in "your(2)"."""


class WordAligner:
    """Aligns transcripts with PocketSphinx; loading its acoustic model takes 0.3 s."""

    def __init__(self) -> None:
        self._decoder = pocketsphinx.Decoder(lm=None, loglevel="FATAL", **SEARCH)

    def align(self, turn: FixtureTurn) -> tuple[list[Word], Alignment]:
        """The words of the turn's text with their times, and how they were found."""
        words = [word for part in _WORD.findall(turn.text.lower()) for word in _spoken(part)]
        if not words:
            return [], "none"
        known = [word for word in words if self._decoder.lookup_word(word)]
        if len(known) >= LEAST_KNOWN * len(words) and (found := _aligned(self._decoder, known, turn)):
            return list(_with_unknown(words, found, turn.speech)), "forced"
        return list(spread(words, turn.speech)), "proportional"


def spread(words: list[str], speech: tuple[Stretch, ...]) -> Iterator[Word]:
    """The words, spread over the stretches of speech in proportion to their letters."""
    total = sum(end - start for start, end in speech)
    letters = sum(map(len, words))

    def at(share: float) -> float:
        spoken = share * total
        for start, end in speech:
            if spoken <= end - start:
                return start + spoken
            spoken -= end - start
        return speech[-1][1]

    before = 0
    for word in words:
        yield Word(word, at(before / letters), at((before + len(word)) / letters))
        before += len(word)


def _aligned(decoder: pocketsphinx.Decoder, words: list[str], turn: FixtureTurn) -> list[Word]:
    """The words as the decoder places them; none when it cannot place all."""
    decoder.set_align_text(" ".join(words))
    decoder.start_utt()
    decoder.process_raw(np.asarray(turn.samples).tobytes(), full_utt=True)
    decoder.end_utt()
    found = [
        Word(_VARIANT.sub("", one.word), one.start_frame * FRAME, (one.end_frame + 1) * FRAME)
        for one in decoder.seg() or ()
        if not one.word.startswith(("<", "["))
    ]
    return found if [word.text for word in found] == words else []


def _with_unknown(words: list[str], known: list[Word], speech: tuple[Stretch, ...]) -> Iterator[Word]:
    """All words in order: known ones where they were found, the others between them."""
    rest = deque(known)
    last = speech[0][0]
    for number, word in enumerate(words):
        if rest and rest[0].text == word:
            found = rest.popleft()
            last = found.end
            yield found
        else:
            until = max(last, rest[0].start if rest else speech[-1][1])
            missing = _before(words[number:], rest[0].text if rest else None)
            end = last + (until - last) / missing
            yield Word(word, last, end)
            last = end


def _before(words: list[str], known: str | None) -> int:
    """The number of words before the next known one."""
    return words.index(known) if known is not None else len(words)


def _spoken(word: str) -> list[str]:
    """A word in the dictionary's form: figures in words, a long number digit by digit."""
    if word.isdecimal():
        numbers = word if len(word) > LONGEST_NUMBER else [word]
        return [part for number in numbers for part in _WORD.findall(num2words(int(number)))]
    return [word.replace("’", "'")]
