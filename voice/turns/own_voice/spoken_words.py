"""Whether heard words are those that the agent was just speaking. Pure: times are passed in, seconds on any one clock.

An echo is heard while the agent speaks, a fraction of a second after its words were played. A caller who repeats the
agent's words begins after having heard them, and so does not overlap them in time. Recognisers garble an echo: of ten
answers of the embedded voice in a simulated room at -12 dB, PocketSphinx got all words of two and most of seven
("today's sunday november ninety seven"), hence words are compared letter by letter.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from num2words import num2words

from voice.language import Language
from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords

OWN = 0.6
"""The share of the heard letters that must be in words of the agent."""
FEW, OWN_FEW = 2, 0.9
"""So few words must be the agent's nearly to the letter: in a short answer to it, one word is often one of its own."""
EARLIEST = 0.2
"""Seconds before the heard speech began from which on the end of a word may be heard in it."""
CLEARLY_NOT = 0.5
"""The share of the letters up to which unfinished words are surely not the agent's."""
ENOUGH_WORDS = 3
"""Words that tell, before the speech is over, whose they are: the first that are heard of an echo are mostly wrong."""
ALIKE = 0.7
"""How alike two words must be, 0 to 1, for one to be the other misheard."""
REMEMBERED = 60.0
"""Seconds for which spoken words are kept."""
SECONDS_PER_CHARACTER = 0.06
"""Of English speech: how far before and after its instant the words of a longer text may have been played."""
_WORD = re.compile(r"[a-zäöüß]+(?:'[a-zäöüß]+)*|\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word and the span of time in which its end was played."""

    word: str
    first: float
    last: float


class SpokenWords:
    """What the agent has spoken lately, and when.

    Args:
        language: the words of the language that is spoken.
    """

    def __init__(self, language: TurnWords = ENGLISH) -> None:
        self.language = language
        self._spoken: deque[SpokenWord] = deque()

    def add(self, text: str, at: float) -> None:
        """The agent has just played a word at `at`; of a longer text it is known only roughly when each was played."""
        words = list(plain_words(text, self.language))
        around = SECONDS_PER_CHARACTER * len(text) if len(text.split()) > 1 else 0.0
        self._spoken.extend(SpokenWord(word, at - around, at + around) for word in words)
        while self._spoken and self._spoken[0].last < at - REMEMBERED:
            self._spoken.popleft()

    def share_own(self, heard: str, since: float, until: float) -> float:
        """The share of the letters of `heard`, 0 to 1, that are in words played in the same order at that time.

        Args:
            heard: what the recogniser made of a stretch of speech.
            since: when that speech began.
            until: when it ended, or now.
        """
        words = list(plain_words(heard, self.language))
        played = [one.word for one in self._spoken if one.last >= since - EARLIEST and one.first <= until]
        letters = sum(map(len, words))
        return _aligned(words, played) / letters if letters else 0.0

    def are_own(self, heard: str, since: float, until: float) -> bool:
        """Whether `heard` is the agent's own voice. Arguments are those of `share_own`."""
        words = list(plain_words(heard, self.language))
        if len(words) > FEW:
            return self.share_own(heard, since, until) >= OWN
        return not self.language.never_own.intersection(words) and self.share_own(heard, since, until) >= OWN_FEW

    def are_surely_not_own(self, heard: str, since: float, until: float) -> bool:
        """Whether `heard`, of which more may follow, is another's voice. Arguments are those of `share_own`."""
        words = list(plain_words(heard, self.language))
        played = {one.word for one in self._spoken if one.last >= since - EARLIEST and one.first <= until}
        if any(word in self.language.never_own and word not in played for word in words):
            return True
        return len(words) >= ENOUGH_WORDS and self.share_own(heard, since, until) <= CLEARLY_NOT


def plain_words(text: str, language: TurnWords = ENGLISH) -> Iterator[str]:
    """The words of a text as they are spoken: lower case, numbers in words."""
    for word in _WORD.findall(language.plain_numbers(text.lower())):
        if word[0].isdigit():
            yield from _WORD.findall(_in_words(word, language.code))
        else:
            yield word


@lru_cache(maxsize=1024)
def _in_words(number: str, language: Language) -> str:
    spelled: str = num2words(float(number) if "." in number else int(number), lang=language)
    return spelled.lower()


def _aligned(heard: Sequence[str], played: Sequence[str]) -> float:
    """The most letters of `heard` that can be matched to `played` in order, each as much as the two words are alike."""
    best = [0.0] * (len(played) + 1)
    for word in heard:
        row = [0.0]
        for other, (diagonal, above) in zip(played, pairwise(best), strict=True):
            row.append(max(row[-1], above, diagonal + len(word) * _alikeness(word, other)))
        best = row
    return best[-1]


@lru_cache(maxsize=4096)
def _alikeness(heard: str, played: str) -> float:
    if heard == played:
        return 1.0
    alike = SequenceMatcher(None, heard, played, autojunk=False).ratio()
    return alike if alike >= ALIKE else 0.0
