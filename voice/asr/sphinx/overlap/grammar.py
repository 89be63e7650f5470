"""Two small grammars for sounds over an answer: what a listener says, and what interrupts. Pure.

A language model of whole sentences writes some word for every short sound. These grammars know only how a sound may
continue, so that their scores tell which of the two it is like.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from voice.language.english.turns import ENGLISH

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
