"""What an opening may say: everything that claims something is blocked before it is synthesised."""

import pytest

from voice.frames import AnswerTextFrame
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.clauses import has_words
from voice.llm.answer.hold_phrases import check_phrase
from voice.llm.opening import Repair, contradicts, is_repair, objection

PILLS = "is it okay to take two of these white pills before my flight to Rome on Friday"
ALLOWED = [
    ("Let me think about that.", PILLS),
    ("Good question, let me see.", PILLS),
    ("Hmm, let me work that out.", PILLS),
    ("I see.", PILLS),
    ("Got it. One moment.", PILLS),
    ("About your flight to Rome, let me think.", PILLS),
    ("For your flight to Rome on Friday, let me see.", PILLS),
    ("About these white pills, let me think.", PILLS),
    ("Let me think about your flight.", PILLS),
    ("I'm thinking about your flight to Rome.", PILLS),
    ("Let me go through your contract for a moment.", "what does my contract say"),
    *((phrase, PILLS) for phrase in ENGLISH.openings),
]
BLOCKED = [
    # Yes or no, however dressed.
    "Yes, let me see.",
    "No, one moment.",
    "Sure, let me think.",
    "Of course, let me see.",
    "Okay, let me see.",
    "Right, let me think about that.",
    "Absolutely, one moment.",
    "Let me see, yes.",
    "That is fine, let me see.",
    "Good question, it is.",
    "I think so, let me see.",
    "Certainly.",
    "Definitely not.",
    "Yep.",
    "Nope.",
    "Uh-huh.",
    "Let me think about that, but yes.",
    "You can, let me see.",
    "It is okay to take two of these white pills.",
    "Let me say yes.",
    "Affirmative, let me think.",
    "Unfortunately, let me see.",
    "I'm afraid so.",
    "Good news, one moment.",
    # Numbers.
    "About two of these, let me think.",
    "About 2 of these, let me think.",
    "Let me take two moments.",
    "About the twenty euros, let me see.",
    "About half of these, let me see.",
    "Let me think about one hundred.",
    "In 3 minutes, let me see.",
    "About \u0663 pills, let me see.",
    "Let me see about 50%.",
    "Give me two seconds.",
    # Names and subjects that the caller has not said.
    "About Paris, let me see.",
    "For Anna, one moment.",
    "Let me think about the aspirin.",
    "About your cancer, let me think.",
    "For your flight to Berlin, let me see.",
    "Regarding Doctor Miller, one moment.",
    "About your debt, let me think.",
    "For your flight on Monday, let me see.",
    "About your loan, let me think.",
    "Let me think about the overdose.",
    # Promises and acts.
    "I'll take care of that.",
    "I will book it.",
    "Let me book that flight.",
    "Let me transfer that.",
    "Let me send it.",
    "I promise, let me see.",
    "Leave it to me.",
    "Let me cancel your flight.",
    "I'm booking your flight.",
    "Let me do that.",
    "Consider it done.",
    "Let me fix that for you.",
    "I'm on it.",
    "You'll have it in a moment.",
    "Let me call the doctor.",
    # Outcomes of tools, and looking up what nobody looks up.
    "Let me check your account.",
    "I'm checking your flight.",
    "I found it.",
    "Your flight is booked.",
    "Done.",
    "Let me look that up.",
    "I'm looking at your records.",
    "I see your flight.",
    "Searching now.",
    "The database says so.",
    "I have it here, one moment.",
    "It says here.",
    "Let me pull up your file.",
    "Found it, one moment.",
    # Statements made of the caller's own words.
    "About the white pills before two, let me think.",
    "About your okay flight, let me see.",
    "About pills to take, let me see.",
    "About your safe flight, let me see.",
    "About white Friday, let me see.",
    "Let me think about pills before Rome.",
    # Questions, answers and chatter.
    "What would you like?",
    "Which pills?",
    "Let me think?",
    "Take one.",
    "Hello, I am your assistant.",
    "Rome is lovely.",
    "Let me think. Take one with water.",
    "Let me think about that and then about this and then about all of it again.",
    "",
    "...",
    "\U0001f642",
    "<think>",
    "Let me think about that | yes",
    "let me see; no",
    "Let me see\nYes",
    "LET ME SEE, YES",
    "Let me see that it is fine.",
    "One moment, you may.",
    "Bear with me, it is safe.",
    "About that it is fine, let me see.",
]


@pytest.mark.parametrize(("text", "said"), ALLOWED)
def test_an_opening_may_acknowledge_restate_and_announce_work(text: str, said: str) -> None:
    assert objection(text, said=said) is None


@pytest.mark.parametrize("text", BLOCKED)
def test_everything_else_is_blocked(text: str) -> None:
    assert objection(text, said=PILLS)


@pytest.mark.parametrize("text", [text for text in BLOCKED if has_words(text)])
def test_it_stays_blocked_after_an_acknowledgement_and_before_an_announcement(text: str) -> None:
    assert objection(f"Good question. {text}", said=PILLS)
    assert objection(f"{text} Let me think.", said=PILLS)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("was my loan approved", "About your approved loan, let me see."),
        ("was my loan approved", "About your loan approved, let me see."),
        ("is the refund sent", "About the refund sent, let me see."),
        ("can I get a no claims bonus", "About a no claims bonus, let me see."),
        ("did I win", "About your win, I'm thinking it is."),
        ("is five enough", "About five, let me see."),
        ("have they paid me", "About paid, let me see."),
        ("it's not my fault", "About your fault, let me see that it's not."),
    ],
)
def test_the_callers_own_words_cannot_be_made_into_a_claim(said: str, text: str) -> None:
    assert objection(text, said=said)


def test_the_known_openings_are_true_phrases() -> None:
    assert [check_phrase(phrase) for phrase in ENGLISH.openings] == list(ENGLISH.openings)


def test_a_repair_is_open() -> None:
    assert is_repair("Actually, it is Friday.")
    assert not is_repair("It is actually Friday.")
    assert contradicts("For Thursday, let me see.", "On Friday there are two.")
    assert not contradicts("For Thursday, let me see.", "On Thursday and Friday there are two.")
    assert not contradicts("For Thursday, let me see.", "It can be moved to Friday.")
    assert not contradicts("Let me see.", "On Friday there are two.")


@pytest.mark.parametrize(
    ("text", "spoken", "repaired"),
    [
        ("On Friday there are two.", "Actually, on Friday there are two.", "Actually, on Friday there are two."),
        (" I have Friday here.", " Actually, I have Friday here.", "Actually, I have Friday here."),
        ("Actually, on Friday.", "Actually, on Friday.", "Actually, on Friday."),
        ("There are two.", "There are two.", None),
    ],
)
def test_a_silent_contradiction_becomes_an_open_repair(text: str, spoken: str, repaired: str | None) -> None:
    repair = Repair("For Thursday, let me see.")
    assert repair.apply(AnswerTextFrame(text, clauses=(text.strip(),))).text == spoken
    assert repair.words == repaired
    later = AnswerTextFrame(" On Friday.", clauses=("On Friday.",))
    assert repair.apply(later) is later, "only the first words are compared"
