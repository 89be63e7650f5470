"""The parts of each language by its code, without the reading rules, which take longer to import."""

from collections.abc import Mapping

from voice.language import Language
from voice.language.abbreviations import Abbreviations
from voice.language.english.abbreviations import ENGLISH as ENGLISH_ABBREVIATIONS
from voice.language.english.phrases import ENGLISH as ENGLISH_PHRASES
from voice.language.english.turns import ENGLISH as ENGLISH_TURNS
from voice.language.german.abbreviations import GERMAN as GERMAN_ABBREVIATIONS
from voice.language.german.phrases import GERMAN as GERMAN_PHRASES
from voice.language.german.turns import GERMAN as GERMAN_TURNS
from voice.language.phrases import Phrases
from voice.language.turn_words import TurnWords

ABBREVIATIONS: Mapping[Language, Abbreviations] = {"en": ENGLISH_ABBREVIATIONS, "de": GERMAN_ABBREVIATIONS}
PHRASES: Mapping[Language, Phrases] = {"en": ENGLISH_PHRASES, "de": GERMAN_PHRASES}
TURN_WORDS: Mapping[Language, TurnWords] = {"en": ENGLISH_TURNS, "de": GERMAN_TURNS}
