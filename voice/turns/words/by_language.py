"""The words of each language."""

from collections.abc import Mapping

from voice.language import Language
from voice.turns.words.english import ENGLISH
from voice.turns.words.german import GERMAN
from voice.turns.words.turn_words import TurnWords

TURN_WORDS: Mapping[Language, TurnWords] = {"en": ENGLISH, "de": GERMAN}
