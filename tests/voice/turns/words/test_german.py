"""German words decide turns and interruptions as English ones do."""

import pytest

from voice.conversation.goodbye import is_farewell
from voice.language.german.turns import GERMAN
from voice.language.turn_words import LeadIn
from voice.llm.answer.clauses import ClauseSplitter, sentences
from voice.turns.barge_in.meaning import Meaning, meaning_of
from voice.turns.evidence_gatherer import symbols_at_end
from voice.turns.own_voice import SpokenWords, plain_words
from voice.turns.words.agent_question import Asked, asked
from voice.turns.words.short_replies import lead_in


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hallo.", "greeting"), ("Grüß Gott!", "greeting"), ("Moment mal", "greeting"), ("Ähm", "joint"),
        ("Ja, also", "joint"), ("ja,", "joint"), ("Ja, gerne.", "yes"), ("In Ordnung.", "yes"), ("Nein danke", "no"),
        ("ja nein", "no"), ("Ja, ich hätte gern Tee", None), ("Stopp", None), ("", None),
    ],
)  # fmt: skip
def test_lead_ins(text: str, kind: LeadIn | None) -> None:
    assert lead_in(text, GERMAN) == kind


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Ja, genau.", Meaning.BACKCHANNEL), ("Mhm.", Meaning.BACKCHANNEL), ("Ach so, okay", Meaning.BACKCHANNEL),
        ("Das stimmt.", Meaning.BACKCHANNEL), ("Das stimmt nicht.", Meaning.STOP), ("Ja, warten Sie", Meaning.STOP),
        ("Stopp!", Meaning.STOP), ("Hören Sie auf!", Meaning.STOP), ("nein, morgen", Meaning.STOP),
        ("Und am Freitag dann", Meaning.WORDS), ("Entschuldigun", Meaning.STOP), ("ha ha ha", Meaning.BACKCHANNEL),
        ("lo lo lo", Meaning.NOTHING), ("", Meaning.NOTHING), ("stop", Meaning.STOP),
    ],
)  # fmt: skip
def test_what_words_over_an_answer_mean(text: str, meaning: Meaning) -> None:
    assert meaning_of(text, language=GERMAN) is meaning


def test_a_yes_over_a_yes_or_no_question_is_its_answer() -> None:
    question = asked("Soll ich den Termin buchen?", GERMAN)
    assert meaning_of("Ja, gerne.", asked=question, language=GERMAN) is Meaning.ANSWER
    assert meaning_of("Ja, gerne.", language=GERMAN) is Meaning.BACKCHANNEL


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Soll ich das buchen?", "yes_no"),
        ("Das Meer ist blau, Soll ich weitermachen?", "yes_no"), ("Gut, ist das richtig?", "yes_no"),
        ("Sie wohnen in Köln, oder?", "yes_no"),
        ("Sie sagten zehn?", "yes_no"), ("Kann ich sonst noch etwas für Sie tun?", "offer"),
        ("Wie lautet Ihre Kundennummer?", "number"), ("Nennen Sie mir bitte Ihre Postleitzahl.", "number"),
        ("Können Sie das bitte buchstabieren?", "spelling"), ("Wie heißen Sie?", "short"),
        ("Möchten Sie Tee oder Kaffee?", "short"), ("Wie kann ich Ihnen helfen?", "open"),
        ("Was ist passiert?", "open"),
        ("Der Termin ist am Montag.", None), ("", None),
    ],
)  # fmt: skip
def test_what_the_agent_has_asked(text: str, kind: Asked | None) -> None:
    assert asked(text, GERMAN) == kind


@pytest.mark.parametrize(
    "text",
    ["Tschüss!", "Okay, danke, auf Wiederhören.", "Das war's, vielen Dank.", "Schönen Tag noch!", "Ja, ciao"],
)
def test_farewells(text: str) -> None:
    assert is_farewell(text, GERMAN)


@pytest.mark.parametrize("text", ["Danke.", "Sag ihr auf Wiedersehen von mir", "bis dann brauche ich Milch", "bye"])
def test_other_words_are_no_farewell(text: str) -> None:
    assert not is_farewell(text, GERMAN)


@pytest.mark.parametrize(
    ("text", "count"),
    [("null eins sieben", 3), ("B wie Berta, A", 2), ("eins zwanzig", 1), ("am Montag", 0)],
)
def test_digits_and_letters_at_the_end(text: str, count: int) -> None:
    assert symbols_at_end(text, GERMAN) == count


def test_the_agents_own_words_are_known_with_umlauts_and_numbers() -> None:
    assert list(plain_words("Für 1.250,5 Euro", GERMAN)) == [
        "für", "eintausendzweihundertfünfzig", "komma", "fünf", "euro",
    ]  # fmt: skip
    spoken = SpokenWords(GERMAN)
    for second, word in enumerate(["Das", "kostet", "fünfzig", "Euro"]):
        spoken.add(word, 10.0 + second)
    assert spoken.are_own("das kostet fünfzig Euro", 9.5, 14.0)
    assert not spoken.are_own("stopp", 9.5, 14.0)


def test_ordinals_and_abbreviations_end_no_sentence() -> None:
    text = "Ihr Termin ist am 3. Mai um 10 Uhr, bzw. danach. Passt das?"
    assert sentences(text, language="de") == ["Ihr Termin ist am 3. Mai um 10 Uhr, bzw. danach.", "Passt das?"]
    splitter = ClauseSplitter(language="de")
    assert splitter.feed("Das war im 20. Jahrhundert. ") == ["Das war im 20. Jahrhundert."]
