"""What the agent has just asked for, by the words of its last sentences."""

import re
from typing import Literal

Asked = Literal["yes_no", "offer", "number", "spelling", "short", "open"]
"""What kind of answer the agent waits for.

- yes_no: yes or no ("Is that right?", "Shall I book it?").
- offer: whether there is anything else; "no" is an answer, and "yes" the beginning of one.
- number: digits that are read out ("What is your phone number?").
- spelling: letters ("How do you spell that?").
- short: a name, an amount, a date, a choice: a few words ("For how long?", "What is your name?").
- open: anything ("How can I help?", "What happened?").
"""

_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_OPENING = re.compile(
    r"^(?:(?:and|so|okay|ok|well|now|great|perfect|thanks|thank you|all right|alright|sorry|sure|yes|no|then|just|"
    r"to confirm|in that case)\b[\s,]*)+"
)
_SPELLING = re.compile(r"\bspell(?:ing|ed)?\b|\bletter by letter\b")
_NUMBER = re.compile(
    r"\b(?:phone|telephone|mobile|cell|account|card|order|reference|confirmation|tracking|serial|customer|member|policy|"
    r"case|ticket|booking|routing|security|insurance|licen[cs]e|passport|invoice|id|contact|callback|this|the|your|what)"
    r" numbers?\b|\b(?:digits?|zip|postcode|pin|passcode)\b|\b(?:postal|area|access|security|verification|"
    r"confirmation|sort) code\b"
)
_VERBS = r"(?:tell me|give me|provide|let me (?:know|have)|say|repeat|read|enter|share|confirm|spell|describe|explain)"
_WANTS = re.compile(
    rf"^(?:please )?(?:go ahead and )?{_VERBS}\b|\bi(?:'ll| will| would|'d)? (?:need|like) |"
    rf"\b(?:can|could|would|will) you (?:please )?{_VERBS}\b|\b(?:may|can|could) i (?:please )?(?:have|get|take|ask)\b"
)
"""Requests for information, whatever their form: "Could you tell me …?" wants more than a yes."""
_TELLING = re.compile(
    r"\b(?:tell me (?:more|about|what|why|how)|describe|explain|what happened|what(?: is|'s) (?:wrong|the (?:problem|"
    r"matter|issue)|going on|up)|what (?:can|could|may) i|what would you like (?:me )?to|what brings you|what do you "
    r"think|why|how (?:can|may|could) i|how are|how was|how did|how do you feel|who am i speaking)\b"
)
_OFFER = re.compile(r"\b(?:anything|something) (?:else|more)\b")
_YES_NO = re.compile(
    r"^(?:do|does|did|is|are|am|was|were|will|would|shall|should|can|could|may|have|has|had|any|ready|"
    r"(?:don't|doesn't|didn't|isn't|aren't|wasn't|won't|wouldn't|shouldn't|can't|haven't|hasn't))\b"
)
_TAG = re.compile(
    r"(?:^|[,–—-]\s*)(?:is that )?(?:right|correct|okay|ok|yes|no|true|isn't it|is it|do you|don't you|shall we)\s*\?$"
)
_STATES = re.compile(r"^(?:you|you're|that|that's|it|it's|this|we|we're|they|there|i|i'm|he|she)\b")
"""Subjects: a question that begins with one and asks for nothing ("You said ten?") wants a yes or a no."""
_CHOICE = re.compile(r"\bor (?!not\b|no\b)")
_ASKS = re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how)\b")


def asked(text: str | None) -> Asked | None:
    """What the agent wants to know after saying `text`; None when it asked nothing.

    A question may be followed by one sentence that asks nothing ("What is your number? Take your time.").
    """
    sentences = [sentence.strip() for sentence in _SENTENCE.findall((text or "").lower().replace("’", "'"))]
    for sentence in reversed([sentence for sentence in sentences if sentence][-2:]):
        if kind := _asked(_OPENING.sub("", sentence)):
            return kind
    return None


def _asked(sentence: str) -> Asked | None:
    wants, asks = bool(_WANTS.search(sentence)), bool(_ASKS.search(sentence))
    # Without a mark at its end, it was interrupted.
    inverted = bool(_YES_NO.match(sentence)) and not sentence.endswith((".", "!"))
    if not (sentence.endswith("?") or wants or inverted):
        return None
    if _OFFER.search(sentence):
        return "offer"
    closed = inverted or (not asks and bool(_STATES.match(sentence)))
    if _TAG.search(sentence) or (closed and not wants and not _CHOICE.search(sentence)):
        return "yes_no"
    if _SPELLING.search(sentence):
        return "spelling"
    if _NUMBER.search(sentence):
        return "number"
    return "open" if _TELLING.search(sentence) else "short"
