"""The words of turns in each language, and what those before a silence or over an answer mean. Pure."""

from collections.abc import Mapping

from voice.language import Language
from voice.turns.words.english import ENGLISH
from voice.turns.words.german import GERMAN
from voice.turns.words.turn_words import TurnWords

TURN_WORDS: Mapping[Language, TurnWords] = {"en": ENGLISH, "de": GERMAN}
