"""Short replies: "go on", and lead-ins, said alone or before a request ("hello", "okay", "wait"). Pure."""

import re
from functools import cache

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import LeadIn, TurnWords, alternatives, words_of
from voice.turns.words.agent_question import Asked

_OPEN_END = re.compile(r"(?:[,;:–—-]|\.\.\.|…)\s*$")


def lead_in(text: str, language: TurnWords = ENGLISH) -> LeadIn | None:
    """The kind of lead-in that `text` is, in any recogniser's spelling; None if it is empty or more than a lead-in.

    The last phrase decides: "yes" and "okay no" may answer, "yes and" does not. Words before a final comma, dash or
    dots do not answer either.

    Args:
        text: the words.
        language: those of the spoken language.
    """
    words, (kinds, phrase) = words_of(text), _known(language)
    phrases = phrase.findall(words)
    if not phrases or " ".join(phrases) != words:
        return None
    last = kinds[phrases[-1]]
    if last == "joint" or _OPEN_END.search(text):
        return "joint"
    return "no" if last == "yes" and any(kinds[one] == "no" for one in phrases) else last


@cache
def _known(language: TurnWords) -> tuple[dict[str, LeadIn], re.Pattern[str]]:
    """The kind of each lead-in, and a pattern that finds them."""
    kinds = {phrase: kind for kind, phrases in language.lead_ins.items() for phrase in phrases}
    return kinds, re.compile(rf"(?<!\S)(?:{alternatives(kinds)})(?!\S)")


def means_go_on(text: str, language: TurnWords = ENGLISH) -> bool:
    """Whether `text` only says to go on: "yes", "okay, go on please", but not "yes, and when?" or "no".

    Args:
        text: the caller's words after the question.
        language: the words of the spoken language.
    """
    return _going_on(language).fullmatch(words_of(text)) is not None


def answering(text: str, asked: Asked | None, language: TurnWords = ENGLISH) -> LeadIn | None:
    """The kind of lead-in that `text` is; after a yes-or-no question, "go on" is also a yes.

    Args:
        text: the caller's words.
        asked: the kind of answer the agent asked for; None if it asked nothing.
        language: the words of the spoken language.
    """
    kind = lead_in(text, language)
    return "yes" if kind is None and asked == "yes_no" and means_go_on(text, language) else kind


def was_asked(heard: str, question: str) -> bool:
    """Whether the agent's last audible words were the question or its beginning.

    Args:
        heard: the audible words of the agent.
        question: the whole question.
    """
    words, asked = words_of(heard).split(), words_of(question).split()
    return any(words[-count:] == asked[:count] for count in range(1, len(asked) + 1))


@cache
def _going_on(language: TurnWords) -> re.Pattern[str]:
    wanted = alternatives((*language.lead_ins["yes"], *language.go_on))
    around = alternatives((*language.lead_ins["joint"], *language.polite))
    return re.compile(rf"(?:(?:{around}) )*(?:{wanted})(?: (?:{wanted}|{alternatives(language.polite)}))*")


def is_courtesy(text: str, language: TurnWords = ENGLISH) -> bool:
    """Whether `text` only thanks or says goodbye ("great, thank you"), so that nothing needs to be worked on."""
    words = words_of(text)
    return _courtesy(language).fullmatch(words) is not None and _thanks_or_farewell(language).search(words) is not None


@cache
def _courtesy(language: TurnWords) -> re.Pattern[str]:
    phrase = f"{language.thanks}|{language.farewell}|{language.around_farewell}"
    return re.compile(rf"(?:{phrase})(?: (?:{phrase}))*")


@cache
def _thanks_or_farewell(language: TurnWords) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{language.thanks}|{language.farewell})(?!\S)")
