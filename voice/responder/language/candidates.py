"""Finds the parts of an utterance that may be the request.

A transcript contains courtesies and, from an embedded recogniser, stray words before the request. The templates decide
which of its parts are requests.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Openings that are not part of the request.
_LEAD_INS = (
    "please", "hey", "hi", "hello", "hello there", "hi there", "hey there", "okay", "ok", "so", "well", "and", "now",
    "then", "yes", "yeah", "no", "oh", "all right", "alright", "right", "thanks", "thank you", "actually", "just",
    "also", "sorry", "excuse me", "computer", "turnaround", "turn around", "good morning", "good afternoon",
    "good evening", "can you", "could you", "would you", "will you", "can you tell me", "could you tell me",
    "do you know", "do you happen to know", "tell me", "let me know", "i want to know", "i would like to know",
    "i'd like to know", "i wonder", "i was wondering", "i want you to", "i need you to", "i would like you to",
    "i'd like you to", "can i ask you", "may i ask", "may i ask you", "can i", "could i", "may i", "i want to",
    "i would like to", "i'd like to", "i need to", "let us", "let's", "go ahead and", "help me", "quick question",
    "one more question", "one more thing", "okay then",
)  # fmt: skip
_LEAD_IN = re.compile(r"(?<!\S)(?:" + "|".join(sorted(_LEAD_INS, key=len, reverse=True)) + r") ")
_COURTESY = re.compile(r"(?:(?:please|thanks|thank you|thank you very much|for me|right now|if you can|would you) )+$")
_STRAY_END = re.compile(r"(?<!\S)(?:the|a|an|and|oh|huh|it|he|of|but) $")
_REASON = re.compile(r"(?<= )(?:because|since|so that|so i|while i|before i|until i|when i|for my|for the) .*$")
# After one of these words, a request is only mentioned, asked about or forbidden.
_REPORTING = frozenset((
    "not", "don't", "dont", "do", "did", "does", "didn't", "doesn't", "never", "won't", "can't", "cannot", "no", "why",
    "who", "whom", "whose", "how", "when", "where", "which", "can", "could", "would", "should", "will", "if",
    "because", "unless", "until", "before", "after", "said", "says", "say", "told", "asked", "to", "remember",
    "repeat",
))  # fmt: skip
MOST_WORDS = 40
"""The most words of a request: twenty seconds of speech. A longer message is not a request."""
MOST_STRAY_WORDS_BEFORE = 4
"""Most stray words that are tolerated before a request."""
MOST_STRAY_WORDS_AFTER = 2
"""Most stray words that are tolerated after a request."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A part of an utterance that may be the request.

    Parameters:
        text: its words, each followed by one space.
        stray: words other than courtesies were left out, so only an unmistakable request may match.
        stray_end: words after it were left out (noise or a reason), so more may follow.
    """

    text: str
    stray: bool
    stray_end: bool


def candidates(text: str) -> Iterator[Candidate]:
    """The parts of normalised `text` that may be the request, the least doubtful first."""
    if not text or text.count(" ") > MOST_WORDS:
        return
    ends = list(dict.fromkeys([_COURTESY.sub("", text), text]))
    starts = list(_starts(text))
    for start, stray in starts:
        for end in ends:
            if len(end) > start:
                yield Candidate(end[start:], stray, False)
    for end in _shortened(ends[0]):
        for start, _ in starts:
            if start < len(end):
                yield Candidate(end[start:], True, True)


def _shortened(text: str) -> Iterator[str]:
    """The text without stray words, or without a reason, at its end."""
    shorter = text
    for _ in range(MOST_STRAY_WORDS_AFTER):
        shorter, longer = _STRAY_END.sub("", shorter), shorter
        if shorter != longer:
            yield shorter
    reason = _REASON.search(text)
    if reason:
        yield text[: reason.start()]


def _starts(text: str) -> Iterator[tuple[int, bool]]:
    """Offsets at which a request may begin, and whether stray words precede it; those without come first."""
    strays: list[int] = []
    for found in re.finditer(r"\S+ ", text):
        prefix = text[: found.start()]
        left_out = _LEAD_IN.sub("", prefix).split()
        if not left_out:
            yield found.start(), False
        elif len(left_out) <= MOST_STRAY_WORDS_BEFORE and _REPORTING.isdisjoint(left_out):
            strays.append(found.start())
    for start in strays:
        yield start, True
