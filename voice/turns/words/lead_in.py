"""Recognises lead-ins: words that are often said alone, and as often before a request ("hello", "okay", "wait")."""

import re
from typing import Literal

LeadIn = Literal["yes", "no", "greeting", "joint"]
"""The kinds of lead-ins: what may answer yes or no, what else may stand alone ("hello", "wait"), and what never does
("so", "um")."""

_YES = (
    "yes", "yeah", "yep", "yup", "sure", "okay", "ok", "right", "correct", "exactly", "absolutely", "definitely",
    "certainly", "fine", "please", "alright", "all right", "of course", "go ahead", "why not", "i do", "i am",
    "i would", "it is", "that is right", "that's right", "that is correct", "that's correct", "sounds good",
)  # fmt: skip
_NO = ("no", "nope", "nah", "no thanks", "no thank you", "not really", "not at all", "i don't", "i'm not", "it isn't")
_GREETINGS = (
    "hello", "hi", "hey", "there", "again", "good morning", "good afternoon", "good evening", "everybody", "everyone",
    "computer", "turnaround", "wait", "hold on", "hang on", "wait a second", "wait a minute", "wait a moment",
    "just a second", "just a minute", "just a moment", "one second", "one moment", "excuse me", "sorry", "i see",
    "great", "good", "perfect", "cool", "nice", "wonderful",
)  # fmt: skip
_JOINTS = (
    "so", "well", "now", "then", "and", "but", "oh", "ah", "um", "uh", "uhm", "erm", "er", "hm", "hmm", "mm",
    "actually", "also", "anyway", "listen", "look", "let me see", "let me think", "one more thing",
)  # fmt: skip
_KINDS: dict[str, LeadIn] = {
    **dict.fromkeys(_GREETINGS, "greeting"),
    **dict.fromkeys(_JOINTS, "joint"),
    **dict.fromkeys(_NO, "no"),
    **dict.fromkeys(_YES, "yes"),
}
_PHRASE = re.compile(r"(?<!\S)(?:" + "|".join(sorted(map(re.escape, _KINDS), key=len, reverse=True)) + r")(?!\S)")
_OPEN_END = re.compile(r"(?:[,;:–—-]|\.\.\.|…)\s*$")


def lead_in(text: str) -> LeadIn | None:
    """What kind of lead-in `text` is, in any recogniser's spelling; None when it says more than a lead-in, or nothing.

    The last phrase decides: "yes" and "okay no" may answer, "yes and" does not. Neither do words after which the
    recogniser wrote a comma, a dash or dots.
    """
    words = " ".join(re.findall(r"[a-z0-9']+", text.lower().replace("’", "'")))
    phrases = _PHRASE.findall(words)
    if not phrases or " ".join(phrases) != words:
        return None
    last = _KINDS[phrases[-1]]
    if last == "joint" or _OPEN_END.search(text):
        return "joint"
    return "no" if last == "yes" and any(_KINDS[phrase] == "no" for phrase in phrases) else last
