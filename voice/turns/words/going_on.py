"""Whether a caller wants to hear the rest of a long answer. Pure."""

import re
from functools import cache

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import LeadIn, TurnWords, alternatives, words_of
from voice.turns.words.agent_question import Asked
from voice.turns.words.lead_in import lead_in


def means_go_on(text: str, language: TurnWords = ENGLISH) -> bool:
    """Whether `text` says nothing but to go on: "yes", "okay, go on please", but not "yes, and when?" or "no".

    Args:
        text: what the caller says after the question.
        language: the words of the language that is spoken.
    """
    return _going_on(language).fullmatch(words_of(text)) is not None


def answering(text: str, asked: Asked | None, language: TurnWords = ENGLISH) -> LeadIn | None:
    """What kind of lead-in `text` is; after a question for yes or no, "go on" is a yes, too.

    Args:
        text: the caller's words.
        asked: what the agent has asked for; None when it asked nothing.
        language: the words of the language that is spoken.
    """
    kind = lead_in(text, language)
    return "yes" if kind is None and asked == "yes_no" and means_go_on(text, language) else kind


def was_asked(heard: str, question: str) -> bool:
    """Whether the caller heard the question, or its beginning, as the last words of the agent.

    Args:
        heard: what was heard of the agent.
        question: what it asks, as a whole.
    """
    words, asked = words_of(heard).split(), words_of(question).split()
    return any(words[-count:] == asked[:count] for count in range(1, len(asked) + 1))


@cache
def _going_on(language: TurnWords) -> re.Pattern[str]:
    wanted = alternatives((*language.lead_ins["yes"], *language.go_on))
    around = alternatives((*language.lead_ins["joint"], *language.polite))
    return re.compile(rf"(?:(?:{around}) )*(?:{wanted})(?: (?:{wanted}|{alternatives(language.polite)}))*")
