"""Which differences of two transcripts matter."""

import pytest

from voice.asr.changed_words import LONGEST, ChangedWords, changed_words
from voice.language import Language

SAME: dict[Language, list[tuple[str, str]]] = {
    "en": [
        ("Set a timer for ten minutes.", "set a timer for ten minutes"),
        ("Set a timer for 25 minutes", "Set a timer for twenty-five minutes."),
        ("It's 20% of 50", "It is twenty percent of fifty."),
        ("What is 7 x 8?", "What's seven times eight?"),
        ("Wake me at 5:30 p.m.", "wake me at five thirty pm"),
        ("That costs $5.50", "That costs five dollars and fifty cents"),
        ("a hundred and five", "105"),
        ("one thousand two hundred fifty", "1,250"),
        ("the 3rd of May", "the third of May"),
        ("I can't hear you", "I cannot hear you"),
        ("We won't come", "We will not come"),
        ("Um, what time is it?", "What time is it?"),
        ("Turn on the light in the kitchen", "Turn on a light in the kitchen"),
        ("Turn on the living room lights", "turn on the livingroom light"),
        ("Cancelled the timer", "cancel the timer"),
        ("What's the colour of the theatre?", "Whats the color of the theater"),
        ("A single shot-trip", "a single-shot trip"),
        ("I wanted a triple shot", "I want a triple shot"),
        ("brew and light roast", "Brew a light roast"),
        ("Good bye", "Goodbye!"),
        ("Okay, please call Anna", "Call Anna"),
        ("", ""),
    ],
    "de": [
        ("Stelle einen Timer auf 25 Minuten.", "stelle einen timer auf fünfundzwanzig minuten"),
        ("um 17:30 Uhr", "um siebzehn Uhr dreißig"),
        ("Das kostet 5,50 €", "das kostet fünf Euro und fünfzig Cent"),
        ("am 3. Mai", "am dritten Mai"),
        ("hundert Euro", "100 Euro"),
        ("Äh, wie spät ist es?", "Wie spät ist's?"),
        ("Mach das große Licht an", "Mach die grosse Licht an"),
        ("Wie geht's dir?", "Wie geht es dir"),
        ("Fahre zum Bahnhof", "Fahre zu dem Bahnhof"),
        ("die Straße", "die Strasse"),
        ("Guten Tag, bitte Frau Meier", "Guten Tag Frau Meier"),
    ],
}
OTHER: dict[Language, list[tuple[str, str, str, str]]] = {
    "en": [
        ("Set a timer for fifteen minutes", "Set a timer for 50 minutes", "fifteen", "fifty"),
        ("Set a timer for 15 minutes", "Set a timer for 50 minutes", "fifteen", "fifty"),
        ("I can hear you", "I can't hear you", "", "not"),
        ("Do not call her", "Do call her", "not", ""),
        ("Call Anna", "Call Hannah", "anna", "hannah"),
        ("I'd like a dark rose latte", "I'd like a dark roast latte.", "rose", "roast"),
        ("a flight to Boston", "a flight from Boston", "to", "from"),
        ("tea or coffee", "tea and coffee", "or", "and"),
        ("brush the car", "wash the car", "brush", "wash"),
        ("Get me a coffee", "Get me two coffees", "a coffee", "two coffees"),
        ("Stop", "Start", "stop", "start"),
        ("what is the time", "what is the time in Paris", "", "in paris"),
        ("call Tom and book ten tables", "call Tim and book two tables", "tom, ten", "tim, two"),
        ("Thank you", "Good, thank you", "", "good"),
        ("yes", "no", "yes", "no"),
    ],
    "de": [
        ("Stelle einen Timer auf fünfzehn Minuten", "Stelle einen Timer auf 50 Minuten", "fünfzehn", "fünfzig"),
        ("Ich will das", "Ich will das nicht", "", "nicht"),
        ("Ich habe keine Zeit", "Ich habe eine Zeit", "keine", "eine"),
        ("Ruf Anna an", "Ruf Hannah an", "anna", "hannah"),
        ("Tee oder Kaffee", "Tee und Kaffee", "oder", "und"),
        ("nach Köln", "aus Köln", "nach", "aus"),
        ("zwei Karten", "drei Karten", "zwei", "drei"),
        ("ja bitte", "nein bitte", "ja", "nein"),
    ],
}


@pytest.mark.parametrize(
    ("language", "before", "after"), [(code, *pair) for code, rows in SAME.items() for pair in rows]
)
def test_what_means_the_same_is_no_change(language: Language, before: str, after: str) -> None:
    assert changed_words(before, after, language) is None
    assert changed_words(after, before, language) is None


@pytest.mark.parametrize(
    ("language", "before", "after", "was", "now"), [(code, *row) for code, rows in OTHER.items() for row in rows]
)
def test_other_words_that_matter_are_named(language: Language, before: str, after: str, was: str, now: str) -> None:
    assert changed_words(before, after, language) == ChangedWords(was, now)
    assert changed_words(after, before, language) == ChangedWords(now, was)


def test_a_text_that_is_too_long_is_not_compared() -> None:
    assert changed_words("word " * LONGEST, "other") is None
