"""The kind of answer that the agent's last sentences ask for."""

import re
from typing import Literal

from voice.language.by_language import PHRASES
from voice.language.english.turns import ENGLISH
from voice.language.turn_words import QuestionPatterns, TurnWords

Asked = Literal["yes_no", "offer", "number", "spelling", "short", "open"]
"""The kind of answer the agent waits for.

- yes_no: yes or no ("Is that right?", "Shall I book it?").
- offer: whether there is anything else; "no" is a whole answer, "yes" only the beginning of one.
- number: digits that are read out ("What is your phone number?").
- spelling: letters ("How do you spell that?").
- short: a name, an amount, a date, a choice: a few words ("For how long?", "What is your name?").
- open: anything ("How can I help?", "What happened?").
"""

_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")


def asked(text: str | None, language: TurnWords = ENGLISH) -> Asked | None:
    """The kind of answer the agent expects after saying `text`; None if it asked nothing.

    One other sentence may follow the question ("What is your number? Take your time.").

    Args:
        text: the agent's last words.
        language: those of the spoken language.
    """
    # It may follow a clause ("29, 30, Shall I go on?"), and both together would read as one sentence.
    if (text or "").rstrip().endswith(PHRASES[language.code].go_on):
        return "yes_no"
    questions = language.questions
    sentences = [sentence.strip() for sentence in _SENTENCE.findall((text or "").lower().replace("’", "'"))]
    for sentence in reversed([sentence for sentence in sentences if sentence][-2:]):
        if kind := _asked(questions.opening.sub("", sentence), questions):
            return kind
    return None


def last_sentence(text: str | None) -> str:
    """The last sentence of a text."""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(text or "")]
    return next((sentence for sentence in reversed(sentences) if sentence), "")


def _asked(sentence: str, questions: QuestionPatterns) -> Asked | None:
    wants, asks = bool(questions.wants.search(sentence)), bool(questions.asks.search(sentence))
    # Without final punctuation, it was interrupted.
    inverted = bool(questions.yes_no.match(sentence)) and not sentence.endswith((".", "!"))
    if not (sentence.endswith("?") or wants or inverted):
        return None
    if questions.offer.search(sentence):
        return "offer"
    closed = inverted or (not asks and bool(questions.states.match(sentence)))
    if questions.tag.search(sentence) or (closed and not wants and not questions.choice.search(sentence)):
        return "yes_no"
    if questions.spelling.search(sentence):
        return "spelling"
    if questions.number.search(sentence):
        return "number"
    return "open" if questions.telling.search(sentence) else "short"
