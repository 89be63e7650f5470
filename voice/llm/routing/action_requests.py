"""Requests for actions outside the conversation, which a tool would carry out. English only."""

import re
from collections.abc import Iterable, Iterator

from voice.llm.routing.plain_words import last_sentence, plain

_LOST = (
    r"delet\w+|eras\w+|wip(?:e|ing)|remov(?:e|ing)|cancel(?:l?ing)?|clos(?:e|ing)|unsubscrib\w+|overwrit\w+|format"
    r"|empty(?:ing)?|reset(?:ting)?|withdraw(?:ing)?|terminat\w+|destroy\w*|discard\w*|revok\w+|block|ban"
    r"|clear(?:ing)?|drop|uninstall\w*|end|stop|quit|leave"
)
"""Verbs that remove something."""
_DONE = (
    r"send(?:ing)?|text|e-?mail|message|post|publish\w*|tweet|forward|share|submit|confirm|book|reserve|order|buy"
    r"|purchase|pay|transfer|sign|accept|decline|reject|approve|apply|register|enrol+|subscribe|renew|unlock|open|lock"
    r"|arm|disarm|disable|deactivate|activate|turn off|switch off|change|replace|move|merge|upload|call|phone|dial"
    r"|tell(?! me| us)|invite|hire|fire|schedule|file|donate|install|update"
)
"""Verbs with effects outside the conversation."""
_WISH = re.compile(
    r"^(?:(?:yes|yeah|ok|okay|sure|no|and|then|now|just|also|so|please|hey|hi|hello|well|right|alright|um|uh|could|can"
    r"|would|will|you|we|go ahead and|i(?:'d| would)? (?:want|like|need)(?: you)?(?: to)?|i'm going to|let's|let us"
    r"|help me(?: to)?|do me a favou?r and|try to|actually) )*"
)
_REQUEST = re.compile(rf"(?P<verb>{_LOST}|{_DONE})(?: \w|$)")
_ASKED = re.compile(
    r"\b(?:shall i|should i|do you want me to|would you like me to|may i|can i|am i to|i am about to|i'm about to"
    r"|i will|i'll|i can|let me|ready to|are you sure(?: you want to| about)?|do you really want to|confirm that)\b"
    rf".{{0,80}}?\b(?P<verb>{_LOST}|{_DONE})\b"
)
_OPEN_QUESTION = re.compile(r"(?:and |so |okay |then )*(?:what|which|who|whom|when|where|how)\b")
_LOSS_ASKED = re.compile(rf"\b(?:which|what|who|whom)\b.{{0,80}}\b(?P<verb>{_LOST})\b")
_HARMLESS_OBJECT = re.compile(
    r"\b(?:timers?|alarms?|reminders?|stopwatch|joke|music|song|volume|lights?|playlist|radio|story|wake you|tell you"
    r"|jazz|classical)\b"
)


def requested(text: str) -> str | None:
    """The verb of an order to act ("send an email to Tom"); None if the text is not one."""
    rest = text[_WISH.match(text).end() :]  # type: ignore[union-attr]  # it matches the empty text
    found = _REQUEST.match(rest)
    return found["verb"] if found else None


def offered(asked: str) -> str | None:
    """The verb of the agent's next action after an answer to its words; None if there is none, or a harmless one."""
    question, last = plain(asked), last_sentence(asked)
    if _HARMLESS_OBJECT.search(question):
        return None
    # "What time shall I book it for?" is not the last question before the action; "which one shall I delete?" is.
    found = _LOSS_ASKED.search(last) if _OPEN_QUESTION.match(last) else _ASKED.search(question)
    return found["verb"] if found else None


def named(text: str, tools: Iterable[str]) -> str | None:
    """The tool whose name's words all occur in the text ("close_account": "close my account"); None without one."""
    words = set(text.split())
    return next((tool for tool in tools if (parts := set(_words(tool))) and parts <= words), None)


def _words(tool: str) -> Iterator[str]:
    yield from (part for part in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", tool.strip()) if part)
