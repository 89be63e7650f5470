"""Judges the difficulty of a turn from its words alone, in well under a millisecond. Pure.

In this order: a word about health, money or law makes any turn careful; a short reply inherits the class of the agent's
question; an utterance that matches a harmless kind as a whole is easy; an order to act, several steps or numbers make
the rest careful; all others are open. Taking an easy turn for a careful one costs time, and the reverse costs
correctness, so no single word makes a turn easy.
"""

import re
from collections.abc import Iterable, Sequence

from voice.llm.routing import action_requests
from voice.llm.routing.difficulty import Assessment
from voice.llm.routing.patterns import careful_words, checkable_utterances
from voice.llm.routing.plain_words import plain

LONGEST_REPLY = 6
"""The most words of a reply that merely answers the agent's question."""
LONGEST_CHECKABLE = 16
"""The most words of an easy utterance."""
_LEAD = re.compile(
    r"(?:(?:um+|uh+|er+|erm|ah|oh|well|so|and|hey|hi|hello|okay|ok|alright|right|now|just|like|please|quick one"
    r"|(?:could|can|would|will) you(?: please)?|i(?:'d| would) like you to|i want you to|do me a favou?r and) )+(?=\w)"
)
_TAIL = re.compile(
    r"(?: (?:please|thanks|thank you|will you|would you|for me|then|now|right now|um+|uh+|man|dude|buddy))+$"
)
_OPENS_QUESTION = re.compile(r"(?:what|why|how|who|where|when|which|is|are|do|does|can|could|tell|explain|but)\b")


def assess(text: str, *, asked: str | None = None, irreversible: Iterable[str] = ()) -> Assessment:
    """The difficulty of answering `text`.

    Args:
        text: the caller's words, in any recogniser's spelling.
        asked: the agent's preceding words; None at the beginning of a call.
        irreversible: names of the tools whose effects cannot be undone.
    """
    words = plain(text)
    harmless = careful_words().harmless.sub(" ", words)
    tools = tuple(irreversible)
    if found := _of_domain(harmless):
        return found
    if tool := action_requests.named(words, tools):
        return Assessment("tool", tool)
    if asked is not None and len(words.split()) <= LONGEST_REPLY and (found := _answered(words, asked, tools)):
        return found
    return _checkable(words) or _task(harmless) or Assessment("open")


def _of_domain(words: str) -> Assessment | None:
    for difficulty, pattern in careful_words().domains:
        if found := pattern.search(words):
            return Assessment(difficulty, found.group())
    return None


def _answered(words: str, asked: str, tools: Sequence[str]) -> Assessment | None:
    """The difficulty of a short reply, which is that of the question; None if the reply itself asks something."""
    if "?" not in asked or _OPENS_QUESTION.match(words):
        return None
    question = plain(asked)
    about = _of_domain(careful_words().harmless.sub(" ", question))
    if about:
        return Assessment(about.difficulty, about.evidence, asked=True)
    verb = action_requests.named(question, tools) or action_requests.offered(asked)
    return Assessment("tool", verb, asked=True) if verb else Assessment("reply", words, asked=True)


def _checkable(words: str) -> Assessment | None:
    if not words or len(words.split()) > LONGEST_CHECKABLE:
        return None
    bare = _TAIL.sub("", words)
    # With and without the courtesies around it: "okay" is a reply, "okay, what time is it" is not.
    tried = dict.fromkeys((words, bare, _LEAD.sub("", words, count=1), _LEAD.sub("", bare, count=1)))
    for difficulty, pattern in checkable_utterances():
        if any(pattern.fullmatch(one) for one in tried):
            return Assessment(difficulty, words)
    return None


def _task(words: str) -> Assessment | None:
    (steps, of_steps), (numbers, of_numbers) = careful_words().tasks
    if found := of_steps.search(words):
        return Assessment(steps, found.group())
    if verb := action_requests.requested(words):
        return Assessment("tool", verb)
    if found := of_numbers.search(words):
        return Assessment(numbers, found.group())
    return None
