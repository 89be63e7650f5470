"""Turns words into answers: as a sentence, and from the responder's point of view."""

import re

_UPPER = re.compile(r"\bi(?='|\b)")
_OTHER_SIDE = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are", "i'm": "you're",
    "i've": "you've", "i'll": "you'll", "i'd": "you'd", "we": "you", "us": "you", "our": "your", "ours": "yours",
    "you": "me", "your": "my", "yours": "mine", "yourself": "myself", "you're": "i'm",
}  # fmt: skip


def sentence(text: str) -> str:
    """The words as one sentence: the first letter and "I" are capitals, and a full stop ends it."""
    text = _UPPER.sub("I", text.strip())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def said_back(words: str) -> str:
    """The user's words repeated from the agent's view: "your car" for "my car", "you were" for "i was"."""
    turned: list[str] = []
    for word in words.split():
        if word == "was" and turned[-1:] == ["you"]:
            turned.append("were")
        elif word in ("are", "were") and turned[-1:] == ["me"]:
            # "you are", said to the responder.
            turned[-1:] = ["I", "am" if word == "are" else "was"]
        elif word == "you" and not turned:
            turned.append("I")
        elif word in ("are", "were") and turned[-1:] == ["I"]:
            turned.append("am" if word == "are" else "was")
        else:
            turned.append(_OTHER_SIDE.get(word, word))
    return " ".join(turned)
